import { GENESIS_SLOT } from "@lodestar/params";
import { type CachedBeaconStateAllForks, computeEndSlotAtEpoch } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import type { ChainBlock } from "../../../chain/blocks/block-store.ts";
import { type AttestationRewards, computeAttestationRewards } from "../../../chain/rewards/attestation-rewards.ts";
import { computeBlockRewards, genesisBlockRewards } from "../../../chain/rewards/block-rewards.ts";
import {
  computeSyncCommitteeRewards,
  genesisSyncCommitteeRewards,
} from "../../../chain/rewards/sync-committee-rewards.ts";
import { notFound } from "../../../errors/failure.ts";
import { type SharedStream, writeOrStream } from "../../../json/shared-stream.ts";
import { RewardRows } from "../../../json/writers/reward-writers.ts";
import type { ChainView } from "../../chain-view.ts";
import { type CallContext, defineEncoded, defineOperation, get, post, required } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { findState, latestBlockRoot, metaOf, resolveBlock, resolveState } from "../../lookup.ts";
import { BLOCK_ID, VALIDATOR_IDS } from "../../params/common.ts";
import { epoch } from "../../params/scalars.ts";
import { described, list, object, shape } from "../../schemas.ts";
import { indicesInRegistry } from "../states/registry.ts";

/** Number of validators between checks of the time slice. */
const VALIDATORS_PER_CHECK = 1024;

const GWEI = described({ type: "string", pattern: "^(0|-?[1-9][0-9]*)$" }, "Amount in Gwei; penalties are negative.");
const VOTE_REWARDS = { head: GWEI, target: GWEI, source: GWEI, inactivity: GWEI };
const INCLUSION_DELAY = {
  inclusion_delay: described(
    shape("Uint64"),
    "Only in phase0. Includes the proposer's reward for including attestations.",
  ),
};

const getBlockRewards = defineOperation("beacon.getBlockRewards", {
  name: "get_v1_beacon_rewards_blocks_blockId",
  summary:
    "Rewards of a block's proposer by kind. Phase0 pays proposers for attestations later, as part of the attestation " +
    "rewards of their epoch.",
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
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/rewards/blocks/{block_id}")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.slot - 1)], isShownLater: true },
  async handler({ chain }, { blockId }, call) {
    const block = await resolveBlock(chain, blockId);
    const isGenesis = block.slot === GENESIS_SLOT;
    const data = isGenesis
      ? genesisBlockRewards(block.signed)
      : await computeBlockRewards(await preStateOf(chain, block, call), block.signed);
    return { data, meta: metaOf(block) };
  },
});

const getSyncCommitteeRewards = defineOperation("beacon.getSyncCommitteeRewards", {
  name: "post_v1_beacon_rewards_sync_committee_blockId",
  summary: "Rewards and penalties of the sync committee members for a block; none before altair.",
  params: { blockId: BLOCK_ID, validatorIds: VALIDATOR_IDS },
  result: { name: "rewards", schema: list(object({ validator_index: shape("Uint64"), reward: GWEI })) },
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/rewards/sync_committee/{block_id}")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.slot - 1), ["1", chain.pubkey(2)]], isShownLater: true },
  async handler({ chain }, { blockId, validatorIds = [] }, call) {
    const block = await resolveBlock(chain, blockId);
    const isGenesis = block.slot === GENESIS_SLOT;
    const state = isGenesis ? (await resolveState(chain, "genesis")).state : await preStateOf(chain, block, call);
    const rewards = isGenesis
      ? genesisSyncCommitteeRewards(state)
      : await computeSyncCommitteeRewards(state, block.signed);
    return { data: rewards.filter(await validatorFilter(state, validatorIds)), meta: metaOf(block) };
  },
});

