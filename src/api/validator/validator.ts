import type { BeaconChain } from "../../chain/chain.ts";
import { type AggregationApi, createAggregationApi } from "./aggregation.ts";
import { createDutiesApi, type DutiesApi } from "./duties.ts";
import { createProductionApi, type ProductionApi } from "./production.ts";
import { createSubscriptionsApi, type SubscriptionsApi } from "./subscriptions.ts";

export type ValidatorApi = DutiesApi & ProductionApi & AggregationApi & SubscriptionsApi;

/** What a validator client needs: its duties, what to sign, and where to send what it signed. */
export function createValidatorApi(chain: BeaconChain): ValidatorApi {
  return {
    ...createDutiesApi(chain),
    ...createProductionApi(chain),
    ...createAggregationApi(chain),
    ...createSubscriptionsApi(chain),
  };
}
