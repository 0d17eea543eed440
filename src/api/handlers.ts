import type { BeaconApi } from "./beacon/beacon.ts";
import type { ConfigApi } from "./config.ts";
import type { DebugApi } from "./debug.ts";
import type { Eth1Api } from "./eth1.ts";
import type { ExtensionsApi } from "./extensions.ts";
import type { FuturesApi } from "./futures.ts";
import type { LightClientApi } from "./lightclient/lightclient.ts";
import type { NetworkApi } from "./network.ts";
import type { NodeApi } from "./node.ts";
import type { ValidatorApi } from "./validator/validator.ts";

/** The answers as objects, in the vocabulary of @lodestar/api: what callers inside the process use. */
export interface Handlers {
  readonly beacon: BeaconApi;
  readonly validator: ValidatorApi;
  readonly lightclient: LightClientApi;
  readonly node: NodeApi;
  readonly config: ConfigApi;
  readonly debug: DebugApi;
  readonly extensions: ExtensionsApi;
  readonly network: NetworkApi;
  readonly eth1: Eth1Api;
  readonly futures: FuturesApi;
}
