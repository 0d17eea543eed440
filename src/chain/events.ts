import type { ForkName } from "@lodestar/params";
import type {
  Attestation,
  AttesterSlashing,
  altair,
  capella,
  deneb,
  fulu,
  LightClientFinalityUpdate,
  LightClientOptimisticUpdate,
  phase0,
  RootHex,
  SignedBeaconBlock,
  SingleAttestation,
  SSEPayloadAttributes,
} from "@lodestar/types";
import type { DataSidecar } from "../data/sidecar.ts";
import type { Logger } from "../log/logger.ts";
import type { Checkpoint } from "./fork-choice/types.ts";

export interface HeadEvent {
  slot: number;
  root: RootHex;
  stateRoot: RootHex;
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

/** A block that may be propagated: it passed the gossip rules, but it may still turn out not to be valid. */
interface GossipBlockEvent {
  slot: number;
  root: RootHex;
  signed: SignedBeaconBlock;
}

/** The same for data of a block, which has that root. */
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

/** What happens on the chain, for everybody who wants to follow it. */
interface ChainEventMap {
  blockGossip: GossipBlockEvent;
  block: BlockEvent;
  /** A block that came alone has been taken onto the chain, which took that long in real time. */
  blockImported: { slot: number; seconds: number };
  head: HeadEvent;
  /** The payload of the head was found valid after the head had been told. */
  headVerified: { slot: number; root: RootHex };
  reorg: ReorgEvent;
  justified: Checkpoint;
  finalized: Checkpoint & { stateRoot: RootHex; executionOptimistic: boolean };
  attestation: Attestation | SingleAttestation;
  voluntaryExit: phase0.SignedVoluntaryExit;
  proposerSlashing: phase0.ProposerSlashing;
  attesterSlashing: AttesterSlashing;
  blsToExecutionChange: capella.SignedBLSToExecutionChange;
  contribution: altair.SignedContributionAndProof;
  blobSidecar: SidecarEvent<deneb.BlobSidecar>;
  columnSidecar: SidecarEvent<fulu.DataColumnSidecar>;
  /** Data of one block that this node made of what it had, or of what its execution client had: the network is to be told of it. */
  sidecarsMade: { sidecars: readonly DataSidecar[] };
  lightClientFinalityUpdate: LightClientFinalityUpdate;
  lightClientOptimisticUpdate: LightClientOptimisticUpdate;
  /** What the payload of the next slot's block is to be built with; made only while somebody listens. */
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

  /** Returns the function that ends the subscription. */
  on<K extends ChainEventName>(name: K, listener: ChainListener<K>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  isHeard(name: ChainEventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  /** Tells every listener; one that throws is logged and cannot disturb the chain or the other listeners. */
  publish<K extends ChainEventName>(name: K, event: ChainEventMap[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as ChainListener<K>)(event);
      } catch (error) {
        this.#logger.error("A listener of a chain event failed", { event: name, error });
      }
    }
  }
}
