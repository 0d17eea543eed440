type ForkChoiceErrorCode =
  | "unknown-block"
  | "unknown-parent"
  | "future-slot"
  | "not-after-finalized-slot"
  | "not-descendant-of-finalized"
  | "invalid-payload"
  | "parent-payload-unknown"
  | "contradicting-payload-status"
  | "justified-block-unknown"
  | "justified-payload-invalid";

/** Thrown if fork choice rejects a call. The call leaves fork choice unchanged. */
export class ForkChoiceError extends Error {
  readonly code: ForkChoiceErrorCode;

  constructor(code: ForkChoiceErrorCode, message: string) {
    super(message);
    this.name = "ForkChoiceError";
    this.code = code;
  }
}
