import type { routes } from "@lodestar/api";
import { ForkName } from "@lodestar/params";
import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import { type BuilderIndex, getBuilderStatus } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import { defineOperation, optional, post } from "../../definition.ts";
import { metaOf, resolveState } from "../../lookup.ts";
import { STATE_ID } from "../../params/common.ts";
import type { ValidatorId } from "../../params/identifiers.ts";
import { registryFilter } from "../../params/registry-filter.ts";
import { stringEnum } from "../../params/scalars.ts";
import { requireForkAt } from "../../preconditions.ts";
import { list, shape } from "../../schemas.ts";

/** Number of builders between checks of the time slice. */
const BUILDERS_PER_CHECK = 256;

const getStateBuilders = defineOperation("beacon.getStateBuilders", {
  name: "post_v1_beacon_states_stateId_builders",
  summary: "Builders of a state with their balances and statuses, by index.",
  params: {
    stateId: STATE_ID,
    filter: optional(
      registryFilter(stringEnum(["pending", "active", "exited"])),
      "Ids and statuses of the builders. Default: all.",
    ),
  },
  result: { name: "builders", schema: list(shape("StateBuilder")) },
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/builders")],
  cost: "state",
  access: "read",
  since: ForkName.gloas,
  dependsOn: "head",
  example: { params: ["head", { ids: ["0"], statuses: ["active"] }] },
  async handler({ chain }, { stateId, filter }, call) {
    const resolved = await resolveState(chain, stateId, call);
    requireForkAt(chain.config, ForkName.gloas, resolved.state.slot, "Builders");
    const state = resolved.state as CachedBeaconStateGloas;
    return { data: await selectBuilders(state, filter), meta: metaOf(resolved) };
  },
});

export const stateBuilderMethods = [getStateBuilders] as const;

/** Empty lists select all builders. Unknown ids are ignored. */
async function selectBuilders(
  { builders, finalizedCheckpoint }: CachedBeaconStateGloas,
  { ids = [], statuses = [] }: { ids?: ValidatorId[]; statuses?: string[] } = {},
): Promise<routes.beacon.BuilderResponse[]> {
  const isSelected = selectionOf(ids);
  const selected: routes.beacon.BuilderResponse[] = [];
  const slice = new TimeSlice();
  for (let index = 0; index < builders.length; index++) {
    if (index % BUILDERS_PER_CHECK === 0) await slice.yieldIfDue();
    const builder = builders.getReadonly(index);
    if (!isSelected(index, builder.pubkey)) continue;
    const status = getBuilderStatus(builder, finalizedCheckpoint.epoch);
    if (statuses.length > 0 && !statuses.includes(status)) continue;
    selected.push({ index, status, builder: builder.toValue() });
  }
  return selected;
}

function selectionOf(ids: readonly ValidatorId[]): (index: BuilderIndex, pubkey: Uint8Array) => boolean {
  if (ids.length === 0) return () => true;
  const known = new Set(ids);
  const hasKeys = ids.some((id) => typeof id === "string");
  return (index, pubkey) => known.has(index) || (hasKeys && known.has(toHex(pubkey)));
}
