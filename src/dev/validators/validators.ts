import { availableParallelism } from "node:os";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq, GENESIS_SLOT } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { type Clock, ClockStoppedError } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { publishAggregates } from "./aggregate.ts";
import { type CommitteeAttestation, prepareAttestations, submitAttestations } from "./attest.ts";
import { Duties, type HeadUpdate } from "./duties.ts";
import { choosesBlocks, type DutyPlan, isOnline, onlineOf, USUAL_DUTIES } from "./duty-plan.ts";
import { FailedDuties, PROPOSE } from "./failed-duties.ts";
import { LateBlocks } from "./late-blocks.ts";
import { LockstepDuties } from "./lockstep-duties.ts";
import { type Pace, paceFor, SlotSchedule } from "./pace.ts";
import { signBlock } from "./propose.ts";
import { BuilderRegistration } from "./register.ts";
import { ValidatorSigner } from "./signer.ts";
import { SigningThread } from "./signing-thread.ts";
import { SlashingProtection } from "./slashing-protection.ts";
import { DutySubscriptions } from "./subscribe.ts";
import {
  prepareSyncMessages,
  publishContributions,
  type SyncCommitteeSigning,
  submitSyncMessages,
} from "./sync-committee.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface DevValidatorsOptions {
  api: ValidatorApi;
  clock: Clock;
  config: BeaconConfig;
  keys: ValidatorKeys;
  logger: Logger;
  /** What they signed before; by default nothing, and it is not kept beyond the process. */
  history?: SlashingProtection;
  /** Whether the node has a builder now for which they register; by default it has none. */
  hasBuilder?: () => boolean;
  /** What is other than usual in the duties of a slot. */
  plan?: (slot: Slot) => DutyPlan;
  /** Whether it is too late to sign anything for the slot; by default it never is. */
  isPast?: (slot: Slot) => boolean;
  /** The chain that they may act upon without the API in lockstep, and whether they may now; by default they never may. */
  shortcut?: { chain: BeaconChain; isOpen: () => boolean };
}

export interface DevValidators {
  /** Does all duties of a slot and resolves when they are done; never rejects because of a duty that failed. */
  onSlot(slot: Slot, pace?: Pace): Promise<void>;
  /** To be told of new heads: attestations are then made as soon as the block is there, and outdated duties are dropped. */
  onHead(head: HeadUpdate): void;
  /** To be told, while nothing is under way, that the chain went back: nothing that is known of duties need hold any more. */
  onGoneBack(): void;
  /** Gives up what still waits for its time, and resolves when nothing is under way any more. */
  close(): Promise<void>;
}

