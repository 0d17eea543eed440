import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { RootHex } from "@lodestar/types";
import type { ChainView } from "./chain-view.ts";
import { type ResolvedState, resolveState } from "./identifiers.ts";

export interface DebugApi
  extends Pick<ApplicationMethods<routes.debug.Endpoints>, "getDebugChainHeadsV2" | "getStateV2"> {
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
  };
}
