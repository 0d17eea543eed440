import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName, SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import { computeEpochAtSlot, computeSyncPeriodAtEpoch } from "@lodestar/state-transition";
import { invalidParams } from "../../failure.ts";
import type { ChainView } from "../chain-view.ts";
import { requireForkAt, requireScheduled } from "../fork-support.ts";
import { resolveState } from "../identifiers.ts";
import { shown } from "../validator/shown-number.ts";
import { metaOf } from "./states.ts";

const WHAT = "Sync committees";

export type SyncCommitteesApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "getEpochSyncCommittees">;

/** A state holds two committees: that of its own period and the next one. */
export function createSyncCommitteesApi(chain: ChainView): SyncCommitteesApi {
  return {
    async getEpochSyncCommittees({ stateId, epoch: givenEpoch }) {
      const { config } = chain;
      requireScheduled(config, ForkName.altair, WHAT);
      const resolved = await resolveState(chain, stateId);
      const { slot, epochCtx } = resolved.state;
      requireForkAt(config, ForkName.altair, slot, WHAT);
      const epoch = givenEpoch ?? computeEpochAtSlot(slot);
      const periodsAhead = computeSyncPeriodAtEpoch(epoch) - epochCtx.syncPeriod;
      if (epoch < config.ALTAIR_FORK_EPOCH || (periodsAhead !== 0 && periodsAhead !== 1)) {
        throw invalidParams(
          `A state of slot ${slot} does not hold the sync committee of epoch ${shown(epoch)}, but only those of its own ` +
            "period and of the next one.",
        );
      }
      const validators = Array.from(epochCtx.getIndexedSyncCommitteeAtEpoch(epoch).validatorIndices);
      const validatorAggregates: number[][] = [];
      for (let start = 0; start < validators.length; start += SYNC_COMMITTEE_SUBNET_SIZE) {
        validatorAggregates.push(validators.slice(start, start + SYNC_COMMITTEE_SUBNET_SIZE));
      }
      return { data: { validators, validatorAggregates }, meta: metaOf(resolved) };
    },
  };
}
