import { availableParallelism } from "node:os";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq, GENESIS_SLOT } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { type Clock, ClockStoppedError } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import type { BidsOfSlot } from "../builders/slot-bids.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { publishAggregates } from "./aggregate.ts";
import { type CommitteeAttestation, prepareAttestations, submitAttestations } from "./attest.ts";
import { BuilderRegistration } from "./builder-registration.ts";
import { Duties, type HeadUpdate } from "./duties.ts";
import { DutyFailures, PROPOSE } from "./duty-failures.ts";
import { DEFAULT_PLAN, type DutyPlan, filterOnline, isOnline, requiresLockstep } from "./duty-plan.ts";
import { type DutyTiming, dutyTimingFor, SlotSchedule } from "./duty-timing.ts";
import { LateBlocks } from "./late-blocks.ts";
import { LockstepDuties } from "./lockstep-duties.ts";
import { DevProposerPreferences } from "./payloads/proposer-preferences.ts";
import { WithheldPayloads } from "./payloads/withheld-payloads.ts";
import { signBlock } from "./propose.ts";
import { ValidatorSigner } from "./signer.ts";
import { SigningThread } from "./signing-thread.ts";
import { SlashingProtection } from "./slashing-protection.ts";
import { SubnetSubscriptions } from "./subnet-subscriptions.ts";
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
  /** Kept in memory by default. */
  history?: SlashingProtection;
  /** True while the node has a builder to register with; false by default. */
  hasBuilder?: () => boolean;
  /** Overrides for a slot's duties. */
  plan?: (slot: Slot) => DutyPlan;
  /** Payloads that the plan withholds; since gloas. */
  withheld?: WithheldPayloads;
  /** Bids of the chain's builders since gloas. */
  builderBids?: BidsOfSlot;
  /** True if it is too late to sign for the slot; false by default. */
  isPast?: (slot: Slot) => boolean;
  /** Direct access to the chain for lockstep duties, which bypass the API while this is allowed. */
  fastPath?: { chain: BeaconChain; isAllowed: () => boolean };
}

export interface DevValidators {
  /** Performs all duties of a slot. Logs failed duties; never rejects. */
  onSlot(slot: Slot, timing?: DutyTiming): Promise<void>;
  /** Triggers the slot's attestations and drops outdated duties. */
  onHead(head: HeadUpdate): void;
  /** Drops all cached duties after the chain was reverted. Must not be called during `onSlot`. */
  onReverted(): void;
  /** Captures the blocks and payloads that are held back. Returns a function that restores them. */
  captureLate(): () => void;
  /** Cancels waiting duties. Resolves once all running duties have finished. */
  close(): Promise<void>;
}

