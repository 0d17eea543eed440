import { type ForkPostBellatrix, isForkPostDeneb, isForkPostElectra } from "@lodestar/params";
import {
  type deneb,
  type ExecutionPayload,
  type ExecutionRequests,
  type gloas,
  type RootHex,
  sszTypesFor,
} from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import {
  blobGasOf,
  countRequests,
  createDevPayload,
  DEV_GENESIS_BLOCK_HASH,
  devBlockHash,
  EMPTY_BLOCK_ACCESS_LIST,
} from "./dev-payload.ts";
import {
  type BuiltPayload,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  type ParentPayload,
  type PayloadBlobs,
  type PayloadContext,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
  type TerminalBlockVerdict,
  versionedHashesOf,
} from "./engine.ts";

/** Parent of the first dev payload at the merge: block 0, of which only the hash is known. */
const TERMINAL_BLOCK = { blockHash: DEV_GENESIS_BLOCK_HASH, blockNumber: 0 };

/** Enough for all unfinalized blocks as long as a dev chain finalizes. */
const MAX_KNOWN_BLOCKS = 1024;

/** A proposer fetches its payload within a slot or two. */
const MAX_PENDING_PAYLOADS = 16;

interface KnownBlock {
  blockNumber: number;
  timestamp: number;
}

/** Returns the execution requests for the payload being requested. */
type RequestSource = (request: PayloadRequest) => Promise<ExecutionRequests>;

/** Since deneb: returns the blobs for the payload being requested, with proofs in the fork's format. */
type BlobSource = (request: PayloadRequest) => PayloadBlobs | Promise<PayloadBlobs>;

const NO_BLOBS: PayloadBlobs = { commitments: [], proofs: [], blobs: [] };

/**
 * Built-in execution engine for dev chains. It executes nothing: payloads are empty except for withdrawals, their gas
 * limit is fixed, and since gloas their block access list is empty. Execution requests and blobs, which normally come from transactions, are injected. Its state is only a cache for additional
 * checks, so it may start empty after a restart.
 */
export class DevExecutionEngine implements ExecutionEngine {
  readonly state = "synced";
  readonly clientVersion = null;
  readonly buildsAtOnce = true;
  readonly #known = new Map<RootHex, KnownBlock>();
  readonly #requests = new Map<PayloadId, PayloadRequest>();
  #payloadIds = 0;
  #requestSource: RequestSource | undefined;
  #blobSource: BlobSource | undefined;

  /** Sets the source of execution requests. If no source is set, payloads contain no requests. */
  takeRequestsFrom(source: RequestSource): void {
    this.#requestSource = source;
  }

  /** Sets the source of blobs. If no source is set, payloads contain no blobs. */
  takeBlobsFrom(source: BlobSource): void {
    this.#blobSource = source;
  }

  /** The state never changes. */
  onStateChange(): () => void {
    return () => {};
  }

  async notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict> {
    const expectedHash = devBlockHash(fork, payload, context);
    if (!byteArrayEquals(payload.blockHash, expectedHash)) {
      const message = `The block hash of the payload is ${toRootHex(payload.blockHash)}, but its content${annexText(context)} hashes to ${toRootHex(expectedHash)}.`;
      return { status: "invalid", latestValidHash: null, message };
    }
    const parentHash = toRootHex(payload.parentHash);
    const parent = this.#known.get(parentHash);
    const message = faultOfContent(payload, context) ?? (parent && faultAfterParent(payload, parent));
    if (message !== undefined) {
      return { status: "invalid", latestValidHash: parent === undefined ? null : parentHash, message };
    }
    this.#remember(payload);
    return { status: "valid" };
  }

