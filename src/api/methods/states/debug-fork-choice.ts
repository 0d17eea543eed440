import { EFFECTIVE_BALANCE_INCREMENT, ZERO_HASH_HEX } from "@lodestar/params";
import { fromHex } from "@lodestar/utils";
import type { ForkChoice } from "../../../chain/fork-choice/fork-choice.ts";
import {
  type Checkpoint,
  executionBlockOf,
  type ForkChoiceBlock,
  type ForkChoiceNode,
} from "../../../chain/fork-choice/types.ts";
import { defineMethod, defineOperation, get } from "../../definition.ts";
import { described, either, list, nothing, object, shape } from "../../schemas.ts";

const validity = { type: "string", enum: ["valid", "invalid", "optimistic"] };
const payloadStatus = { type: "string", enum: ["pending", "empty", "full"] };
const CHECKPOINTS = { justified_checkpoint: shape("Checkpoint"), finalized_checkpoint: shape("Checkpoint") };

export const getDebugForkChoice = defineOperation("debug.getDebugForkChoice", {
  name: "get_v1_debug_fork_choice",
  summary:
    "Checkpoints and blocks of fork choice, with their weights in Gwei. Since gloas, the status is that of the newest " +
    "payload on the block's chain.",
  result: {
    name: "fork_choice",
    schema: object({
      ...CHECKPOINTS,
      fork_choice_nodes: list(
        object({
          slot: shape("Uint64"),
          block_root: shape("Root"),
          parent_root: shape("Root"),
          justified_epoch: shape("Uint64"),
          finalized_epoch: shape("Uint64"),
          weight: shape("Uint64"),
          validity,
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
        forkChoiceNodes: Array.from(forkChoice.all(), (block) => blockNode(block, forkChoice)),
      },
    };
  },
});

export const getDebugForkChoiceV2 = defineMethod({
  name: "get_v2_debug_fork_choice",
  summary:
    "Checkpoints and nodes of fork choice, with their weights in Gwei. Since gloas, a block has a node regardless of " +
    "its payload (pending), one without it (empty) and, once it is revealed, one with it (full).",
  result: {
    name: "fork_choice",
    schema: object({
      ...CHECKPOINTS,
      fork_choice_nodes: list(
        object({
          slot: shape("Uint64"),
          block_root: shape("Root"),
          payload_status: described(payloadStatus, "Before gloas always full."),
          parent_root: described(shape("Root"), "The block itself if its pending node is the parent."),
          parent_payload_status: described(either(payloadStatus, nothing), "null if the parent has been pruned."),
          ...CHECKPOINTS,
          weight: shape("Uint64"),
          validity,
          execution_block_hash: described(shape("Root"), "Newest payload on the chain of the node."),
          payload_attester_count: described(
            shape("Uint64"),
            "Positions of the payload timeliness committee that voted.",
          ),
          payload_availability_yes_count: described(shape("Uint64"), "Votes that the payload is present."),
          payload_data_availability_yes_count: described(shape("Uint64"), "Votes that its blobs are available."),
          extra_data: object({
            state_root: shape("Root"),
            unrealized_justified_checkpoint: shape("Checkpoint"),
            unrealized_finalized_checkpoint: shape("Checkpoint"),
          }),
        }),
      ),
      extra_data: object({
        head_root: shape("Root"),
        head_payload_status: payloadStatus,
        proposer_boost_root: described(shape("Root"), "Zero without a boosted block."),
      }),
    }),
  },
  failures: [],
  rest: [get("/eth/v2/debug/fork_choice")],
  cost: "cheap",
  access: "debug",
  example: {},
  handler({ chain: { forkChoice } }) {
    const { justified, finalized, headNode, proposerBoostRoot } = forkChoice;
    return {
      justified_checkpoint: jsonCheckpoint(justified),
      finalized_checkpoint: jsonCheckpoint(finalized),
      fork_choice_nodes: Array.from(forkChoice.all()).flatMap((block) => nodesOf(block, forkChoice)),
      extra_data: {
        head_root: headNode.root,
        head_payload_status: headNode.payloadStatus,
        proposer_boost_root: proposerBoostRoot ?? ZERO_HASH_HEX,
      },
    };
  },
});

function sszCheckpoint({ epoch, root }: Checkpoint) {
  return { epoch, root: fromHex(root) };
}

const jsonCheckpoint = ({ epoch, root }: Checkpoint) => ({ epoch: String(epoch), root });

/**
 * Converts a block with the status of the newest payload that has been verified on its chain. Weights are converted from
 * effective balance increments to Gwei (phase0/fork-choice.md, get_weight).
 */
function blockNode(block: ForkChoiceBlock, forkChoice: ForkChoice) {
  const { slot, root, parentRoot, justified, finalized } = block;
  return {
    slot,
    blockRoot: root,
    parentRoot,
    justifiedEpoch: justified.epoch,
    finalizedEpoch: finalized.epoch,
    weight: toGwei(forkChoice.weightOf(root)),
    validity: validityOf({ root, payloadStatus: forkChoice.isPayloadVerified(root) ? "full" : "empty" }, forkChoice),
    executionBlockHash: block.bid?.blockHash ?? executionBlockOf(block)?.blockHash ?? ZERO_HASH_HEX,
  };
}

function nodesOf(block: ForkChoiceBlock, forkChoice: ForkChoice) {
  const { slot, root, bid } = block;
  const present = forkChoice.payloadVotesOf(root, "payloadPresent").filter((vote) => vote !== null);
  const available = forkChoice.payloadVotesOf(root, "blobDataAvailable");
  return forkChoice.nodesOf(root).map(({ payloadStatus, weight }) => {
    const isVariant = bid !== undefined && payloadStatus !== "pending";
    const parentStatus = forkChoice.has(block.parentRoot) ? forkChoice.parentPayloadStatus(root) : null;
    return {
      slot: String(slot),
      block_root: root,
      payload_status: payloadStatus,
      parent_root: isVariant ? root : block.parentRoot,
      parent_payload_status: isVariant ? "pending" : parentStatus,
      justified_checkpoint: jsonCheckpoint(block.justified),
      finalized_checkpoint: jsonCheckpoint(block.finalized),
      weight: String(toGwei(weight)),
      validity: validityOf({ root, payloadStatus }, forkChoice),
      execution_block_hash: (payloadStatus === "full" ? blockHashOf(block) : bid?.parentBlockHash) ?? ZERO_HASH_HEX,
      payload_attester_count: String(present.length),
      payload_availability_yes_count: String(present.filter(Boolean).length),
      payload_data_availability_yes_count: String(available.filter(Boolean).length),
      extra_data: {
        state_root: block.stateRoot,
        unrealized_justified_checkpoint: jsonCheckpoint(block.unrealizedJustified),
        unrealized_finalized_checkpoint: jsonCheckpoint(block.unrealizedFinalized),
      },
    };
  });
}

const blockHashOf = (block: ForkChoiceBlock) => executionBlockOf(block)?.blockHash;

/** Status of the newest payload on the chain of a node. */
function validityOf(node: ForkChoiceNode, forkChoice: ForkChoice): "valid" | "invalid" | "optimistic" {
  const status = forkChoice.payloadBlock(node)?.execution.status;
  return status === "invalid" || status === "optimistic" ? status : "valid";
}

/** The proposer boost may be a fraction of an increment, but it is an integer in Gwei. */
const toGwei = (weight: number): number => Math.round(weight * EFFECTIVE_BALANCE_INCREMENT);
