import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { ChainView } from "../chain-view.ts";
import { type ResolvedState, resolveState } from "../identifiers.ts";
import { perState } from "../per-state.ts";

export type StatesApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  "getStateRoot" | "getStateFork" | "getStateFinalityCheckpoints"
>;

/** What stands beside the data of a state or a block. There are four such objects, so that each is encoded once. */
export const metaOf = ({ executionOptimistic, finalized }: StateMeta): StateMeta =>
  META_OBJECTS[(executionOptimistic ? 2 : 0) + (finalized ? 1 : 0)]!;

type StateMeta = Pick<ResolvedState, "executionOptimistic" | "finalized">;

const META_OBJECTS: readonly StateMeta[] = [false, true].flatMap((executionOptimistic) =>
  [false, true].map((finalized) => Object.freeze({ executionOptimistic, finalized })),
);

const forkOf = perState(({ fork }) => fork.toValue());

const checkpointsOf = perState((state) => ({
  previousJustified: state.previousJustifiedCheckpoint.toValue(),
  currentJustified: state.currentJustifiedCheckpoint.toValue(),
  finalized: state.finalizedCheckpoint.toValue(),
}));

export function createStatesApi(chain: ChainView): StatesApi {
  return {
    async getStateRoot({ stateId }) {
      const resolved = await resolveState(chain, stateId);
      return { data: { root: resolved.state.hashTreeRoot() }, meta: metaOf(resolved) };
    },

    async getStateFork({ stateId }) {
      const resolved = await resolveState(chain, stateId);
      return { data: forkOf(resolved.state), meta: metaOf(resolved) };
    },

    async getStateFinalityCheckpoints({ stateId }) {
      const resolved = await resolveState(chain, stateId);
      return { data: checkpointsOf(resolved.state), meta: metaOf(resolved) };
    },
  };
}
