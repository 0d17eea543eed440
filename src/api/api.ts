import type { BeaconConfig } from "@lodestar/config";
import type { BeaconChain } from "../chain/chain.ts";
import { type Broadcast, NO_BROADCAST } from "../network/broadcast.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { SyncView } from "../sync/sync.ts";
import { versionText } from "../version.ts";
import { createBeaconApi } from "./beacon/beacon.ts";
import { createConfigApi } from "./config.ts";
import { createDebugApi } from "./debug.ts";
import { createEth1Api } from "./eth1.ts";
import { createEventStream, type EventStream } from "./events/event-stream.ts";
import { createExtensionsApi } from "./extensions.ts";
import { createFuturesApi, type FuturesView } from "./futures.ts";
import type { Handlers } from "./handlers.ts";
import { createLightClientApi } from "./lightclient/lightclient.ts";
import { createNetworkApi } from "./network.ts";
import { createNodeApi } from "./node.ts";
import { createOperations, type Operations } from "./operations.ts";
import { createValidatorApi } from "./validator/validator.ts";

export interface ApiDependencies {
  chain: BeaconChain;
  network: NetworkView;
  /** Spreads what is submitted; left out by a node that speaks to no other. */
  broadcast?: Broadcast;
  /** Left out by a node that speaks to no other: it then has only the clock to compare its head with. */
  sync?: SyncView;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
  /** Only when pending promises are kept track of. */
  futures?: FuturesView;
}

export interface Api extends Handlers {
  /** The same answers as JSON bytes: what the doors use. */
  readonly operations: Operations;
  /** What happens, as it happens. */
  readonly events: EventStream;
  /** Says which fork an object belongs to. */
  readonly chainConfig: BeaconConfig;
}

export function createApi({
  chain,
  network,
  broadcast = NO_BROADCAST,
  sync = chain.status,
  setLogSpec,
  futures,
}: ApiDependencies): Api {
  const version = versionText();
  const handlers: Handlers = {
    beacon: createBeaconApi(chain, broadcast),
    validator: createValidatorApi(chain, broadcast),
    lightclient: createLightClientApi(chain),
    node: createNodeApi({ chain, network, sync, version }),
    config: createConfigApi(chain.config),
    debug: createDebugApi(chain),
    extensions: createExtensionsApi({ chain, sync, version, setLogSpec }),
    network: createNetworkApi(network),
    eth1: createEth1Api(chain),
    futures: createFuturesApi(futures),
  };
  return {
    ...handlers,
    operations: createOperations(chain, handlers),
    events: createEventStream(chain),
    chainConfig: chain.config,
  };
}
