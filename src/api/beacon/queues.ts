import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName } from "@lodestar/params";
import type { CachedBeaconStateElectra, CachedBeaconStateFulu } from "@lodestar/state-transition";
import type { ChainView } from "../chain-view.ts";
import { stateMeta } from "../debug.ts";
import { requireForkAt, requireScheduled } from "../fork-support.ts";
import { type ResolvedState, resolveState } from "../identifiers.ts";

export type QueuesApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  "getPendingDeposits" | "getPendingPartialWithdrawals" | "getPendingConsolidations" | "getProposerLookahead"
>;

/** The queues that a state holds since electra, and since fulu that of the coming proposers. */
export function createQueuesApi(chain: ChainView): QueuesApi {
  const stateSince = async (
    fork: ForkName,
    stateId: routes.beacon.StateId,
    what: string,
  ): Promise<{ resolved: ResolvedState; meta: ReturnType<typeof stateMeta> }> => {
    requireScheduled(chain.config, fork, what);
    const resolved = await resolveState(chain, stateId);
    requireForkAt(chain.config, fork, resolved.state.slot, what);
    return { resolved, meta: stateMeta(chain, resolved) };
  };
  const electraState = async (stateId: routes.beacon.StateId, what: string) => {
    const { resolved, meta } = await stateSince(ForkName.electra, stateId, what);
    return { state: resolved.state as CachedBeaconStateElectra, meta };
  };

  return {
    async getPendingDeposits({ stateId }) {
      const { state, meta } = await electraState(stateId, "Pending deposits");
      return { data: state.pendingDeposits.toValue(), meta };
    },

    async getPendingPartialWithdrawals({ stateId }) {
      const { state, meta } = await electraState(stateId, "Pending partial withdrawals");
      return { data: state.pendingPartialWithdrawals.toValue(), meta };
    },

    async getPendingConsolidations({ stateId }) {
      const { state, meta } = await electraState(stateId, "Pending consolidations");
      return { data: state.pendingConsolidations.toValue(), meta };
    },

    async getProposerLookahead({ stateId }) {
      const { resolved, meta } = await stateSince(ForkName.fulu, stateId, "Lists of coming proposers");
      return { data: (resolved.state as CachedBeaconStateFulu).proposerLookahead.toValue(), meta };
    },
  };
}
