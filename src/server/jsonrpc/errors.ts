import { Failure, type FailureKind, type ItemFailure } from "../../errors/failure.ts";
import { reportThrown } from "../http/refusal.ts";

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
const CODES: Record<FailureKind, number> = {
  "invalid-params": -32602,
  server: -32000,
  "not-found": -32001,
  unavailable: -32002,
  rejected: -32003,
  unsupported: -32004,
  "limit-exceeded": -32005,
  overloaded: -32005,
};

const INTERNAL_ERROR = -32603;

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

/** The method exists, but not on this server, or not for this caller. */
export function methodNotServed(message: string): ErrorObject {
  return { code: CODES.unsupported, message, data: { status: 403 } };
}

export function thrownError(thrown: unknown): ErrorObject {
  const code = thrown instanceof Failure ? CODES[thrown.kind] : INTERNAL_ERROR;
  const { status, message, detail, failures } = reportThrown(thrown);
  // Members that are undefined do not appear in the encoded object.
  return { code, message, data: { status, detail, failures } };
}
