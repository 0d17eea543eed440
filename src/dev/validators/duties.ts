import type { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch, Slot } from "@lodestar/types";
import type { HeadEvent } from "../../chain/events.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { DutyCache } from "./duty-cache.ts";
import type { ValidatorSigner } from "./signer.ts";
import type { ValidatorApi } from "./validator-api.ts";

/** Head event fields needed by validators. */
export type HeadUpdate = Pick<HeadEvent, "slot" | "root" | "previousDutyDependentRoot" | "currentDutyDependentRoot">;

interface DutiesModules {
  api: ValidatorApi;
  config: BeaconConfig;
  keys: ValidatorKeys;
  signer: ValidatorSigner;
}

/** Duties of our validators, cached by epoch. */
export class Duties {
  readonly #config: BeaconConfig;
  readonly #proposers: DutyCache<routes.validator.ProposerDuty>;
  readonly #attesters: DutyCache<routes.validator.AttesterDuty>;
  readonly #syncCommittees: DutyCache<routes.validator.SyncDuty>;

  constructor({ api, config, keys, signer }: DutiesModules) {
    this.#config = config;
    this.#proposers = new DutyCache(async (epoch) => {
      const { data, meta } = await api.validator.getProposerDuties({ epoch });
      const ours = data.filter(({ validatorIndex }) => signer.owns(validatorIndex));
      return { duties: ours, dependentRoot: meta.dependentRoot };
    });
    this.#attesters = new DutyCache(async (epoch) => {
      const { data, meta } = await api.validator.getAttesterDuties({ epoch, indices: [...keys.indices] });
      return { duties: data, dependentRoot: meta.dependentRoot };
    });
    this.#syncCommittees = new DutyCache(async (epoch) => {
      const { data } = await api.validator.getSyncCommitteeDuties({ epoch, indices: [...keys.indices] });
      return { duties: data };
    });
  }

  async proposerAt(slot: Slot): Promise<routes.validator.ProposerDuty | undefined> {
    const duties = await this.#proposers.get(computeEpochAtSlot(slot));
    return duties.find((duty) => duty.slot === slot);
  }

  async attestersAt(slot: Slot): Promise<routes.validator.AttesterDuty[]> {
    const duties = await this.attestersOf(computeEpochAtSlot(slot));
    return duties.filter((duty) => duty.slot === slot);
  }

  /** Returns the same array object until the duties change. */
  attestersOf(epoch: Epoch): Promise<routes.validator.AttesterDuty[]> {
    return this.#attesters.get(epoch);
  }

  /**
   * Returns the sync committee of slot + 1: blocks include signatures from the previous slot, so the next slot's
   * committee signs (altair/validator.md, Sync committee).
   */
  async syncCommitteeAt(slot: Slot): Promise<routes.validator.SyncDuty[]> {
    return this.syncCommitteeOf(computeEpochAtSlot(slot + 1));
  }

  /** Returns the same array object until the duties change. */
  syncCommitteeOf(epoch: Epoch): Promise<routes.validator.SyncDuty[]> {
    return this.#syncCommittees.get(epoch);
  }

  /** Drops duties whose dependent root is not an ancestor of the new head. */
  onHead(head: HeadUpdate): void {
    const epoch = computeEpochAtSlot(head.slot);
    this.#attesters.invalidateUnless(epoch, [head.previousDutyDependentRoot]);
    this.#attesters.invalidateUnless(epoch + 1, [head.currentDutyDependentRoot]);
    this.#proposers.invalidateUnless(
      epoch,
      this.#proposerRoots(epoch, head.currentDutyDependentRoot, head.previousDutyDependentRoot),
    );
    this.#proposers.invalidateUnless(
      epoch + 1,
      this.#proposerRoots(epoch + 1, head.root, head.currentDutyDependentRoot),
    );
  }

  clear(): void {
    for (const cache of [this.#proposers, this.#attesters, this.#syncCommittees]) cache.clear();
  }

  pruneBefore(epoch: Epoch): void {
    for (const cache of [this.#proposers, this.#attesters, this.#syncCommittees]) cache.pruneBefore(epoch);
  }

  /**
   * Returns the accepted dependent roots of proposer duties. The last block before the epoch determines its proposers.
   * With Fulu's lookahead, the proposers are determined one epoch earlier. APIs report either root, depending on their
   * version.
   */
  #proposerRoots(epoch: Epoch, lastBeforeEpoch: string, anEpochEarlier: string): string[] {
    const hasLookahead = this.#config.getForkSeqAtEpoch(epoch) >= ForkSeq.fulu;
    return hasLookahead ? [lastBeforeEpoch, anEpochEarlier] : [lastBeforeEpoch];
  }
}
