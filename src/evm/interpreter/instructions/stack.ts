import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import { BASE_GAS, VERY_LOW_GAS } from "../gas.ts";
import type { Instruction, Instructions } from "../instruction.ts";
import { copy, setFromView, setZero } from "../words/word.ts";

const PUSH0 = 0x5f;
const DUP1 = 0x80;
const SWAP1 = 0x90;
const LARGEST_PUSH = 32;
const DEEPEST = 16;
const { INVALID_OPCODE, STACK_UNDERFLOW } = EVMError.errorMessages;

function push(size: number): Instruction {
  return {
    opcode: PUSH0 + size,
    name: `PUSH${size}`,
    gas: VERY_LOW_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setFromView(frame.push(), frame.code.view, frame.position, size);
      frame.position += size;
    },
  };
}

function duplicate(depth: number): Instruction {
  return {
    opcode: DUP1 + depth - 1,
    name: `DUP${depth}`,
    gas: VERY_LOW_GAS,
    pops: depth,
    pushes: depth + 1,
    run: (frame) => {
      const duplicated = frame.stack[frame.height - depth]!;
      copy(duplicated, frame.push());
    },
  };
}

function swap(depth: number): Instruction {
  return {
    opcode: SWAP1 + depth - 1,
    name: `SWAP${depth}`,
    gas: VERY_LOW_GAS,
    pops: depth + 1,
    pushes: depth + 1,
    run: (frame) => {
      const { stack } = frame;
      const top = frame.height - 1;
      const word = stack[top]!;
      stack[top] = stack[top - depth]!;
      stack[top - depth] = word;
    },
  };
}

/** Creates one instruction for each number, starting at 1. */
function series(count: number, create: (number: number) => Instruction): Instructions {
  return Array.from({ length: count }, (_, index) => create(index + 1));
}

export const STACK: Instructions = [
  {
    opcode: 0x50,
    name: "POP",
    gas: BASE_GAS,
    pops: 1,
    pushes: 0,
    run: (frame) => {
      frame.pop();
    },
  },
  ...series(LARGEST_PUSH, push),
  ...series(DEEPEST, duplicate),
  ...series(DEEPEST, swap),
];

/** EIP-3855. */
export const PUSH_ZERO: Instructions = [
  {
    opcode: PUSH0,
    name: "PUSH0",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setZero(frame.push());
    },
  },
];

/** EIP-8024: the depth is encoded in the byte after the opcode, which is never a JUMPDEST or PUSH. */
export const DEEP_STACK: Instructions = [
  {
    opcode: 0xe6,
    name: "DUPN",
    gas: VERY_LOW_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      const depth = decodeDepth(takeImmediate(frame));
      requireHeight(frame, depth);
      const duplicated = frame.stack[frame.height - depth]!;
      copy(duplicated, frame.push());
    },
  },
  {
    opcode: 0xe7,
    name: "SWAPN",
    gas: VERY_LOW_GAS,
    pops: 0,
    pushes: 0,
    run: (frame) => {
      exchange(frame, 0, decodeDepth(takeImmediate(frame)));
    },
  },
  {
    opcode: 0xe8,
    name: "EXCHANGE",
    gas: VERY_LOW_GAS,
    pops: 0,
    pushes: 0,
    run: (frame) => {
      exchange(frame, ...decodeDepths(takeImmediate(frame)));
    },
  },
];

/** Reads the byte after the opcode. Past the end of the code, it is zero. */
function takeImmediate(frame: Frame): number {
  return frame.code.bytes[frame.position++]!;
}

function decodeDepth(immediate: number): number {
  if (immediate > 0x5a && immediate < 0x80) throw new EVMError(INVALID_OPCODE);
  return (immediate + 145) % 256;
}

function decodeDepths(immediate: number): [one: number, other: number] {
  if (immediate > 0x51 && immediate < 0x80) throw new EVMError(INVALID_OPCODE);
  const code = immediate ^ 0x8f;
  const high = code >> 4;
  const low = code & 0x0f;
  return high < low ? [high + 1, low + 1] : [low + 1, 29 - high];
}

/** Exchanges the words at two distances from the top. */
function exchange(frame: Frame, one: number, other: number): void {
  requireHeight(frame, Math.max(one, other) + 1);
  const { stack, height } = frame;
  const word = stack[height - 1 - one]!;
  stack[height - 1 - one] = stack[height - 1 - other]!;
  stack[height - 1 - other] = word;
}

function requireHeight({ height }: Frame, wanted: number): void {
  if (height < wanted) throw new EVMError(STACK_UNDERFLOW);
}
