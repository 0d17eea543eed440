import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { phase0 } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
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
  example: {},
  handler: ({ chain }) => String(chain.head.slot),
});

const getChainHead = defineMethod({
  number: 48,
  name: "getChainHead",
  summary: "Slots and roots of the head block and of the head state's checkpoints.",
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
  example: {},
  handler({ chain }) {
    // Head and checkpoints are read at once, so that they belong together.
    const { head, headState } = chain;
    return {
      head_slot: String(head.slot),
      head_block_root: head.root,
      finalized_slot: firstSlot(headState.finalizedCheckpoint),
      finalized_block_root: toRootHex(headState.finalizedCheckpoint.root),
      justified_slot: firstSlot(headState.currentJustifiedCheckpoint),
      justified_block_root: toRootHex(headState.currentJustifiedCheckpoint.root),
    };
  },
});

function firstSlot({ epoch }: Pick<phase0.Checkpoint, "epoch">): string {
  return String(computeStartSlotAtEpoch(epoch));
}

export const chainHeadMethods = [getBeaconHead, getChainHead] as const;
