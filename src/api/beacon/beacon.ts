import type { BeaconChain } from "../../chain/chain.ts";
import { type BlocksApi, createBlocksApi } from "./blocks.ts";
import { type CommitteesApi, createCommitteesApi } from "./committees.ts";
import { createGenesisApi, type GenesisApi } from "./genesis.ts";
import { createPoolApi, type PoolApi } from "./pool.ts";
import { createPublishApi, type PublishApi } from "./publish.ts";
import { createStatesApi, type StatesApi } from "./states.ts";
import { createValidatorsApi, type ValidatorsApi } from "./validators.ts";

export type BeaconApi = GenesisApi & StatesApi & ValidatorsApi & CommitteesApi & BlocksApi & PublishApi & PoolApi;

export function createBeaconApi(chain: BeaconChain): BeaconApi {
  return {
    ...createGenesisApi(chain),
    ...createStatesApi(chain),
    ...createValidatorsApi(chain),
    ...createCommitteesApi(chain),
    ...createBlocksApi(chain),
    ...createPublishApi(chain),
    ...createPoolApi(chain),
  };
}
