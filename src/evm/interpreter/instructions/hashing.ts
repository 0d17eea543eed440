import { KECCAK_GAS, KECCAK_WORD_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { setBytes, toNumber, WORD_BYTES } from "../words/word.ts";

export const HASHING: Instructions = [
  {
    opcode: 0x20,
    name: "KECCAK256",
    gas: KECCAK_GAS,
    pops: 2,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const { memory } = frame;
      const offset = toNumber(frame.pop());
      const length = toNumber(frame.pop());
      frame.charge(KECCAK_WORD_GAS * Math.ceil(length / WORD_BYTES));
      frame.expandMemory(offset, length);
      const hash = frame.environment.host.keccak(memory.bytes.subarray(offset, offset + length));
      setBytes(frame.push(), hash);
    },
  },
];
