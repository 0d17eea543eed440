import { createHash } from "node:crypto";
import { type ForkPostBellatrix, type ForkPostDeneb, VERSIONED_HASH_VERSION_KZG } from "@lodestar/params";
import type { BlobsBundle, capella, ExecutionPayload, ExecutionRequests, RootHex, Slot } from "@lodestar/types";
import { OperationalError } from "../errors/operational-error.ts";

/** Context that a beacon block provides for its payload. Fields are absent before the fork that introduced them. */
export interface PayloadContext {
  /** Since deneb. */
  parentBeaconBlockRoot?: Uint8Array;
  /** Since deneb: versioned hashes of the blob commitments, in order. */
  versionedHashes?: readonly Uint8Array[];
  /** Since electra. Since gloas with the requests of builders. */
  executionRequests?: ExecutionRequests;
}

export type PayloadVerdict =
  | { status: "valid" }
  /** Not decided yet (sync/optimistic.md, NOT_VALIDATED). */
  | { status: "optimistic" }
  | {
      status: "invalid";
      /** The latest valid ancestor, or null if unknown. */
      latestValidHash: RootHex | null;
      /** A complete sentence. */
      message: string;
    };

/** The zero hash represents a block before the merge (bellatrix/fork-choice.md). */
export interface ForkchoiceState {
  headBlockHash: RootHex;
  safeBlockHash: RootHex;
  finalizedBlockHash: RootHex;
  /** True for a former head, whose verdict says nothing about the engine's sync state. */
  isBehind?: boolean;
}

/** Identifies a payload being built. Only valid for the engine that issued it. */
export type PayloadId = string;

/** Result of a forkchoice update. */
export interface ForkchoiceUpdate {
  /** Verdict on the head's payload. */
  verdict: PayloadVerdict;
  /** Null if no payload was requested, or the engine cannot build on that head. */
  payloadId: PayloadId | null;
}

export interface ParentPayload {
  blockHash: Uint8Array;
  /** Null if the state does not contain the number. The engine then looks the block up by hash. */
  blockNumber: number | null;
}

/** A block of the engine's own chain. */
export interface EngineBlock {
  hash: RootHex;
  number: number;
}

/** Attributes of a payload to build. */
export interface PayloadRequest {
  fork: ForkPostBellatrix;
  slot: Slot;
  /** The terminal block until the merge is complete. */
  parent: ParentPayload;
  parentBeaconBlockRoot: Uint8Array;
  timestamp: number;
  prevRandao: Uint8Array;
  feeRecipient: Uint8Array;
  /** Empty before capella. */
  withdrawals: capella.Withdrawal[];
  /**
   * Since gloas: gas limit towards which the payload moves. Required by execution clients; in-process engines keep
   * their own gas limit if it is absent.
   */
  targetGasLimit?: number;
  /** Time in milliseconds after which an engine that builds at once adds no more transactions. Unlimited by default. */
  fillingMs?: number;
}

/** A payload's blobs with their commitments and proofs. */
export type PayloadBlobs = BlobsBundle & {
  /** Cells of each blob, if known. Missing cells are computed. */
  cells?: readonly Uint8Array[][];
};

export interface BuiltPayload {
  payload: ExecutionPayload;
  /** Since electra. */
  executionRequests?: ExecutionRequests;
  /** Since deneb. */
  blobsBundle?: PayloadBlobs;
  /** Value paid to the fee recipient, in wei. */
  value: bigint;
  /** Since deneb: true if this payload is to be preferred to any bid because builders appear to censor transactions. */
  shouldOverrideBuilder?: boolean;
}

/** A blob from the engine's transaction pool. */
export interface PooledBlob {
  blob: Uint8Array;
  /** One proof per blob; since fulu, one proof per cell. */
  proofs: readonly Uint8Array[];
}

/** Cells of a blob from the engine's transaction pool. */
export interface PooledCells {
  /** The requested cells in ascending order, with null for missing cells. */
  cells: readonly (Uint8Array | null)[];
  /** One proof per cell; null for missing cells. */
  proofs: readonly (Uint8Array | null)[];
}

/** The part of a payload that its header only commits to. */
export interface PayloadBody {
  transactions: Uint8Array[];
  /** Null before capella. */
  withdrawals: capella.Withdrawal[] | null;
  /** Null before gloas, or if the engine has pruned it. */
  blockAccessList: Uint8Array | null;
}

/** No payload is available. The message is a complete sentence stating the reason. */
export class PayloadUnavailableError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "PayloadUnavailableError";
  }
}

/**
 * The engine is unavailable or returned an invalid response, so its answer is unknown. The message is a complete
 * sentence.
 */
export class EngineUnavailableError extends OperationalError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EngineUnavailableError";
  }
}

/**
 * State of the engine according to its last responses. "online": it responds, but its sync state is unknown.
 * "unauthorized": it rejects the JWT.
 */
