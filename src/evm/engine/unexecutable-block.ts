/** Thrown if the EVM rejects a stored block on re-execution. Blocks after it cannot be executed either. */
export class UnexecutableBlockError extends Error {
  readonly slot: number;
  readonly number: number;
  readonly hash: string;

  constructor({ slot, number, hash }: { slot: number; number: number; hash: string }, reason: string) {
    super(`The execution block ${number} of slot ${slot} (${hash}) cannot be executed again: ${reason}`);
    this.name = "UnexecutableBlockError";
    this.slot = slot;
    this.number = number;
    this.hash = hash;
  }
}
