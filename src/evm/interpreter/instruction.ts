import type { Frame } from "./frame.ts";

/** One opcode. The interpreter charges the gas and checks the stack before it runs. */
export interface Instruction {
  readonly opcode: number;
  readonly name: string;
  readonly gas: number;
  /** Words that it takes from the stack. */
  readonly pops: number;
  /** Words that it puts onto the stack. */
  readonly pushes: number;
  /** Further gas depends on the operands. */
  readonly hasDynamicGas?: boolean;
  /** A static call must not run it. */
  readonly isWriting?: boolean;
  /** Returns a promise if the interpreter has to wait. Throws an `EVMError` to end the message. */
  readonly run: Run;
}

export type Run = (frame: Frame) => Promise<void> | undefined;

export type Instructions = readonly Instruction[];
