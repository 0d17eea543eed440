import { errorCode } from "../../errors/error-code.ts";
import { JsonRpcFailure, type JsonRpcResponseError } from "../json-rpc-client.ts";

/** A deposit chain node is unusable. The message is a clause whose subject is the node. */
export class EndpointError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "EndpointError";
  }
}

/** A response timed out or was too large. A smaller range may succeed. */
export class RangeTooLargeError extends EndpointError {
  constructor(message: string, cause?: unknown) {
    super(message, cause);
    this.name = "RangeTooLargeError";
  }
}

/** Describes a failure. All failures of an unreachable node have the same text, so they are logged only once. */
export function describeFailure(error: JsonRpcFailure | JsonRpcResponseError): string {
  if (error instanceof JsonRpcFailure && error.kind === "unreachable") return `is unreachable (${codeOf(error)})`;
  return `is unusable (${error.message.replace(/\.$/, "")})`;
}

function codeOf({ cause, message }: Error): string {
  return String(errorCode(cause) ?? message);
}
