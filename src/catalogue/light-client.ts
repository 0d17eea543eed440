import { defineEntry, get, required } from "./entry.ts";
import { root } from "./params/bytes.ts";
import { uint64 } from "./params/integers.ts";

/** What light clients ask from altair on. */
export const lightClientEntries = [
  defineEntry({
    number: null,
    name: "get_v1_beacon_light_client_bootstrap_blockRoot",
    summary: "The sync committee at a block that a light client trusts, with its proof.",
    params: { block_root: required(root, "A block of the canonical chain, altair's or a later one.") },
    rest: get("/eth/v1/beacon/light_client/bootstrap/{block_root}"),
    invoke: ({ operations }, { block_root }) =>
      operations.lightclient.getLightClientBootstrap({ blockRoot: block_root }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_light_client_updates",
    summary: "The best light client update of each of several sync committee periods, each with its fork.",
    params: {
      start_period: required(uint64, "The first sync committee period."),
      count: required(uint64, "How many periods; of more than 128 only the first ones are given."),
    },
    rest: get("/eth/v1/beacon/light_client/updates"),
    invoke: ({ operations }, { start_period, count }) =>
      operations.lightclient.getLightClientUpdatesByRange({ startPeriod: start_period, count }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_light_client_finality_update",
    summary: "The newest header that a sync committee signed, with the finalized one that it proves.",
    rest: get("/eth/v1/beacon/light_client/finality_update"),
    invoke: ({ operations }) => operations.lightclient.getLightClientFinalityUpdate(),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_light_client_optimistic_update",
    summary: "The newest header that a sync committee signed.",
    rest: get("/eth/v1/beacon/light_client/optimistic_update"),
    invoke: ({ operations }) => operations.lightclient.getLightClientOptimisticUpdate(),
  }),
];
