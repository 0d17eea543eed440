import type { Frame } from "./frame.ts";

/** A single opcode. The interpreter charges the gas and checks the stack before running it. */
export interface Instruction {
  readonly opcode: number;
  readonly name: string;
  readonly gas: number;
  /** Number of words taken from the stack. */
  readonly pops: number;
  /** Number of words pushed onto the stack. */
  readonly pushes: number;
  /** True if additional gas depends on the operands. */
  readonly hasDynamicGas?: boolean;
  /** True if static calls must not run the instruction. */
  readonly isWriting?: boolean;
  /** Returns a promise if the interpreter has to wait. Throws an `EVMError` to end the message. */
  readonly run: Run;
}

export type Run = (frame: Frame) => Promise<void> | undefined;

export type Instructions = readonly Instruction[];
