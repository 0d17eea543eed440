import { type ForkPostBellatrix, isForkPostDeneb, isForkPostElectra } from "@lodestar/params";
import { type deneb, type ExecutionPayload, type ExecutionRequests, type RootHex, sszTypesFor } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { blobGasOf, countRequests, createDevPayload, DEV_GENESIS_BLOCK_HASH, devBlockHash } from "./dev-payload.ts";
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

/** What is to be in the payload for a request, beside what the request itself says. */
type RequestSource = (request: PayloadRequest) => Promise<ExecutionRequests>;

/** The blobs of the payload for a request of deneb or later, with proofs as its fork has them. */
type BlobSource = (request: PayloadRequest) => PayloadBlobs | Promise<PayloadBlobs>;

const NO_BLOBS: PayloadBlobs = { commitments: [], proofs: [], blobs: [] };

/**
 * The built-in execution engine of dev chains. It stands where an execution client would and executes nothing: its
 * blocks are empty but for withdrawals. Execution requests and blobs, which elsewhere come from transactions, it is given: a block
 * may commit to any blobs, if its payload was made with these. What it remembers only sharpens its judgement, so it works from an empty
 * memory after every start.
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

  /** Has payloads make the requests that the source tells; without one they make none. */
  takeRequestsFrom(source: RequestSource): void {
    this.#requestSource = source;
  }

  /** Has payloads carry the blobs that the source gives; without one they carry none. */
  takeBlobsFrom(source: BlobSource): void {
    this.#blobSource = source;
  }

  /** It is always there. */
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
      const message = `The payload's block hash is ${toRootHex(payload.blockHash)} but its content${annexText(context)} has the hash ${toRootHex(expectedHash)}.`;
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
    const number = (blockNumber ?? this.#numberOf(blockHash)) + 1;
    const executionRequests = isForkPostElectra(fork)
      ? ((await this.#requestSource?.(request)) ?? sszTypesFor(fork).ExecutionRequests.defaultValue())
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

/** What goes into the hash beside the payload, as a part of a sentence. */
function annexText({ executionRequests, versionedHashes = [] }: PayloadContext): string {
  const requests = executionRequests ? countRequests(executionRequests) : 0;
  const parts = [
    ...(requests > 0 ? [`${requests} execution requests`] : []),
    ...(versionedHashes.length > 0 ? [`${versionedHashes.length} blob commitments`] : []),
  ];
  return parts.length === 0 ? "" : ` with the ${parts.join(" and ")} of the block`;
}

/** What the payload cannot contain in a chain without transactions. How many blobs there may be is a rule of the beacon chain alone. */
function faultOfContent(payload: ExecutionPayload, context: PayloadContext): string | undefined {
  const { transactions } = payload;
  if (transactions.length > 0) {
    return `The payload has ${transactions.length} transactions; the dev execution engine executes none.`;
  }
  const { blobGasUsed = 0n } = payload as Partial<deneb.ExecutionPayload>;
  const expected = blobGasOf(context);
  if (blobGasUsed !== expected) {
    const { length } = context.versionedHashes ?? [];
    return `The payload has used ${blobGasUsed} blob gas, but the ${length} blobs of the block use ${expected}.`;
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
