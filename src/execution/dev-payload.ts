import { createHash } from "node:crypto";
import {
  type ForkPostBellatrix,
  isForkPostCapella,
  isForkPostDeneb,
  isForkPostElectra,
  isForkPostGloas,
} from "@lodestar/params";
import { type ExecutionPayload, type ExecutionRequests, sszTypesFor } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { PayloadContext, PayloadRequest } from "./engine.ts";

/** Hash of the execution block from which a dev chain starts. This block is the parent of the first payload. */
export const DEV_GENESIS_BLOCK_HASH: Uint8Array = new Uint8Array(32).fill(0x42);

export const DEV_GAS_LIMIT = 30_000_000;
const BASE_FEE_PER_GAS = 1_000_000_000n;
const EXTRA_DATA = new TextEncoder().encode("fanal dev execution engine");
/** Keccak-256 of the RLP of the empty string: the root of an empty trie. */
const EMPTY_TRIE_ROOT = fromHex("0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
/** RLP of the empty list (EIP-7928). */
export const EMPTY_BLOCK_ACCESS_LIST: Uint8Array = Uint8Array.of(0xc0);
const ZERO_HASH = new Uint8Array(32);
/** EIP-4844, GAS_PER_BLOB. */
const GAS_PER_BLOB = 2n ** 17n;

/** Block hash inputs other than the payload. */
type PayloadAnnex = Pick<PayloadContext, "executionRequests" | "versionedHashes">;

/** Creates a dev execution block that is empty except for withdrawals. Deterministic. */
export function createDevPayload(
  { fork, slot, timestamp, prevRandao, feeRecipient, withdrawals }: PayloadRequest,
  parentHash: Uint8Array,
  blockNumber: number,
  annex: PayloadAnnex = {},
): ExecutionPayload {
  const payload: ExecutionPayload = {
    parentHash,
    feeRecipient,
    stateRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    prevRandao,
    blockNumber,
    gasLimit: DEV_GAS_LIMIT,
    gasUsed: 0,
    timestamp,
    extraData: EXTRA_DATA,
    baseFeePerGas: BASE_FEE_PER_GAS,
    blockHash: ZERO_HASH,
    transactions: [],
    ...(isForkPostCapella(fork) && { withdrawals }),
    ...(isForkPostDeneb(fork) && { blobGasUsed: blobGasOf(annex), excessBlobGas: 0n }),
    ...(isForkPostGloas(fork) && { blockAccessList: EMPTY_BLOCK_ACCESS_LIST, slotNumber: slot }),
  };
  payload.blockHash = devBlockHash(fork, payload, annex);
  return payload;
}

export const blobGasOf = ({ versionedHashes = [] }: PayloadAnnex): bigint =>
  BigInt(versionedHashes.length) * GAS_PER_BLOB;

/**
 * Computes the block hash of the dev execution chain: SHA-256 over the payload's SSZ with a zero block hash, its
 * execution requests and the versioned hashes of its blobs. The input is not an RLP header as on a real chain, but the
 * hash still covers every byte of the payload, the requests (EIP-7685) and the blobs.
 */
export function devBlockHash(
  fork: ForkPostBellatrix,
  payload: ExecutionPayload,
  { executionRequests, versionedHashes = [] }: PayloadAnnex = {},
): Uint8Array {
  const types = sszTypesFor(fork);
  const hash = createHash("sha256").update(types.ExecutionPayload.serialize({ ...payload, blockHash: ZERO_HASH }));
  if (isForkPostElectra(fork) && executionRequests && countRequests(executionRequests) > 0) {
    hash.update(sszTypesFor(fork).ExecutionRequests.serialize(executionRequests));
  }
  for (const versionedHash of versionedHashes) hash.update(versionedHash);
  return new Uint8Array(hash.digest());
}

export function countRequests(executionRequests: ExecutionRequests): number {
  return Object.values(executionRequests).reduce((sum, list) => sum + list.length, 0);
}
