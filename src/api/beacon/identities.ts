import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { ChainView } from "../chain-view.ts";
import { resolveState } from "../identifiers.ts";
import { indicesInRegistry, REGISTRY_SLICE, registrySlices } from "./registry.ts";
import { metaOf } from "./states.ts";
import type { BalancesQuery, SlicedList } from "./validators.ts";

export type ValidatorIdentity = routes.beacon.state.ValidatorIdentities[number];

export type IdentitiesApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "postStateValidatorIdentities">;

export function createIdentitiesApi(chain: ChainView): IdentitiesApi {
  return {
    async postStateValidatorIdentities(query) {
      const { slices, resolved } = await listIdentities(chain, query);
      return { data: Array.from(slices).flat(), meta: metaOf(resolved) };
    },
  };
}

/** What never changes about validators, and when they became active. */
export async function listIdentities(
  chain: ChainView,
  { stateId, validatorIds = [] }: BalancesQuery,
): Promise<SlicedList<ValidatorIdentity>> {
  const resolved = await resolveState(chain, stateId);
  const { state } = resolved;
  const isOfAll = validatorIds.length === 0;
  return {
    slices: isOfAll ? allIdentities(state) : identitiesOf(state, validatorIds),
    maxLength: isOfAll ? state.validators.length : validatorIds.length,
    resolved,
  };
}

function* allIdentities(state: CachedBeaconStateAllForks): Generator<ValidatorIdentity[], void, undefined> {
  for (const { start, validators } of registrySlices(state)) {
    yield validators.map(({ pubkey, activationEpoch }, position) => ({
      index: start + position,
      pubkey,
      activationEpoch,
    }));
  }
}

function* identitiesOf(
  state: CachedBeaconStateAllForks,
  ids: readonly (string | number)[],
): Generator<ValidatorIdentity[], void, undefined> {
  const indices = indicesInRegistry(state, ids);
  for (let start = 0; start < indices.length; start += REGISTRY_SLICE) {
    yield indices.slice(start, start + REGISTRY_SLICE).map((index) => {
      const { pubkey, activationEpoch } = state.validators.getReadonly(index);
      return { index, pubkey, activationEpoch };
    });
  }
}
