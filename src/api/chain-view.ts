import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, Slot } from "@lodestar/types";
import type { BlockPosition, ChainBlock } from "../chain/blocks/block-store.ts";
import type { Clock } from "../chain/clock/clock.ts";
import type { ForkChoice } from "../chain/fork-choice/fork-choice.ts";
import type { PayloadVerification } from "../chain/fork-choice/payloads/payload-verification.ts";
import type { Checkpoint, ForkChoiceBlock } from "../chain/fork-choice/types.ts";
import type { KnownStateRoot, StateRequest } from "../chain/states/state-store.ts";

/** The part of `BeaconChain` that is used by handlers that read. */
export interface ChainView {
  readonly config: BeaconConfig;
  readonly clock: Pick<Clock, "currentSlot">;
  readonly forkChoice: Pick<
    ForkChoice,
    "justified" | "finalized" | "get" | "leaves" | "all" | "weightOf" | "payloadStatusOf"
  >;
  readonly justifiedCheckpoint: Checkpoint;
  readonly finalizedCheckpoint: Checkpoint;
  readonly payloads: Pick<PayloadVerification, "isOptimistic">;
  readonly genesis: { readonly time: number; readonly validatorsRoot: Uint8Array };
  readonly head: ForkChoiceBlock;
  /** Post-state of the head block. */
  readonly headState: CachedBeaconStateAllForks;
  readonly blocks: {
    byRoot(root: RootHex): Promise<ChainBlock | null>;
    positionOf(root: RootHex): Promise<BlockPosition | null>;
    atSlot(slot: Slot): Promise<ChainBlock[]>;
    childrenOf(root: RootHex): Promise<ChainBlock[]>;
    rootAtSlot(slot: Slot): Promise<RootHex | null>;
    rootAtOrBefore(slot: Slot): Promise<RootHex | null>;
  };
  readonly states: {
    canonicalAtSlot(slot: Slot, request?: StateRequest): Promise<CachedBeaconStateAllForks | null>;
    knownRootAtSlot(slot: Slot): Promise<KnownStateRoot | null>;
    byRoot(stateRoot: RootHex, request?: StateRequest): Promise<CachedBeaconStateAllForks | null>;
    afterBlock(blockRoot: RootHex, slot?: Slot, request?: StateRequest): Promise<CachedBeaconStateAllForks>;
    atCheckpoint(checkpoint: Checkpoint, request?: StateRequest): Promise<CachedBeaconStateAllForks>;
    genesis(): Promise<CachedBeaconStateAllForks | null>;
  };
  readonly status: {
    readonly isSyncing: boolean;
    readonly syncDistance: number;
    readonly isOptimistic: boolean;
    readonly executionOffline: boolean;
  };
  readonly graffiti: { get(): Uint8Array; set(bytes: Uint8Array): void };
}
