import { LOW_GAS, VERY_LOW_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import {
  and,
  countLeadingZeros,
  invert,
  or,
  selectByte,
  shiftLeft,
  shiftRight,
  shiftRightSigned,
  xor,
} from "../words/bits.ts";

export const BITS: Instructions = [
  {
    opcode: 0x16,
    name: "AND",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      and(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x17,
    name: "OR",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      or(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x18,
    name: "XOR",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      xor(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x19,
    name: "NOT",
    gas: VERY_LOW_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      invert(frame.peek());
    },
  },
  {
    opcode: 0x1a,
    name: "BYTE",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      selectByte(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x1b,
    name: "SHL",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      shiftLeft(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x1c,
    name: "SHR",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      shiftRight(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x1d,
    name: "SAR",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      shiftRightSigned(frame.pop(), frame.peek());
    },
  },
];

/** EIP-7939. */
export const COUNT_LEADING_ZEROS: Instructions = [
  {
    opcode: 0x1e,
    name: "CLZ",
    gas: LOW_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      countLeadingZeros(frame.peek());
    },
  },
];
