import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { EFFECTIVE_BALANCE_INCREMENT, ForkName, ZERO_HASH_HEX } from "@lodestar/params";
import type { deneb, RootHex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { Checkpoint, ForkChoiceBlock } from "../chain/fork-choice/types.ts";
import { unsupported } from "../failure.ts";
import type { ChainView } from "./chain-view.ts";
import { requireForkAt, requireScheduled } from "./fork-support.ts";
import { type ResolvedState, resolveBlock, resolveState } from "./identifiers.ts";

export interface DebugApi
  extends Pick<
    ApplicationMethods<routes.debug.Endpoints>,
    "getDebugChainHeadsV2" | "getStateV2" | "getDebugForkChoice" | "getDebugDataColumnSidecars"
  > {
  /** The heads as the standard's first version had them, which is no longer part of the vocabulary. */
  getDebugChainHeads(): Promise<{ root: RootHex; slot: string }[]>;
}

export function stateMeta({ config }: Pick<ChainView, "config">, resolved: ResolvedState) {
  const { state, executionOptimistic, finalized } = resolved;
  return { executionOptimistic, finalized, version: config.getForkName(state.slot) };
}

export function createDebugApi(chain: ChainView): DebugApi {
  return {
    async getDebugChainHeadsV2() {
      return {
        data: chain.forkChoice.leaves().map(({ root, slot, execution }) => ({
          root,
          slot,
          executionOptimistic: execution.status === "optimistic",
        })),
      };
    },

    async getDebugChainHeads() {
      return chain.forkChoice.leaves().map(({ root, slot }) => ({ root, slot: String(slot) }));
    },

    async getStateV2({ stateId }, context) {
      const resolved = await resolveState(chain, stateId);
      const { state } = resolved;
      return { data: context?.returnBytes ? state.serialize() : state.toValue(), meta: stateMeta(chain, resolved) };
    },

    async getDebugForkChoice() {
      const { forkChoice } = chain;
      return {
        data: {
          justifiedCheckpoint: sszCheckpoint(forkChoice.justified),
          finalizedCheckpoint: sszCheckpoint(forkChoice.finalized),
          forkChoiceNodes: Array.from(forkChoice.all(), (block) =>
            forkChoiceNode(block, forkChoice.weightOf(block.root)),
          ),
        },
      };
    },

    /** The node keeps no columns, so it can only answer for blocks that need none. */
    async getDebugDataColumnSidecars({ blockId }) {
      requireScheduled(chain.config, ForkName.fulu, DATA_COLUMNS);
      const block = await resolveBlock(chain, blockId);
      requireForkAt(chain.config, ForkName.fulu, block.slot, DATA_COLUMNS);
      const { blobKzgCommitments } = block.signed.message.body as deneb.BeaconBlockBody;
      if (blobKzgCommitments.length > 0) {
        throw unsupported(
          `${DATA_COLUMNS} came with fulu; the node does not keep those of the block of slot ${block.slot}.`,
        );
      }
      const { executionOptimistic, finalized } = block;
      return { data: [], meta: { executionOptimistic, finalized, version: chain.config.getForkName(block.slot) } };
    },
  };
}

const DATA_COLUMNS = "Data columns";

function sszCheckpoint({ epoch, root }: Checkpoint) {
  return { epoch, root: fromHex(root) };
}

/** Weights are counted in increments inside the node, and in Gwei by the specification (get_weight). */
function forkChoiceNode({ slot, root, parentRoot, justified, finalized, execution }: ForkChoiceBlock, weight: number) {
  const isPreMerge = execution.status === "pre-merge";
  return {
    slot,
    blockRoot: root,
    parentRoot,
    justifiedEpoch: justified.epoch,
    finalizedEpoch: finalized.epoch,
    weight: weight * EFFECTIVE_BALANCE_INCREMENT,
    validity: isPreMerge ? ("valid" as const) : execution.status,
    executionBlockHash: isPreMerge ? ZERO_HASH_HEX : execution.blockHash,
  };
}
