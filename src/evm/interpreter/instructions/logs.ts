import type { Frame } from "../frame.ts";
import { LOG_BYTE_GAS, LOG_GAS, LOG_TOPIC_GAS } from "../gas.ts";
import type { Instruction, Instructions } from "../instruction.ts";
import { toBytes, toNumber } from "../words/word.ts";

const LOG0 = 0xa0;

export const LOGS: Instructions = [0, 1, 2, 3, 4].map(logging);

function logging(topics: number): Instruction {
  return {
    opcode: LOG0 + topics,
    name: `LOG${topics}`,
    gas: LOG_GAS + topics * LOG_TOPIC_GAS,
    pops: 2 + topics,
    pushes: 0,
    hasDynamicGas: true,
    isWriting: true,
    run: (frame) => {
      log(frame, topics);
    },
  };
}

function log(frame: Frame, topicCount: number): void {
  const { memory, address } = frame;
  const offset = toNumber(frame.pop());
  const length = toNumber(frame.pop());
  frame.charge(LOG_BYTE_GAS * length);
  frame.expandMemory(offset, length);
  const topics = Array.from({ length: topicCount }, () => toBytes(frame.pop()));
  frame.logs.push([address.bytes, topics, memory.slice(offset, length)]);
}
