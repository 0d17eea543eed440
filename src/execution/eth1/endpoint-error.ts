import { JsonRpcFailure, type JsonRpcRefusal } from "../json-rpc-client.ts";

/** A node of the deposit chain cannot be used. The message is a clause about the node. */
export class EndpointError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "EndpointError";
  }
}

/** An answer took too long or was too large, so that less may be asked for instead. */
export class TooMuchError extends EndpointError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = "TooMuchError";
  }
}

/** Whatever was asked, a node that is not there is said to be away in the same words, and so only once. */
export function unusableBecause(error: JsonRpcFailure | JsonRpcRefusal): string {
  if (error instanceof JsonRpcFailure && error.kind === "unreachable") return `cannot be reached (${codeOf(error)})`;
  return `cannot be used (${error.message.replace(/\.$/, "")})`;
}

function codeOf({ cause, message }: Error): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : message;
}
