import type { BeaconChain } from "../chain/chain.ts";
import { createBlocksApi } from "./beacon/blocks.ts";
import { createGenesisApi } from "./beacon/genesis.ts";
import { createPoolApi } from "./beacon/pool.ts";
import { createPublishApi } from "./beacon/publish.ts";
import { createStatesApi } from "./beacon/states.ts";
import { createConfigApi } from "./config.ts";
import { createDebugApi } from "./debug.ts";
import { createExtensionsApi } from "./extensions.ts";
import type { Handlers } from "./handlers.ts";
import type { NetworkView } from "./network-view.ts";
import { createNodeApi } from "./node.ts";
import { createOperations, type Operations } from "./operations.ts";
import { createValidatorApi } from "./validator/validator.ts";
import { versionText } from "./version.ts";

export interface ApiDependencies {
  chain: BeaconChain;
  network: NetworkView;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
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