  /** The dev execution chain has no head: payloads are built on any requested parent. */
  async forkchoiceUpdated(
    _fork: ForkPostBellatrix,
    _state: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    if (!request) return { verdict: { status: "valid" }, payloadId: null };
    const payloadId = `0x${(this.#payloadIds++).toString(16).padStart(16, "0")}`;
    this.#requests.set(payloadId, request);
    evictOldest(this.#requests, MAX_PENDING_PAYLOADS);
    return { verdict: { status: "valid" }, payloadId };
  }

  async getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload> {
    const request = this.#requests.get(id);
    if (!request)
      throw new PayloadUnavailableError(`Unknown payload id ${id}: the dev execution engine has not built it.`);
    const { blockHash, blockNumber } = request.parent;
    const number = (blockNumber ?? this.#numberOf(blockHash)) + 1;
    const executionRequests = isForkPostElectra(fork)
      ? { ...sszTypesFor(fork).ExecutionRequests.defaultValue(), ...(await this.#requestSource?.(request)) }
      : undefined;
    const blobsBundle = isForkPostDeneb(fork) ? ((await this.#blobSource?.(request)) ?? NO_BLOBS) : undefined;
    const versionedHashes = versionedHashesOf(blobsBundle?.commitments ?? []);
    const payload = createDevPayload(request, blockHash, number, { executionRequests, versionedHashes });
    return {
      payload,
      value: 0n,
      ...(blobsBundle && { blobsBundle }),
      ...(executionRequests && { executionRequests }),
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
      `Cannot build a payload on execution block ${toRootHex(blockHash)}: the request lacks its number, ` +
        "and the dev execution engine has not seen it.",
    );
  }

  #remember({ blockHash, blockNumber, timestamp }: ExecutionPayload): void {
    this.#known.set(toRootHex(blockHash), { blockNumber, timestamp });
    evictOldest(this.#known, MAX_KNOWN_BLOCKS);
  }
}

function evictOldest<K>(map: Map<K, unknown>, maxSize: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= maxSize) return;
    map.delete(oldest);
  }
}

/** Describes the hash inputs other than the payload. */
function annexText({ executionRequests, versionedHashes = [] }: PayloadContext): string {
  const requests = executionRequests ? countRequests(executionRequests) : 0;
  const parts = [
    ...(requests > 0 ? [`${requests} execution requests`] : []),
    ...(versionedHashes.length > 0 ? [`${versionedHashes.length} blob commitments`] : []),
  ];
  return parts.length === 0 ? "" : ` with the ${parts.join(" and ")} of the block`;
}

/** Checks for content that cannot occur on a chain without transactions. The blob limit is left to the beacon chain. */
function faultOfContent(payload: ExecutionPayload, context: PayloadContext): string | undefined {
  const { transactions } = payload;
  if (transactions.length > 0) {
    return `The payload has ${transactions.length} transactions, which the dev execution engine does not execute.`;
  }
  const { blobGasUsed = 0n } = payload as Partial<deneb.ExecutionPayload>;
  const expected = blobGasOf(context);
  if (blobGasUsed !== expected) {
    const { length } = context.versionedHashes ?? [];
    return `The payload uses ${blobGasUsed} blob gas, but the ${length} blobs of the block use ${expected}.`;
  }
  const { blockAccessList } = payload as Partial<gloas.ExecutionPayload>;
  if (blockAccessList !== undefined && !byteArrayEquals(blockAccessList, EMPTY_BLOCK_ACCESS_LIST)) {
    return `The payload's block access list has ${blockAccessList.length} bytes, but that of the dev execution engine is empty (0xc0).`;
  }
  return undefined;
}

function faultAfterParent(payload: ExecutionPayload, parent: KnownBlock): string | undefined {
  if (payload.blockNumber !== parent.blockNumber + 1) {
    return `The payload has block number ${payload.blockNumber}, expected ${parent.blockNumber + 1} after its parent.`;
  }
  if (payload.timestamp <= parent.timestamp) {
    return `The payload's timestamp ${payload.timestamp} is not later than its parent's, ${parent.timestamp}.`;
  }
  return undefined;
}
