import type { ForkName } from "@lodestar/params";
import type {
  Attestation,
  AttesterSlashing,
  altair,
  capella,
  deneb,
  gloas,
  LightClientFinalityUpdate,
  LightClientOptimisticUpdate,
  phase0,
  RootHex,
  SignedBeaconBlock,
  SingleAttestation,
  SSEPayloadAttributes,
} from "@lodestar/types";
import type { ColumnSidecar, DataSidecar } from "../data/sidecar.ts";
import type { Logger } from "../log/logger.ts";
import type { Checkpoint } from "./fork-choice/types.ts";

export interface HeadEvent {
  slot: number;
  root: RootHex;
  stateRoot: RootHex;
  /** Before gloas always "full". */
  payloadStatus: "empty" | "full";
  epochTransition: boolean;
  previousDutyDependentRoot: RootHex;
  currentDutyDependentRoot: RootHex;
  executionOptimistic: boolean;
}

export interface ReorgEvent {
  slot: number;
  depth: number;
  oldHead: RootHex;
  newHead: RootHex;
  oldHeadState: RootHex;
  newHeadState: RootHex;
  executionOptimistic: boolean;
}

/** A block that passed gossip validation. It may still turn out to be invalid. */
interface GossipBlockEvent {
  slot: number;
  root: RootHex;
  signed: SignedBeaconBlock;
}

/** A sidecar that passed gossip validation, with the root of its block. */
export interface SidecarEvent<Sidecar extends DataSidecar> {
  slot: number;
  root: RootHex;
  sidecar: Sidecar;
}

export interface BlockEvent {
  slot: number;
  root: RootHex;
  executionOptimistic: boolean;
}

/** An envelope that matches its block and is signed by the builder. Its payload may still turn out to be invalid. */
interface GossipPayloadEvent {
  slot: number;
  root: RootHex;
  signed: gloas.SignedExecutionPayloadEnvelope;
}

/** A payload was imported for a block since gloas. */
export interface PayloadEvent {
  slot: number;
  /** Root of the block. */
  root: RootHex;
  blockHash: RootHex;
  /** Infinity for a payload built by the proposer. */
  builderIndex: number;
  executionOptimistic: boolean;
}

/** Events of the chain. */
interface ChainEventMap {
  blockGossip: GossipBlockEvent;
  block: BlockEvent;
  payloadGossip: GossipPayloadEvent;
  /** A block is held until the payload of its parent, whose root it is, has been imported. */
  payloadAwaited: { root: RootHex };
  /** The payload and the data of a block can be attested to by the payload timeliness committee. */
  payloadAvailable: { slot: number; root: RootHex };
  payload: PayloadEvent;
  /** The execution engine rejected the payload of a block, which stays in the chain without it. */
  payloadInvalid: { root: RootHex };
  /** A single block was imported. `seconds` is the wall-clock duration of the import. */
  blockImported: { slot: number; seconds: number };
  head: HeadEvent;
  /** The payload status of the head changed, but not its block. */
  headPayload: HeadEvent;
  /** The head's payload was found valid after the head event. */
  headVerified: { slot: number; root: RootHex };
  reorg: ReorgEvent;
  justified: Checkpoint;
  /** The fast confirmation rule was run in a slot; the block is the newest confirmed one. */
  fastConfirmation: { root: RootHex; slot: number; currentSlot: number };
  finalized: Checkpoint & { stateRoot: RootHex; executionOptimistic: boolean };
  attestation: Attestation | SingleAttestation;
  /** A vote of a member of a payload timeliness committee, a bid and preferences that passed gossip validation. */
  payloadAttestation: gloas.PayloadAttestationMessage;
  executionBid: gloas.SignedExecutionPayloadBid;
  proposerPreferences: gloas.SignedProposerPreferences;
  voluntaryExit: phase0.SignedVoluntaryExit;
  proposerSlashing: phase0.ProposerSlashing;
  attesterSlashing: AttesterSlashing;
  blsToExecutionChange: capella.SignedBLSToExecutionChange;
  contribution: altair.SignedContributionAndProof;
  blobSidecar: SidecarEvent<deneb.BlobSidecar>;
  columnSidecar: SidecarEvent<ColumnSidecar>;
  /** Sidecars reconstructed by this node or created from its execution client's blobs. The network broadcasts them. */
  sidecarsCreated: { sidecars: readonly DataSidecar[] };
  /** Objects since gloas that validators and builders of this node made without the API. The network broadcasts them. */
  blockCreated: { signed: SignedBeaconBlock };
  payloadCreated: { signed: gloas.SignedExecutionPayloadEnvelope };
  payloadAttestationsCreated: { messages: readonly gloas.PayloadAttestationMessage[] };
  executionBidCreated: { signed: gloas.SignedExecutionPayloadBid };
  proposerPreferencesCreated: { signed: gloas.SignedProposerPreferences };
  lightClientFinalityUpdate: LightClientFinalityUpdate;
  lightClientOptimisticUpdate: LightClientOptimisticUpdate;
  /** Attributes of the next slot's payload. Only computed while there are listeners. */
  payloadAttributes: { version: ForkName; data: SSEPayloadAttributes };
}

export type ChainEventName = keyof ChainEventMap;
type ChainListener<K extends ChainEventName> = (event: ChainEventMap[K]) => void;

export class ChainEvents {
  readonly #logger: Logger;
  readonly #listeners = new Map<ChainEventName, Set<ChainListener<never>>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns an unsubscribe function. */
  on<K extends ChainEventName>(name: K, listener: ChainListener<K>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  hasListeners(name: ChainEventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  /** Calls all listeners. Errors are logged and do not affect the chain or other listeners. */
  publish<K extends ChainEventName>(name: K, event: ChainEventMap[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as ChainListener<K>)(event);
      } catch (error) {
        this.#logger.error("Chain event listener failed", { event: name, error });
      }
    }
  }
}