export type EngineState = "online" | "syncing" | "synced" | "offline" | "unauthorized";

/** Result of engine_getClientVersionV1, such as "GE", "Geth", and the first four bytes of the commit. */
export interface EngineClientVersion {
  code: string;
  name: string;
  version: string;
  commit: string;
}

/** Verdict on the parent of the merge block (bellatrix/fork-choice.md, validate_merge_block). */
export type TerminalBlockVerdict = "terminal" | "not-terminal" | "unknown";

/**
 * The execution layer as seen by the chain (bellatrix/beacon-chain.md, Execution engine). Calls reject with an
 * `EngineUnavailableError` if the engine is unavailable.
 */
export interface ExecutionEngine {
  readonly state: EngineState;
  /** Null until the engine has reported its version. */
  readonly clientVersion: EngineClientVersion | null;
  /** True if payloads are complete immediately, so preparing them early is pointless. */
  readonly buildsAtOnce?: true;
  /** Resolves on an unrecoverable failure. Omitted by engines that cannot fail this way. */
  readonly failed?: Promise<Error>;
  /** Returns a function that unsubscribes. */
  onStateChange(listener: (state: EngineState) => void): () => void;
  notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict>;
  /**
   * If a request is given, the engine also starts building a payload on top of the head. `fork` is the fork of the
   * request or, if there is no request, of the head.
   */
  forkchoiceUpdated(
    fork: ForkPostBellatrix,
    state: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate>;
  /** Returns the payload built so far. Rejects with a `PayloadUnavailableError` if the id is unknown or expired. */
  getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload>;
  /**
   * Starts building the payload that is likely to be requested next, on top of a payload built by the engine. A later
   * request returns this payload unless its inputs have changed. Omitted by engines that would not benefit.
   */
  buildAhead?(request: PayloadRequest): void;
  /** Returns the terminal proof-of-work block, or null if there is none yet. */
  terminalBlock(): Promise<ParentPayload | null>;
  judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict>;
  /**
   * Returns the blobs for the versioned hashes, in order, with null for missing blobs. Since fulu, engines may return
   * either all blobs or none. Omitted by engines without blobs.
   */
  getBlobs?(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]>;
  /**
   * Returns the cells with the given indices of each blob, with null for missing blobs. Omitted by engines without
   * cells.
   */
  getCells?(versionedHashes: readonly Uint8Array[], indices: readonly number[]): Promise<(PooledCells | null)[]>;
  /** Returns the bodies of payloads by block hash, with null for unknown blocks. Omitted by in-process engines. */
  getPayloadBodiesByHash?(blockHashes: readonly RootHex[]): Promise<(PayloadBody | null)[]>;
  /** Returns the bodies of consecutive payloads, with null for unknown blocks. Omitted by in-process engines. */
  getPayloadBodiesByRange?(start: number, count: number): Promise<(PayloadBody | null)[]>;
  /** Returns the newest block of the engine's chain. Omitted by engines that always have all blocks. */
  latestBlock?(): Promise<EngineBlock | null>;
  /** Call counts by method and outcome. Omitted by in-process engines. */
  callCounts?(): Iterable<readonly [labels: { method: string; outcome: string }, count: number]>;
  /** Total milliseconds spent waiting for responses. Omitted by in-process engines. */
  waitedMs?(): number;
  /** Aborts calls and closes connections. Omitted by in-process engines. */
  close?(): void;
}

/** Returns true if calls can be sent to the engine. */
export const isReachable = (state: EngineState): boolean => state !== "offline" && state !== "unauthorized";

/** deneb/beacon-chain.md, kzg_commitment_to_versioned_hash. */
export function versionedHashesOf(commitments: readonly Uint8Array[]): Uint8Array[] {
  return commitments.map((commitment) => {
    const hash = new Uint8Array(createHash("sha256").update(commitment).digest());
    hash[0] = VERSIONED_HASH_VERSION_KZG;
    return hash;
  });
}

/** Used by nodes without an execution engine. Such a node follows the chain optimistically and cannot propose. */
export class NoExecutionEngine implements ExecutionEngine {
  readonly state = "offline";
  readonly clientVersion = null;

  onStateChange(): () => void {
    return () => {};
  }

  async notifyNewPayload(): Promise<PayloadVerdict> {
    return { status: "optimistic" };
  }

  async forkchoiceUpdated(): Promise<ForkchoiceUpdate> {
    return { verdict: { status: "optimistic" }, payloadId: null };
  }

  async getPayload(): Promise<BuiltPayload> {
    throw noEngine();
  }

  async terminalBlock(): Promise<ParentPayload | null> {
    throw noEngine();
  }

  async judgeTerminalBlock(): Promise<TerminalBlockVerdict> {
    return "unknown";
  }
}

const noEngine = (): PayloadUnavailableError =>
  new PayloadUnavailableError("No block can be built: this node has no execution engine.");
