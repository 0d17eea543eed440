import { ResponseCode } from "./protocols.ts";

// Failures of the remote peer, thrown by the stream reader and writer.

/** The peer violated the protocol. */
export class ProtocolViolation extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtocolViolation";
  }
}

/** The peer closed the stream before a message was complete. */
export class UnexpectedEnd extends ProtocolViolation {
  constructor() {
    super("The stream ended within a message.");
    this.name = "UnexpectedEnd";
  }
}

/** The peer did not send or read data in time. */
export class StreamTimeout extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StreamTimeout";
  }
}

/** The stream was reset by either side, or the connection was closed. */
export class StreamReset extends Error {
  constructor(cause?: unknown) {
    super("The stream was reset.", { cause });
    this.name = "StreamReset";
  }
}

// Outcomes of outbound requests.

/**
 * `refused`: the peer responded with an error code. `malformed`: the peer violated the protocol. `timeout`: the peer
 * was too slow. `disconnected`: the connection was closed or unusable. `unsupported`: the peer does not support the
 * protocol.
 */
type RequestFailure = "refused" | "malformed" | "timeout" | "disconnected" | "unsupported";

/** An outbound request failed. */
export class RequestError extends Error {
  readonly failure: RequestFailure;
  /** Response code if the peer refused the request (phase0/p2p-interface.md, Responding side). */
  readonly code: number | undefined;

  constructor(failure: RequestFailure, message: string, { code, cause }: { code?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RequestError";
    this.failure = failure;
    this.code = code;
  }
}

// Error responses to inbound requests.

/** An error response, whose message is sent to the peer. */
export class ErrorResponse extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "ErrorResponse";
    this.code = code;
  }
}

/** This node lacks data that the protocol requires it to have. */
export class ResourceUnavailable extends ErrorResponse {
  constructor(message: string) {
    super(ResponseCode.RESOURCE_UNAVAILABLE, message);
    this.name = "ResourceUnavailable";
  }
}

/** The peer exceeded its rate limit. */
export class RateLimited extends ErrorResponse {
  constructor(message: string) {
    super(ResponseCode.RESOURCE_UNAVAILABLE, message);
    this.name = "RateLimited";
  }
}