/** Creates in-process validators that use the node's public API like a validator client. */
export function createDevValidators(options: DevValidatorsOptions): DevValidators {
  const { api, clock, config, keys, logger, history = new SlashingProtection() } = options;
  const { hasBuilder = () => false, plan: planOf = () => DEFAULT_PLAN, isPast = () => false, fastPath } = options;
  const { withheld = new WithheldPayloads(), builderBids } = options;
  // On a single core, the thread would only compete with the main thread.
  const signingThread = availableParallelism() > 1 ? new SigningThread({ logger }) : undefined;
  const signer = new ValidatorSigner(config, keys, signingThread);
  const duties = new Duties({ api, config, keys, signer });
  const subscriptions = new SubnetSubscriptions({ api, config, signer, duties });
  const registration = new BuilderRegistration({ api, config, clock, keys });
  const schedule = new SlotSchedule(config, clock);
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const modules = { api, config, signer, history };
  const failures = new DutyFailures(logger);
  const late = new LateBlocks(clock, closing.signal);
  const lockstep =
    fastPath &&
    new LockstepDuties({ chain: fastPath.chain, signer, history, failures, late, withheld, builderBids, schedule });

  const preferences = fastPath && new DevProposerPreferences({ chain: fastPath.chain, signer });

  const isGloas = (slot: Slot) => config.getForkSeq(slot) >= ForkSeq.gloas;

  /** Skips duties for slots that have passed, e.g. while the process was suspended. */
  const attempt: DutyFailures["attempt"] = async (duty, slot, work) =>
    isPast(slot) ? undefined : failures.attempt(duty, slot, work);

  async function propose(slot: Slot, plan: DutyPlan): Promise<void> {
    const proposal = await attempt(PROPOSE, slot, async () => {
      if (slot === GENESIS_SLOT) return null;
      if (lockstep && isGloas(slot)) return lockstep.propose(slot, plan);
      const duty = await duties.proposerAt(slot);
      if (!duty || !isOnline(plan, duty.validatorIndex)) return null;
      const { validatorIndex } = duty;
      return { validatorIndex, publish: await signBlock(modules, slot, validatorIndex) };
    });
    if (proposal === null) failures.markInconclusive(PROPOSE, slot);
    if (!proposal) return;
    const publish = async () => {
      const isImported = await attempt(PROPOSE, slot, proposal.publish);
      if (isImported === undefined) return;
      schedule.blockArrived(slot);
      logger.debug("Proposed block", { slot, validatorIndex: proposal.validatorIndex, isImported });
      if (!isImported) failures.markInconclusive(PROPOSE, slot);
      if (isImported && "reveal" in proposal) await proposal.reveal();
    };
    if (plan.blockDelay) late.hold(slot, plan.blockDelay, publish);
    else await publish();
  }

  async function attest(slot: Slot, plan: DutyPlan): Promise<CommitteeAttestation[]> {
    const attestations = await attempt("attestation data", slot, async () => {
      const attesters = filterOnline(plan, await duties.attestersAt(slot));
      return attesters.length > 0 ? prepareAttestations(modules, slot, attesters) : [];
    });
    if (!attestations) return [];
    // Aggregates are published even if some attestations in the batch were rejected.
    await attempt("attestation submission", slot, () => submitAttestations(modules, slot, attestations));
    return attestations;
  }

  async function signHead(slot: Slot, plan: DutyPlan): Promise<SyncCommitteeSigning | undefined> {
    if (config.getForkSeq(slot) < ForkSeq.altair) return undefined;
    const signing = await attempt("sync committee head root", slot, async () => {
      const members = filterOnline(plan, await duties.syncCommitteeAt(slot));
      return members.length > 0 ? prepareSyncMessages(modules, members) : undefined;
    });
    if (signing) await attempt("sync committee messages", slot, () => submitSyncMessages(modules, slot, signing));
    return signing;
  }

  const aggregate = (slot: Slot, attestations: CommitteeAttestation[]) =>
    attempt("aggregate publication", slot, () => {
      const onFailure = (error: unknown) => failures.record("attestation aggregation", slot, error);
      return publishAggregates({ ...modules, onFailure }, slot, attestations);
    });

  const contribute = (slot: Slot, signing: SyncCommitteeSigning | undefined) =>
    attempt("contribution publication", slot, async () => {
      if (!signing) return;
      const onFailure = (error: unknown) => failures.record("sync committee contribution", slot, error);
      await publishContributions({ ...modules, onFailure }, slot, signing);
    });

  async function doDuties(slot: Slot, timing: DutyTiming): Promise<void> {
    const epoch = computeEpochAtSlot(slot);
    const plan = planOf(slot);
    duties.pruneBefore(epoch - 1);
    signer.pruneBefore(epoch - 1);
    const hasOnline = keys.indices.length > 0 && plan.online?.size !== 0;
    if (hasOnline) await actOn(slot, timing, plan);
    await late.publishBefore(clock.slotStartSeconds(slot + 1));
    failures.endSlot(slot);
  }

  async function actOn(slot: Slot, timing: DutyTiming, plan: DutyPlan): Promise<void> {
    if (timing === "lockstep" && lockstep && (fastPath.isAllowed() || requiresLockstep(plan))) {
      await lockstep.act(slot, plan);
      return;
    }
    // Our own block comes first: a late attestation to it is worth more than a timely attestation to its parent.
    await propose(slot, plan);
    if (timing === "clock") await schedule.untilAttestationDue(slot, closing.signal);
    const attestations = await attest(slot, plan);
    const signing = await signHead(slot, plan);
    await late.publishBefore(schedule.aggregateDue(slot));
    if (timing === "clock") await schedule.untilAggregateDue(slot, closing.signal);
    await aggregate(slot, attestations);
    await contribute(slot, signing);
    if (lockstep && isGloas(slot)) {
      await late.publishBefore(schedule.payloadAttestationDue(slot));
      if (timing === "clock") await schedule.untilPayloadAttestationDue(slot, closing.signal);
      await attempt("payload attestation", slot, () => lockstep.votePayload(slot, plan));
    }
    if (preferences) await attempt("proposer preferences", slot, () => preferences.update(slot, plan));
    await attempt("subnet subscription", slot, () => subscriptions.update(slot, plan));
    if (hasBuilder()) await attempt("builder registration", slot, () => registration.update(slot, plan));
  }

  return {
    async onSlot(slot, timing = dutyTimingFor(clock.secondsPerSlot, clock.speed)) {
      if (closing.signal.aborted) return;
      const work = doDuties(slot, timing);
      running.add(work);
      try {
        await work;
      } catch (error) {
        const isClosed = closing.signal.aborted || error instanceof ClockStoppedError;
        if (!isClosed) throw error;
      } finally {
        running.delete(work);
      }
    },

    onHead(head) {
      duties.onHead(head);
      schedule.blockArrived(head.slot);
    },

    onReverted() {
      for (const cache of [signer, duties, subscriptions, schedule, failures, late]) cache.clear();
      preferences?.clear();
    },

    captureLate: () => late.capture(),

    async close() {
      closing.abort();
      await Promise.allSettled(running);
      await signingThread?.close();
    },
  };
}
