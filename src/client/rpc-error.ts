/** Details of an error response. */
export interface RpcErrorData {
  /** HTTP status that the REST API returns for the same error. */
  readonly status: number;
  readonly detail?: string;
  /** Rejected items of a submitted list. */
  readonly failures?: readonly { readonly index: number; readonly message: string }[];
}

/** Error response of the node. The message says what is wrong and how to fix it. */
export class RpcError extends Error {
  readonly code: number;
  /** Undefined if another server responded. */
  readonly data: RpcErrorData | undefined;

  constructor({ code, message, data }: { code: number; message: string; data?: RpcErrorData | undefined }) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}
