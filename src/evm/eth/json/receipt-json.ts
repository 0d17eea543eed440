import type { LoggedBlock, ReceiptedBlock } from "../../engine/storage/block-archive.ts";
import { blobBaseFee } from "../../execution/fees.ts";
import { GAS_PER_BLOB } from "../../execution/forks.ts";
import type { Log } from "../../execution/receipt.ts";
import type { ForkRules } from "../../execution/rules.ts";
import { blobCountOf } from "../../execution/transaction.ts";
import { data, quantity } from "./hex.ts";
import type { Json } from "./transaction-json.ts";

/** Encodes all receipts of a block as the `ReceiptInfo` type from execution-apis. */
export function receiptsJson(block: ReceiptedBlock, rules: ForkRules): Json[] {
  const { blobs } = rules;
  const { excessBlobGas } = block.header;
  const blobPrice = blobs && excessBlobGas !== undefined ? blobBaseFee(excessBlobGas, blobs) : undefined;
  let firstLog = 0;
  return block.receipts.map((receipt, index) => {
    const { hash, sender, tx } = block.transactions[index]!;
    const { logs, contractAddress } = receipt;
    const start = firstLog;
    firstLog += logs.length;
    return {
      type: quantity(receipt.type),
      transactionHash: data(hash),
      transactionIndex: quantity(index),
      blockHash: data(block.hash),
      blockNumber: quantity(block.header.number),
      from: sender.toString(),
      to: tx.to?.toString() ?? null,
      cumulativeGasUsed: quantity(receipt.cumulativeGasUsed),
      gasUsed: quantity(receipt.gasUsed),
      contractAddress: contractAddress === undefined ? null : data(contractAddress),
      logs: logs.map((log, n) => logJson(log, { block, transactionIndex: index, logIndex: start + n })),
      logsBloom: data(receipt.logsBloom),
      status: receipt.succeeded ? "0x1" : "0x0",
      effectiveGasPrice: quantity(receipt.effectiveGasPrice),
      ...(tx.type === 3 &&
        blobPrice !== undefined && {
          blobGasUsed: quantity(BigInt(blobCountOf(tx)) * GAS_PER_BLOB),
          blobGasPrice: quantity(blobPrice),
        }),
    };
  });
}

/** Position of a log within its block. */
interface LogPlace {
  block: LoggedBlock;
  transactionIndex: number;
  /** Index across all transactions of the block. */
  logIndex: number;
}

/** A log as the `Log` type from execution-apis. */
export type LogJson = Json & { address: string; topics: string[]; data: string };

/** Encodes a block's logs, optionally only some of them. */
export function logsJson(block: LoggedBlock, isWanted: (log: Log) => boolean = () => true): LogJson[] {
  const encoded: LogJson[] = [];
  let logIndex = 0;
  for (const [transactionIndex, { logs }] of block.receipts.entries()) {
    for (const log of logs) {
      if (isWanted(log)) encoded.push(logJson(log, { block, transactionIndex, logIndex }));
      logIndex++;
    }
  }
  return encoded;
}

/** Encodes a log. `removed` is true if the log's block was reorged out. */
export function logJson(log: Log, { block, transactionIndex, logIndex }: LogPlace, removed = false): LogJson {
  return {
    address: data(log.address),
    topics: log.topics.map(data),
    data: data(log.data),
    blockNumber: quantity(block.header.number),
    blockHash: data(block.hash),
    blockTimestamp: quantity(block.header.timestamp),
    transactionHash: data(block.transactions[transactionIndex]!.hash),
    transactionIndex: quantity(transactionIndex),
    logIndex: quantity(logIndex),
    removed,
  };
}
