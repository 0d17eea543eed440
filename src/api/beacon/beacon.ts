import type { BeaconChain } from "../../chain/chain.ts";
import type { Broadcast } from "../../network/broadcast.ts";
import { type BlindedBlocksApi, createBlindedBlocksApi } from "./blinded-blocks.ts";
import { type BlobsApi, createBlobsApi } from "./blobs.ts";
import { type BlocksApi, createBlocksApi } from "./blocks.ts";
import { type CommitteesApi, createCommitteesApi } from "./committees.ts";
import { createGenesisApi, type GenesisApi } from "./genesis.ts";
import { createGloasApi, type GloasApi } from "./gloas.ts";
import { createIdentitiesApi, type IdentitiesApi } from "./identities.ts";
import { createPoolApi, type PoolApi } from "./pool.ts";
import { createPublishApi, type PublishApi } from "./publish.ts";
import { createQueuesApi, type QueuesApi } from "./queues.ts";
import { createRandaoApi, type RandaoApi } from "./randao.ts";
import { createRewardsApi, type RewardsApi } from "./rewards.ts";
import { createStatesApi, type StatesApi } from "./states.ts";
import { createSyncCommitteesApi, type SyncCommitteesApi } from "./sync-committees.ts";
import { createValidatorsApi, type ValidatorsApi } from "./validators.ts";

export type BeaconApi = GenesisApi &
  StatesApi &
  ValidatorsApi &
  CommitteesApi &
  BlocksApi &
  PublishApi &
  PoolApi &
  IdentitiesApi &
  SyncCommitteesApi &
  RandaoApi &
  QueuesApi &
  BlindedBlocksApi &
  BlobsApi &
  RewardsApi &
  GloasApi;

export function createBeaconApi(chain: BeaconChain, broadcast: Broadcast): BeaconApi {
  return {
    ...createGenesisApi(chain),
    ...createStatesApi(chain),
    ...createValidatorsApi(chain),
    ...createCommitteesApi(chain),
    ...createBlocksApi(chain),
    ...createPublishApi(chain, broadcast),
    ...createPoolApi(chain, broadcast),
    ...createIdentitiesApi(chain),
    ...createSyncCommitteesApi(chain),
    ...createRandaoApi(chain),
    ...createQueuesApi(chain),
    ...createBlindedBlocksApi(chain, broadcast),
    ...createBlobsApi(chain),
    ...createRewardsApi(chain),
    ...createGloasApi(),
  };
}
