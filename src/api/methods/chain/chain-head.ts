import { EFFECTIVE_BALANCE_INCREMENT, GENESIS_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { BeaconBlockBody, RootHex } from "@lodestar/types";
import type { Checkpoint } from "../../../chain/fork-choice/types.ts";
import { latestBlock } from "../../../chain/states/latest-block.ts";
import { currentParticipationRate, participationRate } from "../../../chain/states/participation-rate.ts";
import { defineMethod, get, optional } from "../../definition.ts";
import { resolveState } from "../../lookup.ts";
import { stateId } from "../../params/identifiers.ts";
import { described, either, nothing, number, object, shape } from "../../schemas.ts";

const getBeaconHead = defineMethod({
  number: 47,
  name: "getBeaconHead",
  summary: "The slot of the head block.",
  result: { name: "head_slot", schema: shape("Uint64") },
  failures: [],
  rest: [get("/fanal/v1/beacon/head"), get("/nimbus/v1/beacon/head")],
  cost: "cheap",
  access: "read",
  dependsOn: "head",
  example: {},
  handler: ({ chain }) => String(chain.head.slot),
});

const getChainHead = defineMethod({
  number: 48,
  name: "getChainHead",
  summary: "Slots and roots of the head block and of the justified and finalized checkpoints of fork choice.",
  result: {
    name: "chain_head",
    schema: object({
      head_slot: shape("Uint64"),
      head_block_root: shape("Root"),
      finalized_slot: shape("Uint64"),
      finalized_block_root: shape("Root"),
      justified_slot: shape("Uint64"),
      justified_block_root: shape("Root"),
    }),
  },
  failures: [],
  rest: [get("/fanal/v1/chain/head"), get("/nimbus/v1/chain/head")],
  cost: "cheap",
  access: "read",
  dependsOn: "head",
  example: {},
  handler({ chain }) {
    // All three are read synchronously, so that the head and the checkpoints are consistent.
    const { head, finalizedCheckpoint, justifiedCheckpoint } = chain;
    return {
      head_slot: String(head.slot),
      head_block_root: head.root,
      finalized_slot: firstSlot(finalizedCheckpoint),
      finalized_block_root: rootOf(finalizedCheckpoint),
      justified_slot: firstSlot(justifiedCheckpoint),
      justified_block_root: rootOf(justifiedCheckpoint),
    };
  },
});

const FRACTION = { ...number, minimum: 0, maximum: 1 };

const getParticipation = defineMethod({
  name: "getParticipation",
  summary: "Number of validators in a state, their stake, and the share of it that votes.",
  params: {
    stateId: optional(stateId, "State id: head, genesis, finalized, justified, a slot or a state root. Default: head."),
  },
  result: {
    name: "participation",
    schema: object({
      epoch: described(shape("Uint64"), "Epoch of the state."),
      validators: described(shape("Uint64"), "Size of the registry, including exited validators."),
      active_validators: shape("Uint64"),
      active_balance: described(shape("Uint64"), "Effective balance of the active validators, in Gwei."),
      current_epoch: described(FRACTION, "Share of the active balance with included attestations in this epoch."),
      previous_epoch: described(either(FRACTION, nothing), "The same for the previous epoch; null in the first epoch."),
      sync_committee: described(
        either(FRACTION, nothing),
        "Share of the sync committee that signed the parent of the latest block; null before altair.",
      ),
    }),
  },
  failures: ["not-found"],
  rest: [get("/fanal/v1/chain/participation")],
  cost: "state",
  access: "read",
  dependsOn: "head",
  example: {},
  async handler({ chain }, { stateId = "head" }, call) {
    const { state } = await resolveState(chain, stateId, call);
    const { epochCtx } = state;
    const block = await chain.blocks.byRoot(latestBlock(state).root);
    return {
      epoch: String(computeEpochAtSlot(state.slot)),
      validators: String(state.validators.length),
      active_validators: String(epochCtx.currentShuffling.activeIndices.length),
      active_balance: String(BigInt(epochCtx.totalActiveBalanceIncrements) * BigInt(EFFECTIVE_BALANCE_INCREMENT)),
      current_epoch: currentParticipationRate(state),
      previous_epoch: participationRate(state) ?? null,
      sync_committee: block && syncParticipation(block.signed.message.body),
    };
  },
});

function syncParticipation(body: BeaconBlockBody): number | null {
  if (!("syncAggregate" in body)) return null;
  const { bitLen, uint8Array } = body.syncAggregate.syncCommitteeBits;
  const signers = uint8Array.reduce((count, byte) => count + byte.toString(2).replaceAll("0", "").length, 0);
  return signers / bitLen;
}

function firstSlot({ epoch }: Checkpoint): string {
  return String(computeStartSlotAtEpoch(epoch));
}

/**
 * Returns the root of a checkpoint. For genesis this is the zero hash, as in states, whereas fork choice has the root
 * of the genesis block.
 */
function rootOf({ epoch, root }: Checkpoint): RootHex {
  return epoch === GENESIS_EPOCH ? ZERO_HASH_HEX : root;
}

export const chainHeadMethods = [getBeaconHead, getChainHead, getParticipation] as const;
