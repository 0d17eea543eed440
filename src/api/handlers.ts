import type { BlocksApi } from "./beacon/blocks.ts";
import type { GenesisApi } from "./beacon/genesis.ts";
import type { PoolApi } from "./beacon/pool.ts";
import type { PublishApi } from "./beacon/publish.ts";
import type { StatesApi } from "./beacon/states.ts";
import type { ConfigApi } from "./config.ts";
import type { DebugApi } from "./debug.ts";
import type { ExtensionsApi } from "./extensions.ts";
import type { NodeApi } from "./node.ts";
import type { ValidatorApi } from "./validator/validator.ts";

/** The answers as objects, in the vocabulary of @lodestar/api: what callers inside the process use. */
export interface Handlers {
  readonly beacon: GenesisApi & StatesApi & BlocksApi & PublishApi & PoolApi;
  readonly validator: ValidatorApi;
  readonly node: NodeApi;
  readonly config: ConfigApi;
  readonly debug: DebugApi;
  readonly extensions: ExtensionsApi;
}
