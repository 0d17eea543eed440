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
