import { type ForkPostBellatrix, isForkPostDeneb, isForkPostElectra } from "@lodestar/params";
import { type ExecutionPayload, type RootHex, sszTypesFor } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { createDevPayload, DEV_GENESIS_BLOCK_HASH, devBlockHash } from "./dev-payload.ts";
import type { BuiltPayload, ExecutionEngine, PayloadContext, PayloadRequest, PayloadVerdict } from "./engine.ts";

/**
 * The block from which the dev execution chain goes on at the merge transition: its block 0, of which only the hash is
 * known.
 */
const TERMINAL_BLOCK = { blockHash: DEV_GENESIS_BLOCK_HASH, blockNumber: 0 };

/** Enough to know the parents of all blocks that are not finalized while a dev chain finalizes. */
const REMEMBERED_BLOCKS = 1024;

interface KnownBlock {
  blockNumber: number;
  timestamp: number;
}

/**
 * The built-in execution engine of dev chains. It stands where an execution client would and executes nothing: its
 * blocks are empty but for withdrawals. What it remembers only sharpens its judgement, so it works from an empty memory
 * after every start.
 */
export class DevExecutionEngine implements ExecutionEngine {
  readonly online = true;
  readonly #known = new Map<RootHex, KnownBlock>();

  async notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict> {
    const expectedHash = devBlockHash(fork, payload);
    if (!byteArrayEquals(payload.blockHash, expectedHash)) {
      const message = `The payload's block hash is ${toRootHex(payload.blockHash)} but its content has the hash ${toRootHex(expectedHash)}.`;
      return { status: "invalid", latestValidHash: null, message };
    }
    const parentHash = toRootHex(payload.parentHash);
    const parent = this.#known.get(parentHash);
    const message = faultOfContent(fork, payload, context) ?? (parent && faultAfterParent(payload, parent));
    if (message !== undefined) {
      return { status: "invalid", latestValidHash: parent === undefined ? null : parentHash, message };
    }
    this.#remember(payload);
    return { status: "valid" };
  }

  /** The dev execution chain has no head of its own: it builds on whichever parent a request names. */
  async forkchoiceUpdated(): Promise<void> {}

  async buildPayload(request: PayloadRequest): Promise<BuiltPayload> {
    const { fork, parent } = request;
    const { blockHash, blockNumber } = parent ?? TERMINAL_BLOCK;
    const payload = createDevPayload(request, blockHash, (blockNumber ?? this.#numberOf(blockHash)) + 1);
    return {
      payload,
      value: 0n,
      ...(isForkPostDeneb(fork) && { blobsBundle: { commitments: [], proofs: [], blobs: [] } }),
      ...(isForkPostElectra(fork) && { executionRequests: sszTypesFor(fork).ExecutionRequests.defaultValue() }),
    };
  }

  #numberOf(blockHash: Uint8Array): number {
    const block = this.#known.get(toRootHex(blockHash));
    if (block !== undefined) return block.blockNumber;
    throw new Error(
      `No payload can be built on the execution block ${toRootHex(blockHash)}: the request does not tell its number, ` +
        "and the dev execution engine has not seen it.",
    );
  }

  #remember({ blockHash, blockNumber, timestamp }: ExecutionPayload): void {
    this.#known.set(toRootHex(blockHash), { blockNumber, timestamp });
    if (this.#known.size <= REMEMBERED_BLOCKS) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }
}

/** What a chain without transactions can never contain: requests and blobs come from transactions only. */
function faultOfContent(
  fork: ForkPostBellatrix,
  { transactions }: ExecutionPayload,
  { versionedHashes = [], executionRequests }: PayloadContext,
): string | undefined {
  if (transactions.length > 0) {
    return `The payload has ${transactions.length} transactions; the dev execution engine executes none.`;
  }
  if (versionedHashes.length > 0) {
    return `The block has ${versionedHashes.length} blob commitments, but the payload has no transaction with blobs.`;
  }
  if (isForkPostElectra(fork) && executionRequests !== undefined) {
    const requests = Object.values(executionRequests).reduce((sum, list) => sum + list.length, 0);
    if (requests > 0) return `The block has ${requests} execution requests, but the payload makes none.`;
  }
  return undefined;
}

function faultAfterParent(payload: ExecutionPayload, parent: KnownBlock): string | undefined {
  if (payload.blockNumber !== parent.blockNumber + 1) {
    return `The payload has block number ${payload.blockNumber}; after its parent it must be ${parent.blockNumber + 1}.`;
  }
  if (payload.timestamp <= parent.timestamp) {
    return `The payload's timestamp ${payload.timestamp} is not later than its parent's, ${parent.timestamp}.`;
  }
  return undefined;
}
