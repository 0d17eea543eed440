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
