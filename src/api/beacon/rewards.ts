import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName, GENESIS_SLOT } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  computeAttestationsRewards,
  computeBlockRewards,
  computeEndSlotAtEpoch,
  computeSyncCommitteeRewards,
} from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { ChainBlock } from "../../chain/blocks/block-store.ts";
import { notFound } from "../../failure.ts";
import type { ChainView } from "../chain-view.ts";
import { requireForkAt, requireScheduled } from "../fork-support.ts";
import { findState, resolveBlock } from "../identifiers.ts";
import { shown } from "../validator/shown-number.ts";
import { indicesInRegistry } from "./registry.ts";
import { metaOf } from "./states.ts";

export type RewardsApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  "getBlockRewards" | "getAttestationsRewards" | "getSyncCommitteeRewards"
>;

const WHAT = "Rewards that belong to single blocks and votes";

/** Phase0 pays for whole epochs at once, and what of it belongs to which block cannot be told afterwards. */
export function createRewardsApi(chain: ChainView): RewardsApi {
  const { config } = chain;

  const rewardedBlock = async (blockId: routes.beacon.BlockId) => {
    requireScheduled(config, ForkName.altair, WHAT);
    const block = await resolveBlock(chain, blockId);
    requireForkAt(config, ForkName.altair, block.slot, WHAT);
    return { block, preState: await stateBefore(chain, block) };
  };

  return {
    async getBlockRewards({ blockId }) {
      const { block, preState } = await rewardedBlock(blockId);
      return { data: await computeBlockRewards(config, block.signed.message, preState), meta: metaOf(block) };
    },

    async getSyncCommitteeRewards({ blockId, validatorIds = [] }) {
      const { block, preState } = await rewardedBlock(blockId);
      const { pubkeyCache } = preState.epochCtx;
      const rewards = await computeSyncCommitteeRewards(config, pubkeyCache, block.signed.message, preState);
      return { data: rewards.filter(isAskedFor(preState, validatorIds)), meta: metaOf(block) };
    },

    async getAttestationsRewards({ epoch, validatorIds = [] }) {
      requireScheduled(config, ForkName.altair, WHAT);
      // An attestation may be included until the end of the next epoch, and is paid for then.
      const lastSlot = computeEndSlotAtEpoch(epoch + 1);
      const resolved = await findState(chain, lastSlot);
      if (resolved === null) {
        throw notFound(
          `The rewards of epoch ${shown(epoch)} are not known: the node has no state of slot ${shown(lastSlot)}, with ` +
            "which the next epoch ends.",
        );
      }
      const { state } = resolved;
      requireForkAt(config, ForkName.altair, state.slot, WHAT);
      const { idealRewards, totalRewards } = await computeAttestationsRewards(
        config,
        state.epochCtx.pubkeyCache,
        state,
      );
      return {
        data: { idealRewards, totalRewards: totalRewards.filter(isAskedFor(state, validatorIds)) },
        meta: metaOf(resolved),
      };
    },
  };
}

function stateBefore({ states }: ChainView, { slot, signed }: ChainBlock): Promise<CachedBeaconStateAllForks> {
  if (slot === GENESIS_SLOT) throw notFound("The genesis block earned nobody anything: there is no state before it.");
  return states.afterBlock(toRootHex(signed.message.parentRoot), slot);
}

/** No ids at all stand for everybody; unknown ones for nobody. */
function isAskedFor(
  state: CachedBeaconStateAllForks,
  ids: readonly (string | number)[],
): (reward: { validatorIndex: ValidatorIndex }) => boolean {
  if (ids.length === 0) return () => true;
  const indices = new Set(indicesInRegistry(state, ids));
  return ({ validatorIndex }) => indices.has(validatorIndex);
}
