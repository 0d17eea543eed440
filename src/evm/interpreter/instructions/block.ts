import { BASE_GAS, BLOCKHASH_GAS } from "../gas.ts";
import { whenReady } from "../host.ts";
import type { Instructions } from "../instruction.ts";
import { setBigInt, setBytes, setZero, toBigInt } from "../words/word.ts";

/** Number of ancestors whose hashes are available. */
const BLOCK_HASH_WINDOW = 256n;

/** Instructions that read the block. */
export const BLOCK: Instructions = [
  {
    opcode: 0x40,
    name: "BLOCKHASH",
    gas: BLOCKHASH_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      const { environment } = frame;
      const word = frame.peek();
      const number = toBigInt(word);
      const distance = environment.transaction.block.header.number - number;
      if (distance <= 0n || distance > BLOCK_HASH_WINDOW) {
        setZero(word);
        return undefined;
      }
      return whenReady(environment.host.blockHash(number), (hash) => setBytes(word, hash));
    },
  },
  {
    opcode: 0x41,
    name: "COINBASE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBytes(frame.push(), frame.environment.transaction.block.header.coinbase.bytes);
    },
  },
  {
    opcode: 0x42,
    name: "TIMESTAMP",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.block.header.timestamp);
    },
  },
  {
    opcode: 0x43,
    name: "NUMBER",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.block.header.number);
    },
  },
  {
    opcode: 0x44,
    name: "PREVRANDAO",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBytes(frame.push(), frame.environment.transaction.block.header.prevRandao);
    },
  },
  {
    opcode: 0x45,
    name: "GASLIMIT",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.block.header.gasLimit);
    },
  },
  {
    opcode: 0x46,
    name: "CHAINID",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.evm.common.chainId());
    },
  },
  {
    opcode: 0x48,
    name: "BASEFEE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.block.header.baseFeePerGas ?? 0n);
    },
  },
];

/** EIP-7843. */
export const SLOT_NUMBER: Instructions = [
  {
    opcode: 0x4b,
    name: "SLOTNUM",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.block.header.slotNumber ?? 0n);
    },
  },
];

/** EIP-7516. */
export const BLOB_BASE_FEE: Instructions = [
  {
    opcode: 0x4a,
    name: "BLOBBASEFEE",
    gas: BASE_GAS,
    pops: 0,
    pushes: 1,
    run: (frame) => {
      setBigInt(frame.push(), frame.environment.transaction.block.header.getBlobGasPrice() ?? 0n);
    },
  },
];
