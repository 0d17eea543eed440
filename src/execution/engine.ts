import { createHash } from "node:crypto";
import { type ForkPostBellatrix, VERSIONED_HASH_VERSION_KZG } from "@lodestar/params";
import type { BlobsBundle, capella, ExecutionPayload, ExecutionRequests, RootHex, Slot } from "@lodestar/types";

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
interface ForkchoiceState {
  headBlockHash: RootHex;
  safeBlockHash: RootHex;
  finalizedBlockHash: RootHex;
}

interface ParentPayload {
  blockHash: Uint8Array;
  /** Null when the state does not tell it; the engine then looks it up by the hash. */
  blockNumber: number | null;
}

export interface PayloadRequest {
  fork: ForkPostBellatrix;
  slot: Slot;
  /** Null while the merge transition is not complete: the payload is then the first and follows the terminal block. */
  parent: ParentPayload | null;
  parentBeaconBlockRoot: Uint8Array;
  timestamp: number;
  prevRandao: Uint8Array;
  feeRecipient: Uint8Array;
  /** Empty before capella. */
  withdrawals: capella.Withdrawal[];
}

export interface BuiltPayload {
  payload: ExecutionPayload;
  /** Since electra. */
  executionRequests?: ExecutionRequests;
  /** Since deneb. */
  blobsBundle?: BlobsBundle;
  /** What the payload earns its fee recipient, in wei. */
  value: bigint;
}

/** No payload can be built; the message is a whole sentence that says why. */
export class PayloadUnavailableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PayloadUnavailableError";
  }
}

/** The execution layer as the chain sees it (bellatrix/beacon-chain.md, Execution engine). */
export interface ExecutionEngine {
  /** Whether the engine can be reached. */
  readonly online: boolean;
  notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict>;
  forkchoiceUpdated(state: ForkchoiceState): Promise<void>;
  /** Rejects with a `PayloadUnavailableError` when no payload can be had now. */
  buildPayload(request: PayloadRequest): Promise<BuiltPayload>;
}

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
  readonly online = false;

  async notifyNewPayload(): Promise<PayloadVerdict> {
    return { status: "optimistic" };
  }

  async forkchoiceUpdated(): Promise<void> {}

  async buildPayload(): Promise<BuiltPayload> {
    throw new PayloadUnavailableError("No block can be built: this node has no execution engine to build its payload.");
  }
}
