import { power } from "../../execution/exponentiation.ts";
import { EXP_BYTE_GAS, EXP_GAS, LOW_GAS, MID_GAS, VERY_LOW_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { add, multiply, subtract } from "../words/arithmetic.ts";
import { signExtend } from "../words/bits.ts";
import { addModulo, divide, divideSigned, multiplyModulo, remainder, remainderSigned } from "../words/division.ts";
import { setBigInt, significantBytes, toBigInt } from "../words/word.ts";

export const ARITHMETIC: Instructions = [
  {
    opcode: 0x01,
    name: "ADD",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      add(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x02,
    name: "MUL",
    gas: LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      multiply(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x03,
    name: "SUB",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      subtract(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x04,
    name: "DIV",
    gas: LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      divide(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x05,
    name: "SDIV",
    gas: LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      divideSigned(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x06,
    name: "MOD",
    gas: LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      remainder(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x07,
    name: "SMOD",
    gas: LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      remainderSigned(frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x08,
    name: "ADDMOD",
    gas: MID_GAS,
    pops: 3,
    pushes: 1,
    run: (frame) => {
      addModulo(frame.pop(), frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x09,
    name: "MULMOD",
    gas: MID_GAS,
    pops: 3,
    pushes: 1,
    run: (frame) => {
      multiplyModulo(frame.pop(), frame.pop(), frame.peek());
    },
  },
  {
    opcode: 0x0a,
    name: "EXP",
    gas: EXP_GAS,
    pops: 2,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const base = frame.pop();
      const exponent = frame.peek();
      frame.charge(EXP_BYTE_GAS * significantBytes(exponent));
      setBigInt(exponent, power(toBigInt(base), toBigInt(exponent)));
    },
  },
  {
    opcode: 0x0b,
    name: "SIGNEXTEND",
    gas: LOW_GAS,
    pops: 2,
    pushes: 1,
    run: (frame) => {
      signExtend(frame.pop(), frame.peek());
    },
  },
];
