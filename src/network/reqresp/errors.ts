import { ResponseCode } from "./protocols.ts";

// What a peer did: it broke the protocol, was too slow, or is gone. These are thrown where a stream is read and written.

/** The other end did not keep to the protocol. */
export class ProtocolViolation extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtocolViolation";
  }
}

/** The other end stopped before everything was said. */
export class EarlyEnd extends ProtocolViolation {
  constructor() {
    super("The stream ended in the middle of a message.");
    this.name = "EarlyEnd";
  }
}

/** The other end did not send or take data in time. */
export class StreamTimeout extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StreamTimeout";
  }
}

/** The stream was reset, by either end, or its connection is gone. */
export class StreamFailure extends Error {
  constructor(cause?: unknown) {
    super("The stream was reset.", { cause });
    this.name = "StreamFailure";
  }
}

// What a request of ours comes to.

/**
 * `refused`: the peer answered with an error code. `malformed`: it did not keep to the protocol. `timeout`: it was too slow.
 * `disconnected`: the connection is gone or could not be used. `unsupported`: it does not speak the protocol.
 */
type RequestFailure = "refused" | "malformed" | "timeout" | "disconnected" | "unsupported";

/** Why a request to a peer brought no whole response. */
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

// What a request of a peer is answered with.

/** A request that is answered with an error. The message is for the peer to read. */
export class ErrorResponse extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "ErrorResponse";
    this.code = code;
  }
}

/** What was asked for is not there, although by the protocol it should be. */
export class ResourceUnavailable extends ErrorResponse {
  constructor(message: string) {
    super(ResponseCode.RESOURCE_UNAVAILABLE, message);
    this.name = "ResourceUnavailable";
  }
}

/** The peer asks more often than it should. */
export class RateLimited extends ErrorResponse {
  constructor(message: string) {
    super(ResponseCode.RESOURCE_UNAVAILABLE, message);
    this.name = "RateLimited";
  }
}
