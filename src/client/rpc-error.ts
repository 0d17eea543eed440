/** Details of an error response. */
export interface RpcErrorData {
  /** HTTP status returned by the REST API for the same error. */
  readonly status: number;
  readonly detail?: string;
  /** Rejected items in a submitted list. */
  readonly failures?: readonly { readonly index: number; readonly message: string }[];
}

/** Kind of an error response. Codes from other servers and from the EVM are "other". */
export type RpcErrorKind =
  | "parse-error"
  | "invalid-request"
  | "method-not-found"
  | "invalid-params"
  | "internal"
  | "server"
  | "not-found"
  | "unavailable"
  | "rejected"
  | "unsupported"
  | "limit-exceeded"
  | "overloaded"
  | "other";

const KINDS: Readonly<Record<number, RpcErrorKind>> = {
  [-32700]: "parse-error",
  [-32600]: "invalid-request",
  [-32601]: "method-not-found",
  [-32602]: "invalid-params",
  [-32603]: "internal",
  [-32000]: "server",
  [-32001]: "not-found",
  [-32002]: "unavailable",
  [-32003]: "rejected",
  [-32004]: "unsupported",
  [-32005]: "limit-exceeded",
};

/** Status of an overloaded node, which shares its code with exceeded limits. */
const SERVICE_UNAVAILABLE = 503;

/** Error response from the node. The message says what is wrong and how to fix it. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly kind: RpcErrorKind;
  /** Undefined if another server responded. */
  readonly data: RpcErrorData | undefined;

  constructor({ code, message, data }: { code: number; message: string; data?: RpcErrorData | undefined }) {
    super(message);
    this.code = code;
    this.kind = kindOf(code, data);
    this.data = data;
  }
}

function kindOf(code: number, data: RpcErrorData | undefined): RpcErrorKind {
  const kind = KINDS[code] ?? "other";
  return kind === "limit-exceeded" && data?.status === SERVICE_UNAVAILABLE ? "overloaded" : kind;
}
