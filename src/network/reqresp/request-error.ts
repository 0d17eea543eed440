/**
 * `refused`: the peer answered with an error code. `malformed`: it did not keep to the protocol. `timeout`: it was too slow.
 * `disconnected`: the connection is gone or could not be used. `unsupported`: it does not speak the protocol.
 */
export type RequestFailure = "refused" | "malformed" | "timeout" | "disconnected" | "unsupported";

/** Why a request to a peer brought no whole answer. */
export class RequestError extends Error {
  readonly failure: RequestFailure;
  /** The response code of a refusal (phase0/p2p-interface.md, Responding side). */
  readonly code: number | undefined;

  constructor(failure: RequestFailure, message: string, { code, cause }: { code?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RequestError";
    this.failure = failure;
    this.code = code;
  }
}
