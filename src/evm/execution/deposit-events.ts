import { ContractFaultError } from "./invalid-block.ts";
import type { Log, Receipt } from "./receipt.ts";
import type { Transaction } from "./transaction.ts";

/** A transaction in a block, with its result. */
export interface ExecutedTransaction {
  transaction: Transaction;
  receipt: Receipt;
}

const WORD = 32;
/** keccak256("DepositEvent(bytes,bytes,bytes,bytes,bytes)") */
const DEPOSIT_TOPIC = Buffer.from("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5", "hex");
const DEPOSIT_LOG_SIZE = 576;
/** EIP-6110, is_valid_deposit_event_data: offset and length of each field in the ABI-encoded event. */
const DEPOSIT_FIELDS = [
  [160, 48],
  [256, 32],
  [320, 8],
  [384, 96],
  [512, 8],
] as const;

/** Returns true for a deposit event. */
export function isDepositLog({ address, topics }: Log, contract: Uint8Array): boolean {
  const [topic] = topics;
  return topic !== undefined && DEPOSIT_TOPIC.equals(topic) && Buffer.compare(address, contract) === 0;
}

/** Returns the deposit events emitted by a transaction. */
export function depositLogs({ receipt }: ExecutedTransaction, contract: Uint8Array): Log[] {
  return receipt.logs.filter((log) => isDepositLog(log, contract));
}

/**
 * Returns a block's deposit requests as bytes (EIP-6110). Throws a `ContractFaultError` listing all transactions that
 * emit an event with a different layout.
 */
export function depositRequests(executed: readonly ExecutedTransaction[], contract: Uint8Array): Uint8Array[] {
  const logs = executed.map((each) => depositLogs(each, contract));
  const faulty = executed.filter((_, index) => !logs[index]!.every(hasDepositLayout));
  if (faulty.length > 0) {
    const fault = "logged a deposit event with an invalid layout";
    throw new ContractFaultError(contract, fault, { faulty: faulty.map(({ transaction }) => transaction) });
  }
  return logs.flat().flatMap(fieldsOf);
}

function hasDepositLayout({ data }: Log): boolean {
  const word = (offset: number) => Buffer.from(data.buffer, data.byteOffset + offset, WORD);
  const isWord = (offset: number, value: number) => {
    const bytes = word(offset);
    return bytes.readUInt32BE(WORD - 4) === value && bytes.subarray(0, WORD - 4).every((byte) => byte === 0);
  };
  return (
    data.length === DEPOSIT_LOG_SIZE &&
    DEPOSIT_FIELDS.every(([offset, size], index) => isWord(index * WORD, offset) && isWord(offset, size))
  );
}

function fieldsOf({ data }: Log): Uint8Array[] {
  return DEPOSIT_FIELDS.map(([offset, size]) => data.subarray(offset + WORD, offset + WORD + size));
}
