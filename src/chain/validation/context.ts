import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks, EpochShuffling } from "@lodestar/state-transition";
import type { Epoch, RootHex, Slot } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Kzg } from "../../data/kzg/kzg.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { BadBlocks } from "../import/bad-blocks.ts";
import type { OperationPool } from "../pools/operation-pool.ts";
import type {
  SeenAggregates,
  SeenAggregators,
  SeenAttesters,
  SeenBlockProposers,
  SeenContributions,
  SeenSidecars,
  SeenSyncMessages,
} from "../pools/seen.ts";
import type { DuplicateKeys } from "./duplicate-keys.ts";
import { GossipRefusal } from "./outcome.ts";
import type { VerifiedHeaders } from "./verified-headers.ts";

export interface SeenCaches {
  readonly attesters: SeenAttesters;
  readonly aggregators: SeenAggregators;
  readonly aggregates: SeenAggregates;
  readonly blockProposers: SeenBlockProposers;
  readonly syncMessages: SeenSyncMessages;
  readonly contributions: SeenContributions;
  readonly sidecars: SeenSidecars;
}

interface ValidationStates {
  /** The post-state of the head block. */
  readonly head: CachedBeaconStateAllForks;
  /** The committees that the chain of a block has in an epoch. */
  shuffling(blockRoot: RootHex, epoch: Epoch): Promise<EpochShuffling>;
  /** The parent's post-state, advanced to the slot. */
  preState(parentRoot: RootHex, slot: Slot): Promise<CachedBeaconStateAllForks>;
}

/** Everything the gossip rules look at. */
export interface ValidationContext {
  readonly config: BeaconConfig;
  readonly clock: Pick<
    Clock,
    "genesisTime" | "currentSlot" | "currentEpoch" | "nowSeconds" | "slotStartSeconds" | "currentSlotWithTolerance"
  >;
  readonly forkChoice: Pick<
    ForkChoice,
    | "get"
    | "has"
    | "ancestorAtSlot"
    | "canonicalAtSlot"
    | "isDescendantOfFinalized"
    | "isInvalid"
    | "finalized"
    | "head"
  >;
  readonly blocks: Pick<BlockStore, "link">;
  readonly bls: Pick<BlsVerifier, "verify" | "verifyEach">;
  readonly kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">;
  /** Those that break a rule of consensus, and those that build on them. */
  readonly invalidBlocks: Pick<BadBlocks, "has" | "add">;
  readonly seen: SeenCaches;
  /** Those that are signed by the validator they name. */
  readonly signedHeaders: VerifiedHeaders;
  /** Those of validators whose turn it was. */
  readonly headersInTurn: VerifiedHeaders;
  readonly operations: Pick<
    OperationPool,
    "hasVoluntaryExit" | "hasProposerSlashing" | "hasAttesterSlashingFor" | "hasBlsToExecutionChange"
  >;
  readonly states: ValidationStates;
  readonly duplicates: DuplicateKeys;
}

/** The slot of a block that may carry an operation: its fork says how that is signed. After empty slots it may be a later one than the head's. */
export function carryingSlot(
  { slot }: Pick<CachedBeaconStateAllForks, "slot">,
  { currentSlot }: Pick<Clock, "currentSlot">,
): Slot {
  return Math.max(slot, currentSlot);
}

/**
 * Waits for a state, or what is in it, that a rule needs. When it cannot be had the message is ignored, not rejected: the fault may be ours
 * (p2p-interface.md, beacon_block: "if shuffling is not available, IGNORE instead").
 */
export async function stateOrIgnore<T>(state: Promise<T>, what: string): Promise<T> {
  try {
    return await state;
  } catch (cause) {
    throw new GossipRefusal("ignore", "state-unavailable", `${what} cannot be judged: its state is not available.`, {
      cause,
    });
  }
}
