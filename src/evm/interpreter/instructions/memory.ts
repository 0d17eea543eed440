import { BASE_GAS, COPY_WORD_GAS, VERY_LOW_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { load, setNumber, store, toNumber, WORD_BYTES } from "../words/word.ts";

export const MEMORY: Instructions = [
  {
    opcode: 0x51,
    name: "MLOAD",
    gas: VERY_LOW_GAS,
    pops: 1,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const { memory } = frame;
      const word = frame.peek();
      const offset = toNumber(word);
      frame.expandMemory(offset, WORD_BYTES);
      load(word, memory.view, offset);
    },
  },
  {
    opcode: 0x52,
    name: "MSTORE",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      const { memory } = frame;
      const offset = toNumber(frame.pop());
      frame.expandMemory(offset, WORD_BYTES);
      store(frame.pop(), memory.view, offset);
    },
  },
  {
    opcode: 0x53,
    name: "MSTORE8",
    gas: VERY_LOW_GAS,
    pops: 2,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      const { memory } = frame;
      const offset = toNumber(frame.pop());
      frame.expandMemory(offset, 1);
      memory.bytes[offset] = frame.pop().l0;
    },
  },
  {
    opcode: 0x59,
    name: "MSIZE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setNumber(frame.push(), frame.memory.size);
    },
  },
];

/** EIP-5656. */
export const MEMORY_COPY: Instructions = [
  {
    opcode: 0x5e,
    name: "MCOPY",
    gas: VERY_LOW_GAS,
    pops: 3,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      const { memory } = frame;
      const target = toNumber(frame.pop());
      const source = toNumber(frame.pop());
      const length = toNumber(frame.pop());
      frame.charge(COPY_WORD_GAS * Math.ceil(length / WORD_BYTES));
      frame.expandMemory(Math.max(target, source), length);
      if (length > 0) memory.bytes.copyWithin(target, source, source + length);
    },
  },
];
