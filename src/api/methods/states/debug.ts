import { EFFECTIVE_BALANCE_INCREMENT, ZERO_HASH_HEX } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import type { ForkChoice } from "../../../chain/fork-choice/fork-choice.ts";
import { type Checkpoint, executionBlockOf, type ForkChoiceBlock } from "../../../chain/fork-choice/types.ts";
import { unsupported } from "../../../errors/failure.ts";
import { defineMethod, defineOperation, get } from "../../definition.ts";
import { boolean, list, number, object, shape, text } from "../../schemas.ts";

const getDebugChainHeadsV2 = defineOperation("debug.getDebugChainHeadsV2", {
  number: 46,
  name: "get_v2_debug_beacon_heads",
  summary: "Leaves of the fork choice tree, with their payload status.",
  result: {
    name: "heads",
    schema: list(object({ root: shape("Root"), slot: shape("Uint64"), execution_optimistic: boolean })),
  },
  failures: [],
  rest: [get("/eth/v2/debug/beacon/heads")],
  cost: "cheap",
  access: "debug",
  dependsOn: "head",
  example: {},
  handler: async ({ chain }) => ({
    data: chain.forkChoice.leaves().map(({ root, slot }) => ({
      root,
      slot,
      executionOptimistic: chain.payloads.isOptimistic({ root, slot }),
    })),
  }),
});

const getDebugChainHeads = defineMethod({
  name: "get_v1_debug_beacon_heads",
  summary: "Leaves of the fork choice tree.",
  result: { name: "heads", schema: list(object({ root: shape("Root"), slot: shape("Uint64") })) },
  failures: [],
  rest: [get("/eth/v1/debug/beacon/heads")],
  cost: "cheap",
  access: "debug",
  dependsOn: "head",
  example: {},
  handler: ({ chain }) => chain.forkChoice.leaves().map(({ root, slot }) => ({ root, slot: String(slot) })),
});

const getDebugForkChoice = defineOperation("debug.getDebugForkChoice", {
  name: "get_v1_debug_fork_choice",
  summary: "Checkpoints and blocks of fork choice, with their weights in Gwei.",
  result: {
    name: "fork_choice",
    schema: object({
      justified_checkpoint: shape("Checkpoint"),
      finalized_checkpoint: shape("Checkpoint"),
      fork_choice_nodes: list(
        object({
          slot: shape("Uint64"),
          block_root: shape("Root"),
          parent_root: shape("Root"),
          justified_epoch: shape("Uint64"),
          finalized_epoch: shape("Uint64"),
          weight: shape("Uint64"),
          validity: { type: "string", enum: ["valid", "invalid", "optimistic"] },
          execution_block_hash: shape("Root"),
        }),
      ),
    }),
  },
  failures: [],
  rest: [get("/eth/v1/debug/fork_choice")],
  cost: "cheap",
  access: "debug",
  example: {},
  async handler({ chain: { forkChoice } }) {
    return {
      data: {
        justifiedCheckpoint: sszCheckpoint(forkChoice.justified),
        finalizedCheckpoint: sszCheckpoint(forkChoice.finalized),
        forkChoiceNodes: Array.from(forkChoice.all(), (block) => forkChoiceNode(block, forkChoice)),
      },
    };
  },
});

function sszCheckpoint({ epoch, root }: Checkpoint) {
  return { epoch, root: fromHex(root) };
}

/**
 * Converts a block with the status of the newest payload that has been verified on its chain. Weights are converted from effective balance increments to Gwei (phase0/fork-choice.md,
 * get_weight).
 */
function forkChoiceNode(block: ForkChoiceBlock, forkChoice: ForkChoice) {
  const { slot, root, parentRoot, justified, finalized } = block;
  const payloadStatus = forkChoice.isPayloadVerified(root) ? "full" : "empty";
  const status = forkChoice.payloadBlock({ root, payloadStatus })?.execution.status;
  return {
    slot,
    blockRoot: root,
    parentRoot,
    justifiedEpoch: justified.epoch,
    finalizedEpoch: finalized.epoch,
    // The proposer boost may be a fraction of an increment, but it is an integer in Gwei.
    weight: Math.round(forkChoice.weightOf(root) * EFFECTIVE_BALANCE_INCREMENT),
    validity: status === "invalid" || status === "optimistic" ? status : ("valid" as const),
    executionBlockHash: block.bid?.blockHash ?? executionBlockOf(block)?.blockHash ?? ZERO_HASH_HEX,
  };
}

const getPendingPromises = defineMethod({
  number: 61,
  name: "debug_getChronosFutures",
  aliases: ["getChronosFutures"],
  summary: "Pending promises of the process. Requires --track-futures.",
  result: {
    name: "futures",
    schema: list(object({ id: text, child_id: text, procname: text, filename: text, line: number, state: text })),
  },
  failures: ["unsupported"],
  rest: [get("/fanal/v1/debug/chronos/futures"), get("/nimbus/v1/debug/chronos/futures")],
  cost: "cheap",
  access: "debug",
  example: {},
  handler({ futures }) {
    if (futures) return futures.pending();
    throw unsupported("Futures are not tracked. Start the node with --track-futures.");
  },
});

export const debugMethods = [getDebugChainHeadsV2, getDebugChainHeads, getDebugForkChoice, getPendingPromises] as const;
