import { type Block, encodedBlockSize, type Withdrawal } from "../../execution/block.ts";
import { NO_NONCE, NO_OMMERS_HASH } from "../../execution/header.ts";
import { data, quantity } from "./hex.ts";
import { type Json, transactionJson } from "./transaction-json.ts";

interface BlockJsonOptions {
  /** True to include full transactions instead of hashes. */
  isFull: boolean;
  isPending?: boolean;
}

/** Encodes a block as the `Block` type from execution-apis. As in geth, a pending block has no hash, nonce or miner. */
export function blockJson(block: Block, { isFull, isPending = false }: BlockJsonOptions): Json {
  const { transactions, withdrawals } = block;
  return {
    ...headerJson(block),
    ...(isPending && { hash: null, nonce: null, miner: null }),
    size: quantity(encodedBlockSize(block)),
    transactions: transactions.map((transaction, index) => {
      if (!isFull) return data(transaction.hash);
      return transactionJson(transaction, isPending ? undefined : { block, index });
    }),
    uncles: [],
    ...(withdrawals && { withdrawals: withdrawals.map(withdrawalJson) }),
  };
}

/** Encodes a header for `newHeads` notifications. */
export function headerJson({ hash, header }: Pick<Block, "hash" | "header">): Json {
  const { withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash } = header;
  const { blockAccessListHash, slotNumber = 0n } = header;
  return {
    number: quantity(header.number),
    hash: data(hash),
    parentHash: data(header.parentHash),
    nonce: data(NO_NONCE),
    mixHash: data(header.prevRandao),
    sha3Uncles: data(NO_OMMERS_HASH),
    logsBloom: data(header.logsBloom),
    transactionsRoot: data(header.transactionsRoot),
    stateRoot: data(header.stateRoot),
    receiptsRoot: data(header.receiptsRoot),
    miner: data(header.feeRecipient),
    difficulty: "0x0",
    extraData: data(header.extraData),
    gasLimit: quantity(header.gasLimit),
    gasUsed: quantity(header.gasUsed),
    timestamp: quantity(header.timestamp),
    baseFeePerGas: quantity(header.baseFeePerGas),
    ...(withdrawalsRoot && { withdrawalsRoot: data(withdrawalsRoot) }),
    ...(parentBeaconBlockRoot && {
      blobGasUsed: quantity(blobGasUsed ?? 0n),
      excessBlobGas: quantity(excessBlobGas ?? 0n),
      parentBeaconBlockRoot: data(parentBeaconBlockRoot),
    }),
    ...(requestsHash && { requestsHash: data(requestsHash) }),
    ...(blockAccessListHash && { blockAccessListHash: data(blockAccessListHash), slotNumber: quantity(slotNumber) }),
  };
}

function withdrawalJson({ index, validatorIndex, address, amount }: Withdrawal): Json {
  return {
    index: quantity(index),
    validatorIndex: quantity(validatorIndex),
    address: data(address),
    amount: quantity(amount),
  };
}
