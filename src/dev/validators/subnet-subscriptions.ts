import type { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch, Slot } from "@lodestar/types";
import { selectAggregator } from "./aggregate.ts";
import type { Duties } from "./duties.ts";
import { type DutyPlan, filterOnline } from "./duty-plan.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { ValidatorApi } from "./validator-api.ts";

interface SubscribeModules {
  api: ValidatorApi;
  config: BeaconConfig;
  signer: ValidatorSigner;
  duties: Duties;
}

/**
 * Subscribes to our validators' committee subnets for the current and the next epoch (phase0/validator.md, Lookahead;
 * altair/validator.md, Sync committee subnet stability).
 */
export class SubnetSubscriptions {
  readonly #modules: SubscribeModules;
  /** Subscribed duties by epoch. Duties changed by a reorg are subscribed again. */
  readonly #attesters = new Map<Epoch, routes.validator.AttesterDuty[]>();
  readonly #syncCommittees = new Map<Epoch, routes.validator.SyncDuty[]>();
  /** The validators online at the last update. */
  #online: DutyPlan["online"];

  constructor(modules: SubscribeModules) {
    this.#modules = modules;
  }

  async update(slot: Slot, plan: DutyPlan): Promise<void> {
    const { config, duties } = this.#modules;
    const epoch = computeEpochAtSlot(slot);
    if (plan.online !== this.#online) {
      this.#attesters.clear();
      this.#syncCommittees.clear();
      this.#online = plan.online;
    }
    for (const dutyEpoch of [epoch, epoch + 1]) {
      const attesters = await duties.attestersOf(dutyEpoch);
      if (this.#attesters.get(dutyEpoch) !== attesters) {
        await this.#subscribeCommittees(filterOnline(plan, attesters).filter((duty) => duty.slot >= slot));
        this.#attesters.set(dutyEpoch, attesters);
      }
      if (config.getForkSeqAtEpoch(epoch) < ForkSeq.altair) continue;
      const members = await duties.syncCommitteeOf(dutyEpoch);
      if (this.#syncCommittees.get(dutyEpoch) !== members) {
        await this.#subscribeSyncCommittee(dutyEpoch, filterOnline(plan, members));
        this.#syncCommittees.set(dutyEpoch, members);
      }
    }
    for (const subscribed of [this.#attesters, this.#syncCommittees]) {
      for (const subscribedEpoch of subscribed.keys()) if (subscribedEpoch < epoch) subscribed.delete(subscribedEpoch);
    }
  }

  /** Makes the next update resubscribe. */
  clear(): void {
    this.#attesters.clear();
    this.#syncCommittees.clear();
  }

  /** Subscribes once per committee, since one of our aggregators acts for all. */
  async #subscribeCommittees(attesters: routes.validator.AttesterDuty[]): Promise<void> {
    const { api, signer } = this.#modules;
    const subscriptions: routes.validator.BeaconCommitteeSubscription[] = [];
    for (const members of Map.groupBy(attesters, (duty) => `${duty.slot}/${duty.committeeIndex}`).values()) {
      const [{ validatorIndex, committeeIndex, committeesAtSlot, slot }] = members as [routes.validator.AttesterDuty];
      const selected = await selectAggregator(signer, slot, members);
      subscriptions.push({
        validatorIndex: selected?.aggregatorIndex ?? validatorIndex,
        committeeIndex,
        committeesAtSlot,
        slot,
        isAggregator: selected !== undefined,
      });
    }
    if (subscriptions.length > 0) await api.validator.prepareBeaconCommitteeSubnet({ subscriptions });
  }

  async #subscribeSyncCommittee(epoch: Epoch, members: routes.validator.SyncDuty[]): Promise<void> {
    const untilEpoch = (Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD) + 1) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
    const subscriptions = members.map(({ validatorIndex, validatorSyncCommitteeIndices }) => ({
      validatorIndex,
      syncCommitteeIndices: validatorSyncCommitteeIndices,
      untilEpoch,
    }));
    if (subscriptions.length > 0) await this.#modules.api.validator.prepareSyncCommitteeSubnets({ subscriptions });
  }
}
