import type { capella, deneb, ExecutionPayload, gloas } from "@lodestar/types";
import { listRoot } from "../state/trie.ts";
import { type Block, encodeWithdrawal } from "./block.ts";
import { encodeHeader, type Header } from "./header.ts";
import { InvalidBlockError } from "./invalid-block.ts";
import type { ForkRules } from "./rules.ts";
import { hashOfRequests } from "./system-contracts.ts";
import { decodeTransaction, type Transaction } from "./transaction.ts";

/** Context that a beacon block provides for its payload. */
export interface PayloadContext {
  /** Since deneb. */
  parentBeaconBlockRoot?: Uint8Array;
  /** Since deneb: versioned hashes of the block's blob commitments. */
  versionedHashes?: readonly Uint8Array[];
  /** Since electra: execution requests by type, omitting types without requests (EIP-7685). */
  requests?: readonly Uint8Array[];
}

const MAX_EXTRA_DATA = 32;

/** Returns the payload of a block. */
export function toPayload({ hash, header, transactions, withdrawals, blockAccessList }: Block): ExecutionPayload {
  return {
    parentHash: header.parentHash,
    feeRecipient: header.feeRecipient,
    stateRoot: header.stateRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: header.logsBloom,
    prevRandao: header.prevRandao,
    blockNumber: Number(header.number),
    gasLimit: Number(header.gasLimit),
    gasUsed: Number(header.gasUsed),
    timestamp: Number(header.timestamp),
    extraData: header.extraData,
    baseFeePerGas: header.baseFeePerGas,
    blockHash: hash,
    transactions: transactions.map(({ raw }) => raw),
    ...(withdrawals && { withdrawals: [...withdrawals] }),
    ...(header.excessBlobGas !== undefined && {
      blobGasUsed: header.blobGasUsed,
      excessBlobGas: header.excessBlobGas,
    }),
    ...(blockAccessList && { blockAccessList, slotNumber: Number(header.slotNumber) }),
  };
}

/**
 * Converts a payload into an unexecuted block. Throws an `InvalidBlockError` if a field required by the fork is
 * missing, a transaction cannot be decoded, or the block hash does not match the content.
 */
export function fromPayload(payload: ExecutionPayload, context: PayloadContext, rules: ForkRules): Block {
  const header = headerOfPayload(payload, context, rules);
  const { withdrawals } = payload as Partial<capella.ExecutionPayload>;
  const { blockAccessList } = payload as Partial<gloas.ExecutionPayload>;
  const { requests } = context;
  const transactions = payload.transactions.map((raw, index) => decodeAt(raw, index, rules));
  return {
    hash: payload.blockHash,
    header,
    transactions,
    ...(withdrawals && { withdrawals }),
    ...(requests && { requests }),
    ...(blockAccessList && { blockAccessList }),
  };
}

/** Returns the header of a payload. Throws an `InvalidBlockError` if the block hash does not match the content. */
export function headerOfPayload(payload: ExecutionPayload, context: PayloadContext, rules: ForkRules): Header {
  const { withdrawals } = payload as Partial<capella.ExecutionPayload>;
  const { blobGasUsed, excessBlobGas } = payload as Partial<deneb.ExecutionPayload>;
  const { blockAccessList, slotNumber } = payload as Partial<gloas.ExecutionPayload>;
  const { parentBeaconBlockRoot, requests } = context;
  const shared = { withdrawals, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requests };
  checkForkFields({ extraData: payload.extraData, ...shared, blockAccessList, slotNumber }, rules);
  const { keccak } = rules.crypto;
  const header: Header = {
    parentHash: payload.parentHash,
    feeRecipient: payload.feeRecipient,
    stateRoot: payload.stateRoot,
    transactionsRoot: listRoot(payload.transactions, keccak),
    receiptsRoot: payload.receiptsRoot,
    logsBloom: payload.logsBloom,
    number: BigInt(payload.blockNumber),
    gasLimit: BigInt(payload.gasLimit),
    gasUsed: BigInt(payload.gasUsed),
    timestamp: BigInt(payload.timestamp),
    extraData: payload.extraData,
    prevRandao: payload.prevRandao,
    baseFeePerGas: payload.baseFeePerGas,
    ...(withdrawals && { withdrawalsRoot: listRoot(withdrawals.map(encodeWithdrawal), keccak) }),
    ...(parentBeaconBlockRoot && { blobGasUsed, excessBlobGas, parentBeaconBlockRoot }),
    ...(requests && { requestsHash: hashOfRequests(requests) }),
    ...(blockAccessList && { blockAccessListHash: keccak(blockAccessList), slotNumber: BigInt(slotNumber!) }),
  };
  const hash = keccak(encodeHeader(header));
  if (Buffer.compare(hash, payload.blockHash) !== 0) {
    throw new InvalidBlockError("blockHash", `got ${toHex(payload.blockHash)}, the content has ${toHex(hash)}`);
  }
  return header;
}

/** Checks that the payload has exactly the fork's fields and that its extra data is not too long. */
export function checkForkFields(
  fields: {
    extraData: Uint8Array;
    withdrawals?: unknown;
    blobGasUsed?: unknown;
    excessBlobGas?: unknown;
    parentBeaconBlockRoot?: unknown;
    requests?: unknown;
    blockAccessList?: unknown;
    slotNumber?: unknown;
  },
  rules: ForkRules,
): void {
  const { extraData, withdrawals, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requests } = fields;
  const { blockAccessList, slotNumber } = fields;
  requireFields(rules.isSince("shanghai"), { withdrawals });
  requireFields(rules.isSince("cancun"), { blobGasUsed, excessBlobGas, parentBeaconBlockRoot });
  requireFields(rules.isSince("prague"), { executionRequests: requests });
  requireFields(rules.isSince("amsterdam"), { blockAccessList, slotNumber });
  if (extraData.length > MAX_EXTRA_DATA) {
    throw new InvalidBlockError("extraData", `${extraData.length} bytes, at most ${MAX_EXTRA_DATA} allowed`);
  }
}

export const toHex = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;

function requireFields(isRequired: boolean, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) {
    if ((value !== undefined) === isRequired) continue;
    throw new InvalidBlockError(name, isRequired ? "missing in this fork" : "not allowed in this fork");
  }
}

function decodeAt(raw: Uint8Array, index: number, rules: ForkRules): Transaction {
  try {
    return decodeTransaction(raw, rules);
  } catch (error) {
    throw new InvalidBlockError(`transactions[${index}]`, reasonOf(error));
  }
}

/** Suffix of the EVM library's messages that describes the VM, the block or the transaction. */
const LIBRARY_CONTEXT = / \((?:vm hf|tx type)=.*\)$/s;

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(LIBRARY_CONTEXT, "").replace(/\.$/, "");
}
