import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "./frame.ts";
import type { InstructionSet } from "./instruction-set.ts";

const { INVALID_OPCODE, OUT_OF_GAS, STACK_OVERFLOW, STACK_UNDERFLOW } = EVMError.errorMessages;

/** Runs a message to the end. Throws an `EVMError` if the message fails or reverts. */
export async function interpret(frame: Frame, instructions: InstructionSet): Promise<void> {
  let pending = interpretUntilPending(frame, instructions);
  while (pending !== undefined) {
    await pending;
    pending = interpretUntilPending(frame, instructions);
  }
}

/** Runs until the message ends or has to wait for a promise. */
function interpretUntilPending(frame: Frame, instructions: InstructionSet): Promise<void> | undefined {
  const { gas, lowest, highest, run } = instructions;
  const code = frame.code.bytes;
  while (frame.isRunning) {
    const opcode = code[frame.position]!;
    const { height } = frame;
    const left = frame.gas - gas[opcode]!;
    if (left < 0 || height < lowest[opcode]! || height > highest[opcode]!) throw failureOf(frame, instructions, opcode);
    frame.gas = left;
    frame.position++;
    const pending = run[opcode]!(frame);
    if (pending !== undefined) return pending;
  }
  return undefined;
}

/** Returns the reason why an instruction cannot run. The checks are made in the same order as in the EVM library. */
function failureOf({ gas, height }: Frame, instructions: InstructionSet, opcode: number): EVMError {
  const instruction = instructions.of(opcode);
  if (instruction === undefined) return new EVMError(INVALID_OPCODE);
  const stackError = height < instructions.lowest[opcode]! ? STACK_UNDERFLOW : STACK_OVERFLOW;
  const isStackWrong = height < instructions.lowest[opcode]! || height > instructions.highest[opcode]!;
  if (isStackWrong && instruction.hasDynamicGas) return new EVMError(stackError);
  return new EVMError(gas < instruction.gas ? OUT_OF_GAS : stackError);
}