const getAttestationsRewards = defineEncoded({
  name: "post_v1_beacon_rewards_attestations_epoch",
  summary:
    "Rewards and penalties of validators for their attestations in an epoch, and the ideal rewards by effective balance.",
  params: {
    epoch: required(epoch, "Epoch of the attestations. The last slot of the next epoch must be over or have a block."),
    validatorIds: VALIDATOR_IDS,
  },
  result: {
    name: "rewards",
    schema: object({
      ideal_rewards: list(object({ effective_balance: shape("Uint64"), ...VOTE_REWARDS }, INCLUSION_DELAY)),
      total_rewards: list(object({ validator_index: shape("Uint64"), ...VOTE_REWARDS }, INCLUSION_DELAY)),
    }),
  },
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/rewards/attestations/{epoch}")],
  cost: "heavy",
  access: "read",
  example: { params: (chain) => [String(chain.epoch - 2), ["1", chain.pubkey(2)]], isShownLater: true },
  codec: ({ beacon }) => beacon.getAttestationsRewards.resp,
  async json({ chain }, { epoch, validatorIds = [] }, codec, call) {
    // Attestations can be included until the end of the next epoch, which is when rewards are applied.
    const lastSlot = computeEndSlotAtEpoch(epoch + 1);
    const isOver = lastSlot < chain.clock.currentSlot || chain.head.slot === lastSlot;
    const resolved = isOver ? await findState(chain, lastSlot, call) : null;
    if (resolved === null) {
      const end = Number.isFinite(lastSlot) ? ` It ends with slot ${lastSlot}.` : "";
      const reason = isOver ? `the node has no state of slot ${lastSlot}.` : `the next epoch is not over.${end}`;
      throw notFound(`The rewards of epoch ${epoch} are not available: ${reason}`);
    }
    const { state } = resolved;
    const after = await chain.states.afterBlock(latestBlockRoot(state), lastSlot + 1, { waiting: call });
    const rewards = await computeAttestationRewards(state, after);
    const indices = validatorIds.length === 0 ? allIndices(state) : await indicesInRegistry(state, validatorIds);
    return { body: await attestationRewardsBody(rewards, indices), ...encodeMeta(codec.meta, metaOf(resolved)) };
  },
});

export const rewardMethods = [getBlockRewards, getSyncCommitteeRewards, getAttestationsRewards] as const;

function allIndices({ validators }: CachedBeaconStateAllForks): Uint32Array {
  return Uint32Array.from({ length: validators.length }, (_, index) => index);
}

/** Encodes attestation rewards. The codec in @lodestar/api includes inclusion delays in all forks. */
async function attestationRewardsBody(
  { idealRewards, rewardOf }: AttestationRewards,
  indices: Uint32Array,
): Promise<Buffer | SharedStream> {
  const ideal = new RewardRows(idealRewards.length);
  for (const { effectiveBalance, ...rewards } of idealRewards) ideal.add({ key: effectiveBalance, ...rewards });
  const total = new RewardRows(indices.length);
  const slice = new TimeSlice();
  for (const [position, validator] of indices.entries()) {
    total.add({ key: validator, ...rewardOf(validator) });
    if (position % VALIDATORS_PER_CHECK === 0) await slice.yieldIfDue();
  }
  const hasInclusionDelays = idealRewards.some(({ inclusionDelay }) => inclusionDelay !== undefined);
  const input = { ideal: ideal.rows, total: total.rows, hasInclusionDelays };
  return writeOrStream({ writer: "attestationRewards", input }, indices.length);
}

function preStateOf(
  { states }: ChainView,
  { slot, signed }: ChainBlock,
  waiting: CallContext | undefined,
): Promise<CachedBeaconStateAllForks> {
  return states.afterBlock(toRootHex(signed.message.parentRoot), slot, { waiting });
}

/** Returns a filter by validator. An empty list selects all validators. Unknown ids are ignored. */
async function validatorFilter(
  state: CachedBeaconStateAllForks,
  ids: readonly (string | number)[],
): Promise<(reward: { validatorIndex: ValidatorIndex }) => boolean> {
  if (ids.length === 0) return () => true;
  const indices = new Set(await indicesInRegistry(state, ids));
  return ({ validatorIndex }) => indices.has(validatorIndex);
}
