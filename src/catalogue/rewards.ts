import { defineEntry, get, optional, post, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { blockId, validatorId } from "./params/identifiers.ts";
import { epoch } from "./params/integers.ts";

const BLOCK_ID = required(blockId, "Which block: head, finalized, a slot or a block root.");
const VALIDATOR_IDS = optional(
  arrayOf(validatorId, { noun: "validator ids" }),
  "Only these validators, each by index or public key; by default all.",
);

/** Who earned what, from altair on, in Gwei. */
export const rewardEntries = [
  defineEntry({
    number: null,
    name: "get_v1_beacon_rewards_blocks_blockId",
    summary: "What a block earned its proposer, by what the block includes; from altair on.",
    params: { block_id: BLOCK_ID },
    rest: get("/eth/v1/beacon/rewards/blocks/{block_id}"),
    invoke: ({ operations }, { block_id }) => operations.beacon.getBlockRewards({ blockId: block_id }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_rewards_sync_committee_blockId",
    summary: "What the members of the sync committee earned or lost by a block; from altair on.",
    params: { block_id: BLOCK_ID, validator_ids: VALIDATOR_IDS },
    rest: post("/eth/v1/beacon/rewards/sync_committee/{block_id}"),
    invoke: ({ operations }, { block_id, validator_ids }) =>
      operations.beacon.getSyncCommitteeRewards({ blockId: block_id, validatorIds: validator_ids }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_rewards_attestations_epoch",
    summary: "What validators earned or lost by their votes of an epoch, and could have earned; from altair on.",
    params: {
      epoch: required(epoch, "The epoch of the votes; the next one must be over."),
      validator_ids: VALIDATOR_IDS,
    },
    rest: post("/eth/v1/beacon/rewards/attestations/{epoch}"),
    invoke: ({ operations }, { epoch, validator_ids }) =>
      operations.beacon.getAttestationsRewards({ epoch, validatorIds: validator_ids }),
  }),
];
