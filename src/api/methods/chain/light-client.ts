import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkName } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { type LightClientHeader, type LightClientUpdate, type RootHex, ssz } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { notFound } from "../../../errors/failure.ts";
import { defineOperation, get, required } from "../../definition.ts";
import { root, uint64 } from "../../params/scalars.ts";
import { requireForkAt } from "../../preconditions.ts";
import { list, object, shape, text } from "../../schemas.ts";

const LIGHT_CLIENTS = "Light clients";

const getLightClientBootstrap = defineOperation("lightclient.getLightClientBootstrap", {
  name: "get_v1_beacon_light_client_bootstrap_blockRoot",
  summary: "The light client bootstrap of a trusted block: its sync committee, with a proof.",
  params: { blockRoot: required(root, "Root of a canonical block of altair or later.") },
  result: { name: "bootstrap", schema: shape("LightClientBootstrap") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/light_client/bootstrap/{block_root}", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  since: ForkName.altair,
  example: { params: (chain) => [chain.headRoot] },
  async handler({ chain }, { blockRoot }) {
    const block = await chain.blocks.byRoot(blockRoot);
    if (!block) throw noBootstrap(blockRoot, "the block is unknown");
    requireForkAt(chain.config, ForkName.altair, block.slot, LIGHT_CLIENTS);
    if (!block.canonical) throw noBootstrap(blockRoot, "the block is not canonical");
    const data = await chain.lightClient.bootstrap(blockRoot);
    if (!data) throw noBootstrap(blockRoot, "the node does not have its state");
    return { data, meta: { version: chain.config.getForkName(block.slot) } };
  },
});

const getLightClientUpdatesByRange = defineOperation("lightclient.getLightClientUpdatesByRange", {
  name: "get_v1_beacon_light_client_updates",
  summary: "The best light client updates of consecutive sync committee periods, each with its fork.",
  params: {
    startPeriod: required(uint64, "First sync committee period."),
    count: required(uint64, "Number of periods. At most 128 are returned."),
  },
  result: { name: "updates", schema: list(object({ version: text, data: shape("LightClientUpdate") })) },
  failures: [],
  // The client in @lodestar/api prefers SSZ but knows only the fork digests of public networks.
  rest: [get("/eth/v1/beacon/light_client/updates", { ssz: "response", prefersJson: true })],
  cost: "cheap",
  access: "read",
  since: ForkName.altair,
  example: { params: ["0", "1"] },
  handler: ({ chain }, range) => updatesOf(chain, range),
  async ssz({ chain }, range) {
    const { data, meta } = await updatesOf(chain, range);
    return { data: Buffer.concat(data.flatMap((update) => chunkOf(chain, update))), meta };
  },
});

async function updatesOf(chain: BeaconChain, { startPeriod, count }: { startPeriod: number; count: number }) {
  const end = computeStartSlotAtEpoch((startPeriod + count) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  if (count > 0) requireForkAt(chain.config, ForkName.altair, end - 1, LIGHT_CLIENTS);
  const data = await chain.lightClient.updates(startPeriod, count);
  return { data, meta: { versions: data.map((update) => versionOf(chain, update)) } };
}

/**
 * Returns an SSZ response chunk: the length of digest and update, the fork digest, and the update. The codec in
 * @lodestar/api does not know this chain's digests.
 */
function chunkOf({ config }: BeaconChain, update: LightClientUpdate): Uint8Array[] {
  const { slot } = update.attestedHeader.beacon;
  const digest = config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot)));
  const bytes = config.getPostAltairForkTypes(slot).LightClientUpdate.serialize(update);
  return [ssz.UintNum64.serialize(digest.length + bytes.length), digest, bytes];
}

const getLightClientFinalityUpdate = defineOperation("lightclient.getLightClientFinalityUpdate", {
  name: "get_v1_beacon_light_client_finality_update",
  summary: "The latest light client finality update.",
  result: { name: "finality_update", schema: shape("LightClientFinalityUpdate") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/light_client/finality_update", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  since: ForkName.altair,
  example: {},
  async handler({ chain }) {
    const data = await chain.lightClient.finalityUpdate();
    if (!data) throw notFound("No light client finality update yet: no block proves finality.");
    return { data, meta: { version: versionOf(chain, data) } };
  },
});

const getLightClientOptimisticUpdate = defineOperation("lightclient.getLightClientOptimisticUpdate", {
  name: "get_v1_beacon_light_client_optimistic_update",
  summary: "The latest light client optimistic update.",
  result: { name: "optimistic_update", schema: shape("LightClientOptimisticUpdate") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/light_client/optimistic_update", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  since: ForkName.altair,
  example: {},
  async handler({ chain }) {
    const data = await chain.lightClient.optimisticUpdate();
    if (!data) throw notFound("No light client optimistic update yet: no block has sync committee signatures.");
    return { data, meta: { version: versionOf(chain, data) } };
  },
});

export const lightClientMethods = [
  getLightClientBootstrap,
  getLightClientUpdatesByRange,
  getLightClientFinalityUpdate,
  getLightClientOptimisticUpdate,
] as const;

function versionOf({ config }: BeaconChain, { attestedHeader }: { attestedHeader: LightClientHeader }): ForkName {
  return config.getForkName(attestedHeader.beacon.slot);
}

function noBootstrap(blockRoot: RootHex, reason: string) {
  return notFound(`No light client bootstrap for block ${blockRoot}: ${reason}.`);
}
