import { type ForkPostBellatrix, isForkPostDeneb, isForkPostElectra } from "@lodestar/params";
import { type ExecutionPayload, type RootHex, sszTypesFor } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { createDevPayload, DEV_GENESIS_BLOCK_HASH, devBlockHash } from "./dev-payload.ts";
import {
  type BuiltPayload,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  type ParentPayload,
  type PayloadContext,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
  type TerminalBlockVerdict,
} from "./engine.ts";

/**
 * The block from which the dev execution chain goes on at the merge transition: its block 0, of which only the hash is
 * known.
 */
const TERMINAL_BLOCK = { blockHash: DEV_GENESIS_BLOCK_HASH, blockNumber: 0 };

/** Enough to know the parents of all blocks that are not finalized while a dev chain finalizes. */
const REMEMBERED_BLOCKS = 1024;

/** A proposer takes its payload within a slot or two. */
const REMEMBERED_REQUESTS = 16;

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
  readonly state = "synced";
  readonly clientVersion = null;
  readonly buildsAtOnce = true;
  readonly #known = new Map<RootHex, KnownBlock>();
  readonly #requests = new Map<PayloadId, PayloadRequest>();
  #payloadIds = 0;

  /** It is always there. */
  onStateChange(): () => void {
    return () => {};
  }

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
  async forkchoiceUpdated(
    _fork: ForkPostBellatrix,
    _state: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    if (!request) return { verdict: { status: "valid" }, payloadId: null };
    const payloadId = `0x${(this.#payloadIds++).toString(16).padStart(16, "0")}`;
    this.#requests.set(payloadId, request);
    forgetOldest(this.#requests, REMEMBERED_REQUESTS);
    return { verdict: { status: "valid" }, payloadId };
  }

  async getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload> {
    const request = this.#requests.get(id);
    if (!request) throw new PayloadUnavailableError(`The dev execution engine knows no payload with the id ${id}.`);
    const { blockHash, blockNumber } = request.parent;
    const payload = createDevPayload(request, blockHash, (blockNumber ?? this.#numberOf(blockHash)) + 1);
    return {
      payload,
      value: 0n,
      ...(isForkPostDeneb(fork) && { blobsBundle: { commitments: [], proofs: [], blobs: [] } }),
      ...(isForkPostElectra(fork) && { executionRequests: sszTypesFor(fork).ExecutionRequests.defaultValue() }),
    };
  }

  async terminalBlock(): Promise<ParentPayload> {
    return TERMINAL_BLOCK;
  }

  async judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict> {
    return blockHash === toRootHex(DEV_GENESIS_BLOCK_HASH) ? "terminal" : "not-terminal";
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
    forgetOldest(this.#known, REMEMBERED_BLOCKS);
  }
}

function forgetOldest<K>(map: Map<K, unknown>, kept: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= kept) return;
    map.delete(oldest);
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
