import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks, EpochShuffling } from "@lodestar/state-transition";
import type { Epoch, RootHex, Slot } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Kzg } from "../../data/kzg/kzg.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "../fork-choice/types.ts";
import type { InvalidBlockRoots } from "../import/invalid-block-roots.ts";
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
import type { SeenPayloads } from "../pools/seen-payloads.ts";
import type { DuplicateKeys } from "./duplicate-keys.ts";
import { GossipValidationError } from "./outcome.ts";
import type { VerifiedHeaders } from "./verified-headers.ts";

export interface SeenCaches {
  readonly attesters: SeenAttesters;
  readonly aggregators: SeenAggregators;
  readonly aggregates: SeenAggregates;
  readonly blockProposers: SeenBlockProposers;
  readonly syncMessages: SeenSyncMessages;
  readonly contributions: SeenContributions;
  readonly sidecars: SeenSidecars;
  readonly payloads: SeenPayloads;
}

interface ValidationStates {
  /** Post-state of the head block. */
  readonly head: CachedBeaconStateAllForks;
  /** Returns the shuffling of an epoch on the chain of a block. */
  shuffling(blockRoot: RootHex, epoch: Epoch): Promise<EpochShuffling>;
  /** Returns the parent's post-state advanced to the slot. */
  preState(parentRoot: RootHex, slot: Slot): Promise<CachedBeaconStateAllForks>;
  /** Returns the post-state of a block. */
  ofBlock(root: RootHex): Promise<CachedBeaconStateAllForks>;
}

/** Dependencies of gossip validation. */
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
    | "isPayloadVerified"
    | "finalized"
    | "head"
    | "headNode"
    | "childrenOf"
    | "shouldBuildOnFull"
  >;
  readonly blocks: Pick<BlockStore, "link" | "signedByRoot">;
  readonly bls: Pick<BlsVerifier, "verify" | "verifyEach">;
  readonly kzg: Pick<Kzg, "verifyBlobs" | "verifyCells">;
  /** Blocks that violate consensus rules, and their descendants. */
  readonly invalidBlocks: Pick<InvalidBlockRoots, "has" | "add">;
  readonly seen: SeenCaches;
  /** Headers with a valid proposer signature. */
  readonly signedHeaders: VerifiedHeaders;
  /** Headers whose proposer is known to be the one due for the slot. */
  readonly headersOnDuty: VerifiedHeaders;
  readonly operations: Pick<
    OperationPool,
    "hasVoluntaryExit" | "hasProposerSlashing" | "hasAttesterSlashingFor" | "hasBlsToExecutionChange"
  >;
  readonly states: ValidationStates;
  readonly duplicates: DuplicateKeys;
  /** Returns the gas limit of a known payload that a child of the block can be built on; undefined for others. */
  payloadGasLimit(blockHash: RootHex, parent: ForkChoiceBlock): Promise<bigint | undefined>;
}

/**
 * Returns the slot of a block that could include an operation. The fork at that slot determines the signing domain.
 * After empty slots, the returned slot is later than the head's slot.
 */
export function inclusionSlot(
  { slot }: Pick<CachedBeaconStateAllForks, "slot">,
  { currentSlot }: Pick<Clock, "currentSlot">,
): Slot {
  return Math.max(slot, currentSlot);
}

/**
 * Awaits a state that a rule needs. If the state is unavailable, the message is ignored, not rejected
 * (p2p-interface.md, beacon_block: "if shuffling is not available, IGNORE instead").
 */
export async function stateOrIgnore<T>(state: Promise<T>, what: string): Promise<T> {
  try {
    return await state;
  } catch (cause) {
    throw new GossipValidationError(
      "ignore",
      "state-unavailable",
      `${what} cannot be validated: its state is unavailable.`,
      {
        cause,
      },
    );
  }
}
