import {
  asBigint,
  asBytes,
  asList,
  decode,
  encodeBytes,
  encodeList,
  encodeNumber,
  RLP_EMPTY_BYTES,
  type RlpItem,
} from "../rlp.ts";
import type { Keccak } from "../state/trie.ts";

export interface Log {
  readonly address: Uint8Array;
  readonly topics: readonly Uint8Array[];
  readonly data: Uint8Array;
}

export interface Receipt {
  readonly type: number;
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  /** Total gas used by the block up to and including this transaction. */
  readonly cumulativeGasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  readonly logs: readonly Log[];
  readonly logsBloom: Uint8Array;
  /** Set for contract creations, including failed ones. */
  readonly contractAddress?: Uint8Array;
}

const BLOOM_SIZE = 256;
/** Position of the logs in a stored receipt. */
const LOGS = 5;
export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_SIZE);

/** Encodes a receipt for the receipts trie (EIP-2718). */
export function encodeReceipt({ type, succeeded, cumulativeGasUsed, logsBloom, logs }: Receipt): Uint8Array {
  const body = encodeList([
    encodeNumber(succeeded ? 1 : 0),
    encodeNumber(cumulativeGasUsed),
    encodeBytes(logsBloom),
    encodeLogs(logs),
  ]);
  if (type === 0) return body;
  const encoded = new Uint8Array(body.length + 1);
  encoded[0] = type;
  encoded.set(body, 1);
  return encoded;
}

/** Encodes the receipts of a block for storage. Omits blooms, which can be derived from the logs. */
export function encodeReceipts(receipts: readonly Receipt[]): Uint8Array {
  return encodeList(
    receipts.map(({ type, succeeded, gasUsed, effectiveGasPrice, contractAddress, logs }) =>
      encodeList([
        encodeNumber(type),
        encodeNumber(succeeded ? 1 : 0),
        encodeNumber(gasUsed),
        encodeNumber(effectiveGasPrice),
        contractAddress === undefined ? RLP_EMPTY_BYTES : encodeBytes(contractAddress),
        encodeLogs(logs),
      ]),
    ),
  );
}

/** Inverse of `encodeReceipts`. */
export function decodeReceipts(bytes: Uint8Array, keccak: Keccak): Receipt[] {
  let cumulativeGasUsed = 0n;
  return asList(decode(bytes)).map((item) => {
    const [type, status, gas, price, address, logItems] = asList(item);
    const gasUsed = asBigint(gas);
    cumulativeGasUsed += gasUsed;
    const logs = decodeLogs(logItems);
    const contractAddress = asBytes(address);
    return {
      type: Number(asBigint(type)),
      succeeded: asBigint(status) === 1n,
      gasUsed,
      cumulativeGasUsed,
      effectiveGasPrice: asBigint(price),
      logs,
      logsBloom: bloomOf(logs, keccak),
      ...(contractAddress.length > 0 && { contractAddress }),
    };
  });
}

/** Decodes only the logs of receipts encoded by `encodeReceipts`. */
export function decodeReceiptLogs(bytes: Uint8Array): Pick<Receipt, "logs">[] {
  return asList(decode(bytes)).map((item) => ({ logs: decodeLogs(asList(item)[LOGS]) }));
}

/** Computes the bloom filter of logs (Yellow Paper, 4.3.1). */
export function bloomOf(logs: readonly Log[], keccak: Keccak): Uint8Array {
  if (logs.length === 0) return EMPTY_BLOOM;
  const bloom = new Uint8Array(BLOOM_SIZE);
  for (const { address, topics } of logs) {
    addToBloom(bloom, address, keccak);
    for (const topic of topics) addToBloom(bloom, topic, keccak);
  }
  return bloom;
}

export function unionOfBlooms(receipts: readonly Receipt[]): Uint8Array {
  if (receipts.every(({ logs }) => logs.length === 0)) return EMPTY_BLOOM;
  const union = new Uint8Array(BLOOM_SIZE);
  for (const { logs, logsBloom } of receipts) {
    if (logs.length === 0) continue;
    for (let index = 0; index < BLOOM_SIZE; index++) union[index]! |= logsBloom[index]!;
  }
  return union;
}

/** Returns true if the bloom filter belongs to a block without logs. */
export function isEmptyBloom(bloom: Uint8Array): boolean {
  for (let index = 0; index < bloom.length; index++) if (bloom[index] !== 0) return false;
  return true;
}

/** Returns the bits that an address or topic sets in a bloom filter. Bit 0 is the lowest bit of the last byte. */
export function logBloomBits(value: Uint8Array, keccak: Keccak): number[] {
  const hash = keccak(value);
  return [0, 2, 4].map((pair) => ((hash[pair]! << 8) | hash[pair + 1]!) & 2047);
}

function addToBloom(bloom: Uint8Array, value: Uint8Array, keccak: Keccak): void {
  for (const bit of logBloomBits(value, keccak)) bloom[BLOOM_SIZE - 1 - (bit >> 3)]! |= 1 << (bit & 7);
}

function decodeLogs(item: RlpItem | undefined): Log[] {
  return asList(item).map((log) => {
    const [address, topics, data] = asList(log);
    return { address: asBytes(address), topics: asList(topics).map(asBytes), data: asBytes(data) };
  });
}

function encodeLogs(logs: readonly Log[]): Uint8Array {
  return encodeList(
    logs.map(({ address, topics, data }) =>
      encodeList([encodeBytes(address), encodeList(topics.map(encodeBytes)), encodeBytes(data)]),
    ),
  );
}
