import { createHash } from "node:crypto";
import { type ForkPostBellatrix, type ForkPostDeneb, VERSIONED_HASH_VERSION_KZG } from "@lodestar/params";
import type { BlobsBundle, capella, ExecutionPayload, ExecutionRequests, RootHex, Slot } from "@lodestar/types";
import { OperationalError } from "../errors/operational-error.ts";

/** What the beacon block says about its payload; every part is absent before the fork that brought it. */
export interface PayloadContext {
  /** Since deneb. */
  parentBeaconBlockRoot?: Uint8Array;
  /** Since deneb: of the block's blob commitments, in their order. */
  versionedHashes?: readonly Uint8Array[];
  /** Since electra. */
  executionRequests?: ExecutionRequests;
}

export type PayloadVerdict =
  | { status: "valid" }
  /** The engine cannot tell yet (sync/optimistic.md: NOT_VALIDATED). */
  | { status: "optimistic" }
  | {
      status: "invalid";
      /** The youngest ancestor known to be valid, null when the engine does not know it. */
      latestValidHash: RootHex | null;
      /** A whole sentence. */
      message: string;
    };

/** The zero hash stands for a block from before the merge (bellatrix/fork-choice.md). */
export interface ForkchoiceState {
  headBlockHash: RootHex;
  safeBlockHash: RootHex;
  finalizedBlockHash: RootHex;
  /** The head is one that the chain has left behind, so that the answer does not tell whether the engine follows the chain. */
  isBehind?: boolean;
}

/** A payload that the engine is building. Only the engine that gave the id knows it. */
export type PayloadId = string;

export interface ForkchoiceUpdate {
  /** On the head's payload. */
  verdict: PayloadVerdict;
  /** Null when nothing was to be built, or the engine cannot build on that head. */
  payloadId: PayloadId | null;
}

export interface ParentPayload {
  blockHash: Uint8Array;
  /** Null when the state does not tell it; the engine then looks it up by the hash. */
  blockNumber: number | null;
}

/** A block of the engine's own chain. */
export interface EngineBlock {
  hash: RootHex;
  number: number;
}

export interface PayloadRequest {
  fork: ForkPostBellatrix;
  slot: Slot;
  /** The terminal block while the merge transition is not complete. */
  parent: ParentPayload;
  parentBeaconBlockRoot: Uint8Array;
  timestamp: number;
  prevRandao: Uint8Array;
  feeRecipient: Uint8Array;
  /** Empty before capella. */
  withdrawals: capella.Withdrawal[];
}

/** The blobs of a payload with their commitments and proofs. */
export type PayloadBlobs = BlobsBundle & {
  /** The cells of each blob, if the engine knows them; they are computed from the blobs otherwise. */
  cells?: readonly Uint8Array[][];
};

export interface BuiltPayload {
  payload: ExecutionPayload;
  /** Since electra. */
  executionRequests?: ExecutionRequests;
  /** Since deneb. */
  blobsBundle?: PayloadBlobs;
  /** What the payload earns its fee recipient, in wei. */
  value: bigint;
  /** Since deneb: whether it is to be preferred to whatever a builder bids, because builders seem to censor. */
  shouldOverrideBuilder?: boolean;
}

/** A blob of the engine's pool of transactions. */
export interface PooledBlob {
  blob: Uint8Array;
  /** One of the blob, from fulu on one of each of its cells. */
  proofs: readonly Uint8Array[];
}

/** No payload can be built; the message is a whole sentence that says why. */
export class PayloadUnavailableError extends OperationalError {
  constructor(message: string) {
    super(message);
    this.name = "PayloadUnavailableError";
  }
}

/** The engine could not be asked, or gave no usable answer; nothing is known of what it was asked about. A whole sentence. */
export class EngineUnavailableError extends OperationalError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EngineUnavailableError";
  }
}

/**
 * What the engine's last answers tell of it. "online": it answers, but has not said yet whether it follows the chain.
 * "unauthorized": it refuses the node's token.
 */
export type EngineState = "online" | "syncing" | "synced" | "offline" | "unauthorized";

/** As engine_getClientVersionV1 names a client: "GE" and "Geth", with four bytes of the commit in hexadecimal. */
export interface EngineClientVersion {
  code: string;
  name: string;
  version: string;
  commit: string;
}

/** Whether the block that the first payload of a chain goes on from ends proof of work (bellatrix/fork-choice.md, validate_merge_block). */
export type TerminalBlockVerdict = "terminal" | "not-terminal" | "unknown";

/**
 * The execution layer as the chain sees it (bellatrix/beacon-chain.md, Execution engine). Everything that asks it rejects with an
 * `EngineUnavailableError` when there is no answer.
 */
export interface ExecutionEngine {
  readonly state: EngineState;
  /** Null while the engine has not told it. */
  readonly clientVersion: EngineClientVersion | null;
  /** A payload is complete as soon as it is asked for, so that nothing is gained by asking early or by waiting. */
  readonly buildsAtOnce?: true;
  /** Returns the function that ends it. */
  onStateChange(listener: (state: EngineState) => void): () => void;
  notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict>;
  /** With a request, the engine also begins to build that payload on the head. The fork is that of the head, or of the request. */
  forkchoiceUpdated(
    fork: ForkPostBellatrix,
    state: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate>;
  /** What was built up to now. Rejects with a `PayloadUnavailableError` when the engine does not know the id (any more). */
  getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload>;
  /** The last block of proof of work; null while there is none. */
  terminalBlock(): Promise<ParentPayload | null>;
  judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict>;
  /**
   * The blobs of these versioned hashes, in their order, as far as the engine has them: null stands for one that it lacks, and from fulu on
   * it gives all or none. Left out by an engine that has no blobs.
   */
  getBlobs?(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]>;
  /** The newest block that the engine has taken as its head; left out by an engine that cannot lack blocks. */
  latestBlock?(): Promise<EngineBlock | null>;
  /** How many calls of each method ended in which way; left out by an engine that is not asked over a connection. */
  callCounts?(): Iterable<readonly [labels: { method: string; outcome: string }, count: number]>;
  /** For how many milliseconds up to now any answer was waited for; left out by an engine that nobody waits for. */
  waitedMs?(): number;
  /** Ends what is under way, and connections; left out where there are none. */
  close?(): void;
}

/** Before the engine says anything else, it can be asked. */
export const isReachable = (state: EngineState): boolean => state !== "offline" && state !== "unauthorized";

/** deneb/beacon-chain.md, kzg_commitment_to_versioned_hash. */
export function versionedHashesOf(commitments: readonly Uint8Array[]): Uint8Array[] {
  return commitments.map((commitment) => {
    const hash = new Uint8Array(createHash("sha256").update(commitment).digest());
    hash[0] = VERSIONED_HASH_VERSION_KZG;
    return hash;
  });
}

/** Stands where a node has no execution engine: it follows the chain optimistically and cannot propose. */
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
  new PayloadUnavailableError("No block can be built: this node has no execution engine to build its payload.");
