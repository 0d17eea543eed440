import { VERY_LOW_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { areEqual, isLess, isLessSigned } from "../words/comparison.ts";
import { isZero, setBoolean } from "../words/word.ts";

export const COMPARISON: Instructions = [
  {
    opcode: 0x10,
    name: "LT",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      const a = frame.pop();
      const b = frame.peek();
      setBoolean(b, isLess(a, b));
    },
  },
  {
    opcode: 0x11,
    name: "GT",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      const a = frame.pop();
      const b = frame.peek();
      setBoolean(b, isLess(b, a));
    },
  },
  {
    opcode: 0x12,
    name: "SLT",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      const a = frame.pop();
      const b = frame.peek();
      setBoolean(b, isLessSigned(a, b));
    },
  },
  {
    opcode: 0x13,
    name: "SGT",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      const a = frame.pop();
      const b = frame.peek();
      setBoolean(b, isLessSigned(b, a));
    },
  },
  {
    opcode: 0x14,
    name: "EQ",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      const a = frame.pop();
      const b = frame.peek();
      setBoolean(b, areEqual(a, b));
    },
  },
  {
    opcode: 0x15,
    name: "ISZERO",
    gas: VERY_LOW_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      const a = frame.peek();
      setBoolean(a, isZero(a));
    },
  },
];
