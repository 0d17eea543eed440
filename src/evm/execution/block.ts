import type { Address } from "@ethereumjs/util";
import type { AccountChange, Override } from "../overrides/override.ts";
import {
  asBigint,
  asBytes,
  asList,
  contentAt,
  decode,
  encodeBytes,
  encodedListSize,
  encodeList,
  encodeNumber,
  RLP_EMPTY_BYTES,
  RLP_EMPTY_LIST,
  type RlpItem,
} from "../rlp.ts";
import type { World } from "../state/world.ts";
import type { BlockHashes } from "./block-hashes.ts";
import { decodeHeader, encodeHeader, type Header } from "./header.ts";
import type { Receipt } from "./receipt.ts";
import type { ChainRules } from "./rules.ts";
import { decodeTransaction, type Transaction } from "./transaction.ts";

/** EIP-4895 withdrawal, with the same structure as in a beacon block. */
export interface Withdrawal {
  index: number;
  validatorIndex: number;
  address: Uint8Array;
  /** In Gwei. */
  amount: bigint;
}

export interface Block {
  hash: Uint8Array;
  header: Header;
  transactions: readonly Transaction[];
  /** Since Shanghai. */
  withdrawals?: readonly Withdrawal[];
  /** Since Prague: execution requests by type, omitting types without requests (EIP-7685). */
  requests?: readonly Uint8Array[];
  /** Since Amsterdam: RLP of the block access list (EIP-7928). */
  blockAccessList?: Uint8Array;
}

/** An executed block with its results. Immutable, so children can be executed on top of the block at any time. */
export interface ExecutedBlock extends Block {
  receipts: readonly Receipt[];
  world: World;
  /**
   * State after the transactions, but before the withdrawals and system calls that end the block. An additional
   * transaction would run on this state. Set only for blocks built by this node.
   */
  openWorld?: World;
  /** Hashes of this block and its ancestors. */
  blockHashes: BlockHashes;
  /** Tips of all transactions, in wei. */
  value: bigint;
  /**
   * Applied before the transactions. Set, possibly to an empty list, if the sender of a transaction is impersonated.
   */
  overrides?: readonly Override[];
  /** Set if the state includes overrides that the next block applies: the changes, and the state without them. */
  overridden?: { world: World; changes: readonly AccountChange[] };
}

export function encodeWithdrawal({ index, validatorIndex, address, amount }: Withdrawal): Uint8Array {
  return encodeList([encodeNumber(index), encodeNumber(validatorIndex), encodeBytes(address), encodeNumber(amount)]);
}

/**
 * Returns the RLP size of a block (EIP-7934). Legacy transactions are lists; all other transactions are byte strings.
 */
export function encodedBlockSize({ header, transactions, withdrawals }: Omit<Block, "hash">): number {
  const transactionsSize = transactions.reduce(
    (size, { raw }) => size + (isList(raw) ? raw.length : encodedListSize(raw.length)),
    0,
  );
  const withdrawalsSize = withdrawals?.reduce((size, withdrawal) => size + encodeWithdrawal(withdrawal).length, 0);
  return encodedListSize(
    encodeHeader(header).length +
      encodedListSize(transactionsSize) +
      RLP_EMPTY_LIST.length +
      (withdrawalsSize === undefined ? 0 : encodedListSize(withdrawalsSize)),
  );
}

/** Encodes a block in the network format, which does not include requests. */
export function encodeNetworkBlock({ header, transactions, withdrawals }: Omit<Block, "hash">): Uint8Array {
  return encodeList([
    encodeHeader(header),
    encodeList(transactions.map(({ raw }) => (isList(raw) ? raw : encodeBytes(raw)))),
    RLP_EMPTY_LIST,
    ...(withdrawals ? [encodeList(withdrawals.map(encodeWithdrawal))] : []),
  ]);
}

/** Returns true if the RLP encodes a legacy transaction. */
const isList = (raw: Uint8Array): boolean => raw[0]! >= RLP_EMPTY_LIST[0]!;

/** Encodes a block for storage, including its requests and access list. */
export function encodeBlock({ header, transactions, withdrawals, requests, blockAccessList }: Block): Uint8Array {
  return encodeList([
    encodeHeader(header),
    encodeList(transactions.map(({ raw }) => encodeBytes(raw))),
    withdrawals === undefined ? RLP_EMPTY_BYTES : encodeList(withdrawals.map(encodeWithdrawal)),
    requests === undefined ? RLP_EMPTY_BYTES : encodeList(requests.map(encodeBytes)),
    ...(blockAccessList === undefined ? [] : [encodeBytes(blockAccessList)]),
  ]);
}

/** Inverse of `encodeBlock`. Recovers the transaction senders unless `senderAt` is set. */
export function decodeBlock(bytes: Uint8Array, chain: ChainRules, senderAt?: (index: number) => Address): Block {
  const [headerItem, transactionItems, withdrawalItems, requestItems, accessListItem] = asList(decode(bytes));
  const [start] = contentAt(bytes, 0);
  const [, end] = contentAt(bytes, start);
  const header = decodeHeader(headerItem!);
  const rules = chain.at(header.timestamp);
  return {
    hash: chain.crypto.keccak(bytes.subarray(start, end)),
    header,
    transactions: asList(transactionItems).map((item, index) =>
      decodeTransaction(asBytes(item), rules, senderAt?.(index)),
    ),
    ...(Array.isArray(withdrawalItems) && { withdrawals: withdrawalItems.map(decodeWithdrawal) }),
    ...(Array.isArray(requestItems) && { requests: requestItems.map(asBytes) }),
    ...(accessListItem !== undefined && { blockAccessList: asBytes(accessListItem) }),
  };
}

function decodeWithdrawal(item: RlpItem): Withdrawal {
  const [index, validatorIndex, address, amount] = asList(item);
  return {
    index: Number(asBigint(index)),
    validatorIndex: Number(asBigint(validatorIndex)),
    address: asBytes(address),
    amount: asBigint(amount),
  };
}
