import { BASE_GAS, VERY_LOW_GAS } from "../gas.ts";
import type { Instruction, Instructions } from "../instruction.ts";
import { copy, setFromView, setZero } from "../words/word.ts";

const PUSH0 = 0x5f;
const DUP1 = 0x80;
const SWAP1 = 0x90;
const LARGEST_PUSH = 32;
const DEEPEST = 16;

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
