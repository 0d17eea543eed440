import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName } from "@lodestar/params";
import { computeSyncPeriodAtEpoch } from "@lodestar/state-transition";
import type { RootHex } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { invalidParams, notFound } from "../../failure.ts";
import { requireForkAt, requireScheduled } from "../fork-support.ts";

export type LightClientApi = Pick<
  ApplicationMethods<routes.lightclient.Endpoints>,
  | "getLightClientBootstrap"
  | "getLightClientUpdatesByRange"
  | "getLightClientFinalityUpdate"
  | "getLightClientOptimisticUpdate"
>;

/** What clients need that follow the chain by its sync committees alone. */
export function createLightClientApi(chain: BeaconChain): LightClientApi {
  const requireLightClients = () => requireScheduled(chain.config, ForkName.altair, LIGHT_CLIENTS);
  const versionOf = ({ attestedHeader }: { attestedHeader: { beacon: { slot: number } } }) =>
    chain.config.getForkName(attestedHeader.beacon.slot);

  return {
    async getLightClientBootstrap({ blockRoot }) {
      requireLightClients();
      const block = await chain.blocks.byRoot(blockRoot);
      if (!block) throw noBootstrap(blockRoot, "the block is not known");
      requireForkAt(chain.config, ForkName.altair, block.slot, LIGHT_CLIENTS);
      if (!block.canonical) throw noBootstrap(blockRoot, "the chain has abandoned the block");
      const data = await chain.lightClient.bootstrap(blockRoot);
      if (!data) throw noBootstrap(blockRoot, "its state is not in this node's history");
      return { data, meta: { version: chain.config.getForkName(block.slot) } };
    },

    async getLightClientUpdatesByRange({ startPeriod, count }) {
      requireLightClients();
      const firstPeriod = computeSyncPeriodAtEpoch(chain.config.ALTAIR_FORK_EPOCH);
      if (count > 0 && startPeriod + count <= firstPeriod) {
        throw invalidParams(`Light clients came with altair, which begins in sync committee period ${firstPeriod}.`);
      }
      const data = await chain.lightClient.updates(startPeriod, count);
      return { data, meta: { versions: data.map(versionOf) } };
    },

    async getLightClientFinalityUpdate() {
      requireLightClients();
      const data = await chain.lightClient.finalityUpdate();
      if (!data) throw notFound("No light client finality update is known yet: none of the blocks proves finality.");
      return { data, meta: { version: versionOf(data) } };
    },

    async getLightClientOptimisticUpdate() {
      requireLightClients();
      const data = await chain.lightClient.optimisticUpdate();
      if (!data) throw notFound("No light client update is known yet: no block has signatures of a sync committee.");
      return { data, meta: { version: versionOf(data) } };
    },
  };
}

const LIGHT_CLIENTS = "Light clients";

function noBootstrap(blockRoot: RootHex, reason: string) {
  return notFound(`No light client can start from block ${blockRoot}: ${reason}.`);
}
