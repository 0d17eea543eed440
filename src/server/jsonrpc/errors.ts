import { Failure, type FailureKind, type ItemFailure } from "../../errors.ts";

/** The `error` member of a response (JSON-RPC 2.0, section 5.1). */
export interface ErrorObject {
  code: number;
  message: string;
  data: {
    /** The HTTP status with which the REST twin of the method would answer. */
    status: number;
    detail?: string;
    failures?: ItemFailure[];
  };
}

/** -32001 … -32005 have the meanings of EIP-1474, which Ethereum tooling already knows. */
const CODES: Record<FailureKind, { code: number; status: number }> = {
  "invalid-params": { code: -32602, status: 400 },
  server: { code: -32000, status: 500 },
  "not-found": { code: -32001, status: 404 },
  unavailable: { code: -32002, status: 503 },
  rejected: { code: -32003, status: 400 },
  unsupported: { code: -32004, status: 501 },
  "limit-exceeded": { code: -32005, status: 413 },
};

/** Names longer than this are cut in messages and are not worth a search for a similar one. */
const LONGEST_QUOTED_NAME = 100;

export function parseError(detail: string): ErrorObject {
  return { code: -32700, message: "The request is not valid JSON.", data: { status: 400, detail } };
}

export function invalidRequest(message: string): ErrorObject {
  return { code: -32600, message, data: { status: 400 } };
}

export function methodNotFound(name: string, suggest?: (name: string) => string | undefined): ErrorObject {
  const isLong = name.length > LONGEST_QUOTED_NAME;
  const quoted = JSON.stringify(isLong ? `${name.slice(0, LONGEST_QUOTED_NAME)}…` : name);
  const similar = isLong ? undefined : suggest?.(name);
  const hint = similar === undefined ? "" : ` Did you mean "${similar}"?`;
  return { code: -32601, message: `The method ${quoted} does not exist.${hint}`, data: { status: 404 } };
}

/** Whatever is not a `Failure` is a defect of the node, of which the caller learns nothing but that it happened. */
export function thrownError(thrown: unknown): ErrorObject {
  if (!(thrown instanceof Failure)) {
    return { code: -32603, message: "Internal error", data: { status: 500 } };
  }
  const { message, detail, failures } = thrown;
  const { code, status } = CODES[thrown.kind];
  // Members that are undefined do not appear in the encoded object.
  return { code, message, data: { status, detail, failures } };
}
