/** A request that is answered with an error. The message is for the peer to read. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }
}
