import { createMPT } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import { getBytes, hexlify, keccak256 } from "ethers";
import { expect } from "vitest";
import { DEPOSIT_CONTRACT } from "./contracts.ts";
import {
  type BlockJson,
  type EthBlockJson,
  type Hex,
  type LogJson,
  type PayloadJson,
  quantity,
  type ReceiptJson,
  type RequestsJson,
  smaller,
} from "./json.ts";

/** A block with its payload on both layers, and its receipts. */
export interface ReadBlock {
  beacon: BlockJson["message"];
  payload: PayloadJson;
  /** Requests of the payload; since electra. */
  requests: RequestsJson | undefined;
  eth: EthBlockJson;
  receipts: ReceiptJson[];
}

const BLOOM_BYTES = 256;

/** Compares the payload of a beacon block with the block of the execution layer. */
export function expectLayersAgree({ beacon, payload, eth }: ReadBlock): void {
  const blobs = payload.blob_gas_used !== undefined && {
    blobGasUsed: quantity(BigInt(payload.blob_gas_used)),
    excessBlobGas: quantity(BigInt(payload.excess_blob_gas!)),
    parentBeaconBlockRoot: beacon.parent_root,
  };
  expect(eth).toMatchObject({
    hash: payload.block_hash,
    number: quantity(BigInt(payload.block_number)),
    parentHash: payload.parent_hash,
    miner: payload.fee_recipient,
    stateRoot: payload.state_root,
    receiptsRoot: payload.receipts_root,
    logsBloom: payload.logs_bloom,
    mixHash: payload.prev_randao,
    gasLimit: quantity(BigInt(payload.gas_limit)),
    gasUsed: quantity(BigInt(payload.gas_used)),
    timestamp: quantity(BigInt(payload.timestamp)),
    extraData: payload.extra_data,
    baseFeePerGas: quantity(BigInt(payload.base_fee_per_gas)),
    withdrawals: payload.withdrawals.map(({ index, validator_index, address, amount }) => ({
      index: quantity(BigInt(index)),
      validatorIndex: quantity(BigInt(validator_index)),
      address,
      amount: quantity(BigInt(amount)),
    })),
    ...blobs,
  });
  // The hash of a transaction with an impersonated sender is that of its placeholder signature.
  expect(eth.transactions.map(({ hash }) => hash)).toEqual(payload.transactions.map((raw) => keccak256(raw)));
}

/** Checks the receipts of a block against its transactions and its header. */
export async function expectReceiptsMatch({ eth, receipts }: ReadBlock): Promise<void> {
  expect(receipts.map(({ transactionHash }) => transactionHash)).toEqual(eth.transactions.map(({ hash }) => hash));
  let gasUsed = 0n;
  let blobGasUsed = 0n;
  let logIndex = 0;
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (const [index, receipt] of receipts.entries()) {
    const transaction = eth.transactions[index]!;
    gasUsed += BigInt(receipt.gasUsed);
    blobGasUsed += BigInt(receipt.blobGasUsed ?? 0);
    const own = new Uint8Array(BLOOM_BYTES);
    for (const log of receipt.logs) {
      addToBloom(own, log);
      expect([log.logIndex, log.transactionHash]).toEqual([quantity(logIndex++), transaction.hash]);
    }
    for (const [place, byte] of own.entries()) bloom[place]! |= byte;
    expect(receipt).toMatchObject({
      transactionIndex: quantity(index),
      blockHash: eth.hash,
      blockNumber: eth.number,
      type: transaction.type,
      cumulativeGasUsed: quantity(gasUsed),
      effectiveGasPrice: transaction.gasPrice,
      logsBloom: hexlify(own),
    });
    expect(BigInt(receipt.gasUsed)).toBeLessThanOrEqual(BigInt(transaction.gas));
    if (receipt.status === "0x0") expect(receipt.logs).toEqual([]);
    const { maxFeePerGas, maxPriorityFeePerGas } = transaction;
    if (maxFeePerGas !== undefined) {
      const highest = BigInt(eth.baseFeePerGas) + BigInt(maxPriorityFeePerGas!);
      const limit = BigInt(maxFeePerGas);
      expect(BigInt(receipt.effectiveGasPrice)).toBe(smaller(highest, limit));
    }
  }
  expect(eth.logsBloom).toBe(hexlify(bloom));
  // Since Amsterdam, the gas of a block is the larger one of its two dimensions.
  if (eth.blockAccessListHash === undefined) expect(eth.gasUsed).toBe(quantity(gasUsed));
  else expect(BigInt(eth.gasUsed)).toBeLessThanOrEqual(gasUsed);
  expect(blobGasUsed).toBe(BigInt(eth.blobGasUsed ?? 0));
  expect(await receiptsRoot(receipts)).toBe(eth.receiptsRoot);
}

/** Each deposit that the contract has logged is a request of the payload. */
export function expectDepositsRequested({ requests, receipts }: ReadBlock): void {
  if (requests === undefined) return;
  const logged = receipts.flatMap(({ logs }) => logs.filter(({ address }) => address === DEPOSIT_CONTRACT));
  expect(requests.deposits.map(({ pubkey }) => pubkey)).toEqual(logged.map(({ data }) => pubkeyOf(data)));
}

/** Five dynamic fields, of which the first is the public key. */
const pubkeyOf = (data: Hex): Hex => `0x${data.slice(2 + 6 * 64, 2 + 6 * 64 + 96)}`;

async function receiptsRoot(receipts: readonly ReceiptJson[]): Promise<Hex> {
  const trie = await createMPT();
  for (const [index, { type, status, cumulativeGasUsed, logsBloom, logs }] of receipts.entries()) {
    const fields = logs.map(({ address, topics, data }) => [
      getBytes(address),
      topics.map((topic) => getBytes(topic)),
      getBytes(data),
    ]);
    const encoded = RLP.encode([number(status), number(cumulativeGasUsed), getBytes(logsBloom), fields]);
    const typed = type === "0x0" ? encoded : Uint8Array.of(Number(type), ...encoded);
    await trie.put(RLP.encode(number(quantity(index))), typed);
  }
  return hexlify(trie.root()) as Hex;
}

/** RLP has no leading zeros. */
function number(value: Hex): Uint8Array {
  const digits = BigInt(value) === 0n ? "" : BigInt(value).toString(16);
  return getBytes(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`);
}

function addToBloom(bloom: Uint8Array, { address, topics }: LogJson): void {
  for (const entry of [address, ...topics]) {
    const hash = getBytes(keccak256(entry));
    for (const start of [0, 2, 4]) {
      const bit = ((hash[start]! << 8) | hash[start + 1]!) & (8 * BLOOM_BYTES - 1);
      bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
}
