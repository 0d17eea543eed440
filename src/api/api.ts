import type { BeaconChain } from "../chain/chain.ts";
import { type BlocksApi, createBlocksApi } from "./beacon/blocks.ts";
import { createGenesisApi, type GenesisApi } from "./beacon/genesis.ts";
import { createPoolApi, type PoolApi } from "./beacon/pool.ts";
import { createPublishApi, type PublishApi } from "./beacon/publish.ts";
import { createStatesApi, type StatesApi } from "./beacon/states.ts";
import { type ConfigApi, createConfigApi } from "./config.ts";
import { createDebugApi, type DebugApi } from "./debug.ts";
import { createExtensionsApi, type ExtensionsApi } from "./extensions.ts";
import type { NetworkView } from "./network-view.ts";
import { createNodeApi, type NodeApi } from "./node.ts";
import { createOperations, type Operations } from "./operations.ts";
import { createValidatorApi, type ValidatorApi } from "./validator/validator.ts";
import { versionText } from "./version.ts";

export interface ApiDependencies {
  chain: BeaconChain;
  network: NetworkView;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
}

/** The answers as objects, in the vocabulary of @lodestar/api: what callers inside the process use. */
export interface Handlers {
  readonly beacon: GenesisApi & StatesApi & BlocksApi & PublishApi & PoolApi;
  readonly validator: ValidatorApi;
  readonly node: NodeApi;
  readonly config: ConfigApi;
  readonly debug: DebugApi;
  readonly extensions: ExtensionsApi;
}

export interface Api extends Handlers {
  /** The same answers as JSON bytes: what the doors use. */
  readonly operations: Operations;
}

export function createApi({ chain, network, setLogSpec }: ApiDependencies): Api {
  const version = versionText();
  const handlers: Handlers = {
    beacon: {
      ...createGenesisApi(chain),
      ...createStatesApi(chain),
      ...createBlocksApi(chain),
      ...createPublishApi(chain),
      ...createPoolApi(chain),
    },
    validator: createValidatorApi(chain),
    node: createNodeApi(chain, network, version),
    config: createConfigApi(chain.config),
    debug: createDebugApi(chain),
    extensions: createExtensionsApi({ chain, version, setLogSpec }),
  };
  return { ...handlers, operations: createOperations(chain, handlers) };
}