/** Validators that live inside the node and use its public API as any validator client would. */
export function createDevValidators(options: DevValidatorsOptions): DevValidators {
  const { api, clock, config, keys, logger, history = new SlashingProtection() } = options;
  const { hasBuilder = () => false, plan: planOf = () => USUAL_DUTIES, isPast = () => false, shortcut } = options;
  // On a single core it could only take its time from the main thread.
  const signingThread = availableParallelism() > 1 ? new SigningThread({ logger }) : undefined;
  const signer = new ValidatorSigner(config, keys, signingThread);
  const duties = new Duties({ api, config, keys, signer });
  const subscriptions = new DutySubscriptions({ api, config, signer, duties });
  const registration = new BuilderRegistration({ api, config, clock, keys });
  const schedule = new SlotSchedule(config, clock);
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const modules = { api, config, signer, history };
  const failures = new FailedDuties(logger);
  const late = new LateBlocks(clock, closing.signal);
  const lockstep = shortcut && new LockstepDuties({ chain: shortcut.chain, signer, history, failures, late });

  /** Skips duties whose time passed while the process was suspended. */
  const attempt: FailedDuties["attempt"] = async (duty, slot, work) =>
    isPast(slot) ? undefined : failures.attempt(duty, slot, work);

  async function propose(slot: Slot, plan: DutyPlan): Promise<void> {
    const signed = await attempt(PROPOSE, slot, async () => {
      // Nobody proposes the genesis block.
      if (slot === GENESIS_SLOT) return null;
      const duty = await duties.proposerAt(slot);
      if (!duty || !isOnline(plan, duty.validatorIndex)) return null;
      const { validatorIndex } = duty;
      return { validatorIndex, publish: await signBlock(modules, slot, validatorIndex) };
    });
    if (signed === null) failures.unsettled(PROPOSE, slot);
    if (!signed) return;
    const publish = async () => {
      const isImported = await attempt(PROPOSE, slot, signed.publish);
      if (isImported === undefined) return;
      schedule.blockArrived(slot);
      logger.debug("Validators proposed a block", { slot, validatorIndex: signed.validatorIndex, isImported });
      if (!isImported) failures.unsettled(PROPOSE, slot);
    };
    if (plan.lateness) late.hold(slot, plan.lateness, publish);
    else await publish();
  }

  async function attest(slot: Slot, plan: DutyPlan): Promise<CommitteeAttestation[]> {
    const attestations = await attempt("learn what to attest to", slot, async () => {
      const attesters = onlineOf(plan, await duties.attestersAt(slot));
      return attesters.length > 0 ? prepareAttestations(modules, slot, attesters) : [];
    });
    if (!attestations) return [];
    // Some of a batch may be refused; aggregates of the others are still worth publishing.
    await attempt("submit attestations", slot, () => submitAttestations(modules, slot, attestations));
    return attestations;
  }

  async function signHead(slot: Slot, plan: DutyPlan): Promise<SyncCommitteeSigning | undefined> {
    if (config.getForkSeq(slot) < ForkSeq.altair) return undefined;
    const signing = await attempt("learn what the sync committee signs", slot, async () => {
      const members = onlineOf(plan, await duties.syncCommitteeAt(slot));
      return members.length > 0 ? prepareSyncMessages(modules, members) : undefined;
    });
    if (signing)
      await attempt("submit sync committee messages", slot, () => submitSyncMessages(modules, slot, signing));
    return signing;
  }

  const aggregate = (slot: Slot, attestations: CommitteeAttestation[]) =>
    attempt("publish aggregates", slot, () => {
      const onFailure = (error: unknown) => failures.failed("aggregate the attestations of a committee", slot, error);
      return publishAggregates({ ...modules, onFailure }, slot, attestations);
    });

  const contribute = (slot: Slot, signing: SyncCommitteeSigning | undefined) =>
    attempt("publish sync committee contributions", slot, async () => {
      if (!signing) return;
      const onFailure = (error: unknown) => failures.failed("contribute for a sync subcommittee", slot, error);
      await publishContributions({ ...modules, onFailure }, slot, signing);
    });

  async function doDuties(slot: Slot, pace: Pace): Promise<void> {
    const epoch = computeEpochAtSlot(slot);
    const plan = planOf(slot);
    duties.forgetBefore(epoch - 1);
    signer.forgetBefore(epoch - 1);
    const isAnybodyOnline = keys.indices.length > 0 && plan.online?.size !== 0;
    if (isAnybodyOnline) await actOn(slot, pace, plan);
    await late.publishBefore(clock.slotStartSeconds(slot + 1));
    failures.endSlot(slot);
  }

  async function actOn(slot: Slot, pace: Pace, plan: DutyPlan): Promise<void> {
    if (pace === "lockstep" && lockstep && (shortcut.isOpen() || choosesBlocks(plan))) {
      await lockstep.act(slot, plan);
      return;
    }
    // Our own block comes first at any pace: an attestation to it that comes late is worth more than one to its parent.
    await propose(slot, plan);
    if (pace === "clock") await schedule.untilAttestationDue(slot, closing.signal);
    const attestations = await attest(slot, plan);
    const signing = await signHead(slot, plan);
    await late.publishBefore(schedule.aggregateDue(slot));
    if (pace === "clock") await schedule.untilAggregateDue(slot, closing.signal);
    await aggregate(slot, attestations);
    await contribute(slot, signing);
    await attempt("subscribe to their committees", slot, () => subscriptions.update(slot, plan));
    if (hasBuilder()) await attempt("register for the builder", slot, () => registration.update(slot, plan));
  }

  return {
    async onSlot(slot, pace = paceFor(clock.secondsPerSlot, clock.speed)) {
      if (closing.signal.aborted) return;
      const work = doDuties(slot, pace);
      underWay.add(work);
      try {
        await work;
      } catch (error) {
        const timeHasEnded = closing.signal.aborted || error instanceof ClockStoppedError;
        if (!timeHasEnded) throw error;
      } finally {
        underWay.delete(work);
      }
    },

    onHead(head) {
      duties.onHead(head);
      schedule.blockArrived(head.slot);
    },

    onGoneBack() {
      for (const memory of [duties, subscriptions, schedule, failures, late]) memory.clear();
    },

    async close() {
      closing.abort();
      await Promise.allSettled(underWay);
      await signingThread?.close();
    },
  };
}
