import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import { BASE_GAS, HIGH_GAS, JUMPDEST_GAS, MID_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { isZero, setNumber, toNumber, type Word } from "../words/word.ts";

const { INVALID_JUMP, REVERT } = EVMError.errorMessages;

export const CONTROL: Instructions = [
  {
    opcode: 0x00,
    name: "STOP",
    gas: 0,
    pops: 0,
    pushes: 0,
    run: (frame) => {
      frame.stop();
    },
  },
  {
    opcode: 0x56,
    name: "JUMP",
    gas: MID_GAS,
    pops: 1,
    pushes: 0,
    run: (frame) => {
      jump(frame, frame.pop());
    },
  },
  {
    opcode: 0x57,
    name: "JUMPI",
    gas: HIGH_GAS,
    pops: 2,
    pushes: 0,
    run: (frame) => {
      const destination = frame.pop();
      const condition = frame.pop();
      if (!isZero(condition)) jump(frame, destination);
    },
  },
  {
    opcode: 0x58,
    name: "PC",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setNumber(frame.push(), frame.position - 1);
    },
  },
  {
    opcode: 0x5a,
    name: "GAS",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setNumber(frame.push(), frame.gas);
    },
  },
  {
    opcode: 0x5b,
    name: "JUMPDEST",
    gas: JUMPDEST_GAS,
    pops: 0,
    pushes: 0,
    run: ({ environment }) => environment.host.onJump(),
  },
  {
    opcode: 0xf3,
    name: "RETURN",
    gas: 0,
    pops: 2,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      frame.stop(readOutput(frame));
    },
  },
  {
    opcode: 0xfd,
    name: "REVERT",
    gas: 0,
    pops: 2,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      frame.stop(readOutput(frame));
      throw new EVMError(REVERT);
    },
  },
];

function jump(frame: Frame, target: Word): void {
  const destination = toNumber(target);
  if (!frame.code.isDestination(destination)) throw invalidJump(frame);
  frame.position = destination;
}

/** Returns the library's error, with the position of the jump. */
function invalidJump({ environment: { host }, message, address, position }: Frame): EVMError {
  const hash = Buffer.from(host.keccak(message.code as Uint8Array)).toString("hex");
  return new EVMError(`${INVALID_JUMP} at 0x${hash}/${address}:${position - 1}` as typeof INVALID_JUMP);
}

function readOutput(frame: Frame): Uint8Array {
  const { memory } = frame;
  const offset = toNumber(frame.pop());
  const length = toNumber(frame.pop());
  frame.expandMemory(offset, length);
  return memory.slice(offset, length);
}
