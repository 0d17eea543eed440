import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import { BASE_GAS, COPY_WORD_GAS, LOW_GAS, VERY_LOW_GAS } from "../gas.ts";
import { whenReady } from "../host.ts";
import type { Instructions } from "../instruction.ts";
import { setBigInt, setBytes, setNumber, setPadded, toNumber, WORD_BYTES } from "../words/word.ts";

const { OUT_OF_GAS } = EVMError.errorMessages;

/** Instructions that read the message, its code and its data. */
export const MESSAGE: Instructions = [
  {
    opcode: 0x30,
    name: "ADDRESS",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBytes(frame.push(), frame.address.bytes);
    },
  },
  {
    opcode: 0x32,
    name: "ORIGIN",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBytes(frame.push(), frame.environment.transaction.origin.bytes);
    },
  },
  {
    opcode: 0x33,
    name: "CALLER",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBytes(frame.push(), frame.message.caller.bytes);
    },
  },
  {
    opcode: 0x34,
    name: "CALLVALUE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.message.value);
    },
  },
  {
    opcode: 0x35,
    name: "CALLDATALOAD",
    gas: VERY_LOW_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      const { message } = frame;
      const word = frame.peek();
      setPadded(word, message.data, toNumber(word));
    },
  },
  {
    opcode: 0x36,
    name: "CALLDATASIZE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setNumber(frame.push(), frame.message.data.length);
    },
  },
  {
    opcode: 0x37,
    name: "CALLDATACOPY",
    gas: VERY_LOW_GAS,
    pops: 3,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      copyToMemory(frame, frame.message.data);
    },
  },
  {
    opcode: 0x38,
    name: "CODESIZE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setNumber(frame.push(), frame.code.length);
    },
  },
  {
    opcode: 0x39,
    name: "CODECOPY",
    gas: VERY_LOW_GAS,
    pops: 3,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      copyToMemory(frame, frame.code.bytes);
    },
  },
  {
    opcode: 0x3a,
    name: "GASPRICE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.gasPrice);
    },
  },
  {
    opcode: 0x3d,
    name: "RETURNDATASIZE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setNumber(frame.push(), frame.returned.length);
    },
  },
  {
    opcode: 0x3e,
    name: "RETURNDATACOPY",
    gas: VERY_LOW_GAS,
    pops: 3,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      const { returned } = frame;
      const offset = toNumber(frame.stack[frame.height - 2]!);
      const length = toNumber(frame.stack[frame.height - 3]!);
      if (offset + length > returned.length) throw new EVMError(OUT_OF_GAS);
      copyToMemory(frame, returned);
    },
  },
  {
    opcode: 0x47,
    name: "SELFBALANCE",
    gas: LOW_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      const { address, environment } = frame;
      const word = frame.push();
      return whenReady(environment.host.state.account(address.bytes), (account) =>
        setBigInt(word, account?.balance ?? 0n),
      );
    },
  },
];

/** EIP-4844. */
export const BLOB_HASH: Instructions = [
  {
    opcode: 0x49,
    name: "BLOBHASH",
    gas: VERY_LOW_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      const { message } = frame;
      const word = frame.peek();
      const hash = message.blobVersionedHashes?.[toNumber(word)];
      setBigInt(word, BigInt(hash ?? 0));
    },
  },
];

/** Offset in memory, offset in the source, and length of a copy. */
interface CopyRange {
  target: number;
  offset: number;
  length: number;
}

/** Copies part of `source` to memory. The stack holds the offset in memory, the offset in `source` and the length. */
function copyToMemory(frame: Frame, source: Uint8Array): void {
  copyRange(frame, takeCopyRange(frame), source);
}

/** Takes the operands of a copy from the stack, pays for the copy and allocates the memory. */
export function takeCopyRange(frame: Frame): CopyRange {
  const target = toNumber(frame.pop());
  const offset = toNumber(frame.pop());
  const length = toNumber(frame.pop());
  frame.charge(COPY_WORD_GAS * Math.ceil(length / WORD_BYTES));
  frame.expandMemory(target, length);
  return { target, offset, length };
}

export function copyRange({ memory }: Frame, { target, offset, length }: CopyRange, source: Uint8Array): void {
  if (length > 0) memory.write(target, source, offset, length);
}
