import { GENESIS_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { Checkpoint } from "../../chain/fork-choice/types.ts";
import { defineMethod, get } from "../definition.ts";
import { object, shape } from "../schemas.ts";

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
    // Head and checkpoints are read at once, so that they belong together.
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

function firstSlot({ epoch }: Checkpoint): string {
  return String(computeStartSlotAtEpoch(epoch));
}

/** Before anything is justified or final a state has the zero hash for it, while fork choice has the genesis block. */
function rootOf({ epoch, root }: Checkpoint): RootHex {
  return epoch === GENESIS_EPOCH ? ZERO_HASH_HEX : root;
}

export const chainHeadMethods = [getBeaconHead, getChainHead] as const;
