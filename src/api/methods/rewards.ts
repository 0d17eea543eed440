import type { routes } from "@lodestar/api";
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
import { defineOperation, get, post, required } from "../definition.ts";
import { findState, metaOf, resolveBlock } from "../lookup.ts";
import { VALIDATOR_IDS } from "../params/common.ts";
import { blockId } from "../params/identifiers.ts";
import { epoch } from "../params/scalars.ts";
import { requireForkAt, requireScheduled, shown } from "../preconditions.ts";
import { type JsonSchema, list, object, shape } from "../schemas.ts";
import { indicesInRegistry } from "./registry.ts";

/** The genesis block has earned nobody anything. */
const BLOCK_ID = required(blockId, "Which block: head, finalized, a slot or a block root.");

/** A loss is negative. */
const GWEI: JsonSchema = { type: "string", pattern: "^(0|-?[1-9][0-9]*)$" };
const ATTESTATION_REWARDS = { head: GWEI, target: GWEI, source: GWEI, inactivity: GWEI };
const PHASE0_REWARDS = { inclusion_delay: shape("Uint64") };

/** Phase0 pays for whole epochs at once, and what of it belongs to which block cannot be told afterwards. */
const REWARDS = "Rewards that belong to single blocks and votes";

const getBlockRewards = defineOperation("beacon.getBlockRewards", {
  name: "get_v1_beacon_rewards_blocks_blockId",
  summary: "What a block earned its proposer, by what the block includes; from altair on.",
  params: { blockId: BLOCK_ID },
  result: {
    name: "rewards",
    schema: object({
      proposer_index: shape("Uint64"),
      total: shape("Uint64"),
      attestations: shape("Uint64"),
      sync_aggregate: shape("Uint64"),
      proposer_slashings: shape("Uint64"),
      attester_slashings: shape("Uint64"),
    }),
  },
  failures: ["not-found", "unsupported"],
  rest: [get("/eth/v1/beacon/rewards/blocks/{block_id}")],
  cost: "heavy",
  access: "read",
  since: ForkName.altair,
  example: { params: (chain) => [String(chain.slot - 1)] },
  async handler({ chain }, { blockId }) {
    const { block, preState } = await resolveRewardedBlock(chain, blockId);
    return { data: await computeBlockRewards(chain.config, block.signed.message, preState), meta: metaOf(block) };
  },
});

const getSyncCommitteeRewards = defineOperation("beacon.getSyncCommitteeRewards", {
  name: "post_v1_beacon_rewards_sync_committee_blockId",
  summary: "What the members of the sync committee earned or lost by a block; from altair on.",
  params: { blockId: BLOCK_ID, validatorIds: VALIDATOR_IDS },
  result: { name: "rewards", schema: list(object({ validator_index: shape("Uint64"), reward: GWEI })) },
  failures: ["not-found", "unsupported"],
  rest: [post("/eth/v1/beacon/rewards/sync_committee/{block_id}")],
  cost: "heavy",
  access: "read",
  since: ForkName.altair,
  example: { params: (chain) => [String(chain.slot - 1), ["1", chain.pubkey(2)]] },
  async handler({ chain }, { blockId, validatorIds = [] }) {
    const { block, preState } = await resolveRewardedBlock(chain, blockId);
    const { pubkeyCache } = preState.epochCtx;
    const rewards = await computeSyncCommitteeRewards(chain.config, pubkeyCache, block.signed.message, preState);
    return { data: rewards.filter(isAskedFor(preState, validatorIds)), meta: metaOf(block) };
  },
});

const getAttestationsRewards = defineOperation("beacon.getAttestationsRewards", {
  name: "post_v1_beacon_rewards_attestations_epoch",
  summary: "What validators earned or lost by their attestations of an epoch, and could have earned; from altair on.",
  params: {
    epoch: required(epoch, "The epoch of the attestations; the next one must be over."),
    validatorIds: VALIDATOR_IDS,
  },
  result: {
    name: "rewards",
    schema: object({
      ideal_rewards: list(object({ effective_balance: shape("Uint64"), ...ATTESTATION_REWARDS }, PHASE0_REWARDS)),
      total_rewards: list(object({ validator_index: shape("Uint64"), ...ATTESTATION_REWARDS }, PHASE0_REWARDS)),
    }),
  },
  failures: ["not-found", "unsupported"],
  rest: [post("/eth/v1/beacon/rewards/attestations/{epoch}")],
  cost: "heavy",
  access: "read",
  since: ForkName.altair,
  example: { params: (chain) => [String(chain.epoch - 2), ["1", chain.pubkey(2)]] },
  async handler({ chain }, { epoch, validatorIds = [] }) {
    const { config } = chain;
    requireScheduled(config, ForkName.altair, REWARDS);
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
    requireForkAt(config, ForkName.altair, state.slot, REWARDS);
    const { pubkeyCache } = state.epochCtx;
    const { idealRewards, totalRewards } = await computeAttestationsRewards(config, pubkeyCache, state);
    return {
      data: { idealRewards, totalRewards: totalRewards.filter(isAskedFor(state, validatorIds)) },
      meta: metaOf(resolved),
    };
  },
});

export const rewardMethods = [getBlockRewards, getSyncCommitteeRewards, getAttestationsRewards] as const;

async function resolveRewardedBlock(chain: ChainView, id: routes.beacon.BlockId) {
  requireScheduled(chain.config, ForkName.altair, REWARDS);
  const block = await resolveBlock(chain, id);
  requireForkAt(chain.config, ForkName.altair, block.slot, REWARDS);
  return { block, preState: await stateBefore(chain, block) };
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
