import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { ChainView } from "../chain-view.ts";

export type GenesisApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "getGenesis">;

export function createGenesisApi({ config, genesis }: Pick<ChainView, "config" | "genesis">): GenesisApi {
  const data = {
    genesisTime: genesis.time,
    genesisValidatorsRoot: genesis.validatorsRoot,
    genesisForkVersion: config.GENESIS_FORK_VERSION,
  };
  return {
    async getGenesis() {
      return { data };
    },
  };
}
