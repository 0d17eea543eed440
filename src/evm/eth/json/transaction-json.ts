import { isAccessList2930Tx, isBlob4844Tx, isEOACode7702Tx, isFeeMarket1559Tx } from "@ethereumjs/tx";
import type { Block } from "../../execution/block.ts";
import { effectiveTip, maxFeePerGas, type Transaction } from "../../execution/transaction.ts";
import { data, quantity } from "./hex.ts";

export type Json = Record<string, unknown>;

/** Position of a transaction in a block. */
export interface TransactionInclusion {
  block: Pick<Block, "hash" | "header">;
  index: number;
}

/** Encodes a transaction as the `TransactionInfo` type from execution-apis. */
export function transactionJson(transaction: Transaction, inclusion?: TransactionInclusion): Json {
  const { header, hash } = inclusion?.block ?? {};
  return {
    blockHash: hash === undefined ? null : data(hash),
    blockNumber: header === undefined ? null : quantity(header.number),
    ...(header && { blockTimestamp: quantity(header.timestamp) }),
    transactionIndex: inclusion === undefined ? null : quantity(inclusion.index),
    from: transaction.sender.toString(),
    hash: data(transaction.hash),
    ...signedTransactionJson(transaction, header?.baseFeePerGas),
  };
}

/** Encodes the signed fields of a transaction. If there is no base fee, `gasPrice` is the fee cap. */
export function signedTransactionJson({ tx }: Pick<Transaction, "tx">, baseFee?: bigint): Json {
  const price = baseFee === undefined ? maxFeePerGas(tx) : baseFee + effectiveTip(tx, baseFee);
  return {
    type: quantity(tx.type),
    nonce: quantity(tx.nonce),
    to: tx.to?.toString() ?? null,
    gas: quantity(tx.gasLimit),
    value: quantity(tx.value),
    input: data(tx.data),
    gasPrice: quantity(price),
    ...("maxFeePerGas" in tx && {
      maxFeePerGas: quantity(tx.maxFeePerGas),
      maxPriorityFeePerGas: quantity(tx.maxPriorityFeePerGas),
    }),
    ...(isBlob4844Tx(tx) && {
      maxFeePerBlobGas: quantity(tx.maxFeePerBlobGas),
      blobVersionedHashes: tx.blobVersionedHashes,
    }),
    ...(hasAccessList(tx) && { accessList: accessListJson(tx.accessList) }),
    ...(isEOACode7702Tx(tx) && { authorizationList: tx.authorizationList.map(authorizationJson) }),
    ...signatureJson(tx),
  };
}

type Tx = Transaction["tx"];
type TypedTx = Extract<Tx, { accessList: unknown }>;

function hasAccessList(tx: Tx): tx is TypedTx {
  return isAccessList2930Tx(tx) || isFeeMarket1559Tx(tx) || isBlob4844Tx(tx) || isEOACode7702Tx(tx);
}

function accessListJson(list: TypedTx["accessList"]): Json[] {
  return list.map(([address, slots]) => ({ address: data(address), storageKeys: slots.map(data) }));
}

type AuthorizationBytes = Extract<Tx, { authorizationList: unknown }>["authorizationList"][number];

function authorizationJson([chainId, address, nonce, yParity, r, s]: AuthorizationBytes): Json {
  return {
    chainId: unpadded(chainId),
    address: data(address),
    nonce: unpadded(nonce),
    yParity: unpadded(yParity),
    r: unpadded(r),
    s: unpadded(s),
  };
}

function signatureJson(tx: Tx): Json {
  const { v = 0n, r = 0n, s = 0n } = tx;
  const signature = { r: quantity(r), s: quantity(s), v: quantity(v) };
  if (tx.type > 0) return { chainId: quantity(chainIdOf(tx)), yParity: quantity(v), ...signature };
  // EIP-155: v contains the chain id.
  return v >= 35n ? { chainId: quantity((v - 35n) / 2n), ...signature } : signature;
}

const chainIdOf = (tx: Tx): bigint => ("chainId" in tx ? tx.chainId : 0n);

function unpadded(bytes: Uint8Array): string {
  return bytes.length === 0 ? "0x0" : quantity(BigInt(data(bytes)));
}
