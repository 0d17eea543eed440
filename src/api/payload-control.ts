import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { RootHex, Slot } from "@lodestar/types";
import { type Failure, unsupported } from "../errors/failure.ts";
import type { ValidatorSelection } from "./validator-selection.ts";

/**
 * Control of the payloads of blocks since gloas, and of the votes on them. Faults are scheduled by slot; for a slot, the
 * latest call counts. Concerns the chain's own validators.
 */
export interface PayloadControl {
  /** Schedules a fault. Without slots, ends all faults from the first slot on. */
  schedule(fault: PayloadFault, slots: SlotsToAffect): Promise<AffectedSlots>;
  /** Schedules payloads that are revealed late. */
  delay(delay: PayloadDelay, slots: SlotsToAffect): Promise<AffectedSlots & { seconds: number }>;
  /** Schedules votes of members of the payload timeliness committees. Without slots, ends all such votes. */
  setVotes(rule: PayloadVoteRule, slots: SlotsToAffect): Promise<AffectedSlots>;
  /** Reveals the withheld payload of a block; by default of the newest one. Returns the block's root. */
  reveal(root?: RootHex): Promise<RootHex>;
  /** True if `reveal` can reveal the payload of the block. */
  isWithheld(root: RootHex): boolean;
  /** False if all payloads of the next blocks will be revealed in time, and voted for. */
  mayLeaveBlocksEmpty(): boolean;
}

/** How a builder falsifies a payload, as in `PayloadPlan`. */
export const FALSE_PAYLOADS = ["different", "equivocation", "invalid"] as const;

/** Payloads "without-blobs" are revealed in time, unlike their blobs. */
export type PayloadFault = "withhold" | "without-blobs" | (typeof FALSE_PAYLOADS)[number];

export interface SlotsToAffect {
  count: number;
  /** The next slot by default. */
  first?: Slot | undefined;
}

export interface AffectedSlots {
  fromSlot: Slot;
  /** The first slot that is not affected. */
  untilSlot: Slot;
}

export interface PayloadDelay {
  /** Number of slots by which a payload is late. */
  slotsLate: Slot;
  /** Seconds into the slot of arrival; by default halfway between the deadline of the votes and the end of the slot. */
  seconds?: number | undefined;
}

export interface PayloadVoteRule {
  validators: ValidatorSelection;
  /** The honest vote by default. */
  payloadPresent?: boolean | undefined;
  /** The honest vote by default. */
  blobDataAvailable?: boolean | undefined;
  abstains: boolean;
}

type GloasSchedule = Pick<BeaconConfig, "getForkName" | "getForkSeq" | "GLOAS_FORK_EPOCH">;

/** Returns the error for a slot from before gloas, or undefined since gloas. */
export function errorBeforeGloas(
  config: GloasSchedule,
  slot: Slot,
  subject = "Payloads are revealed apart from their blocks",
): Failure | undefined {
  if (config.getForkSeq(slot) >= ForkSeq.gloas) return undefined;
  const { GLOAS_FORK_EPOCH: epoch } = config;
  const until = Number.isFinite(epoch)
    ? ` until epoch ${epoch}. dev_advance runs slots until then.`
    : ". Start it with --fork gloas or --gloas-at EPOCH.";
  return unsupported(`${subject} since gloas; this chain is ${config.getForkName(slot)}${until}`);
}
