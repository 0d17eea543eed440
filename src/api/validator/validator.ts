import type { BeaconChain } from "../../chain/chain.ts";
import type { Broadcast } from "../../network/broadcast.ts";
import { type AggregationApi, createAggregationApi } from "./aggregation.ts";
import { createDutiesApi, type DutiesApi } from "./duties.ts";
import { createValidatorGloasApi, type ValidatorGloasApi } from "./gloas.ts";
import { createLivenessApi, type LivenessApi } from "./liveness.ts";
import { createPreparationApi, type PreparationApi } from "./preparation.ts";
import { createProductionApi, type ProductionApi } from "./production.ts";
import { createSubscriptionsApi, type SubscriptionsApi } from "./subscriptions.ts";

export type ValidatorApi = DutiesApi &
  ProductionApi &
  AggregationApi &
  SubscriptionsApi &
  PreparationApi &
  LivenessApi &
  ValidatorGloasApi;

/** What a validator client needs: its duties, what to sign, and where to send what it signed. */
export function createValidatorApi(chain: BeaconChain, broadcast: Broadcast): ValidatorApi {
  return {
    ...createDutiesApi(chain),
    ...createProductionApi(chain),
    ...createAggregationApi(chain, broadcast),
    ...createSubscriptionsApi(chain),
    ...createPreparationApi(chain),
    ...createLivenessApi(chain),
    ...createValidatorGloasApi(),
  };
}
