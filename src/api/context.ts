import type { BeaconChain } from "../chain/chain.ts";
import type { PendingPromise } from "../debug/promise-tracker.ts";
import type { EthService } from "../evm/eth/eth-service.ts";
import type { Filters } from "../evm/eth/logs/filters.ts";
import type { EthSubscription } from "../evm/eth/logs/subscription.ts";
import type { EngineClientVersion } from "../execution/engine.ts";
import type { Broadcast } from "../network/broadcast.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { DevControl } from "./dev-control.ts";
import type { EventStream } from "./event-stream.ts";

/** Health of a node's parts other than its chain. */
export interface NodeHealth {
  /** True once the initial history has been produced. */
  readonly isWarmedUp: boolean;
  /** True if the last database write succeeded. */
  readonly isDatabaseWritable: boolean;
  /** Version of the execution client. Null if it is unknown. */
  readonly executionClient: EngineClientVersion | null;
}

/** The execution layer of a chain, including the filters that clients poll. */
interface EthCalls extends Pick<EthService, "call" | "subscribe"> {
  readonly filters: Filters;
  /** Throws an `EthError` if a subscription exceeds a limit. */
  checkSubscription(subscription: EthSubscription): void;
}

/** The dependencies of method handlers. */
export interface ApiContext {
  readonly chain: BeaconChain;
  readonly network: NetworkView;
  readonly broadcast: Broadcast;
  /** Chain events. */
  readonly events: EventStream;
  /** The node's name, version and platform. */
  readonly version: string;
  readonly health: NodeHealth;
  /** Only set for a dev chain. */
  readonly control?: DevControl | undefined;
  /** Only set if this node itself executes the payloads of its chain. */
  readonly eth?: EthCalls | undefined;
  /** Throws a `LogSpecError` if the specification is invalid. */
  setLogSpec(spec: string): void;
  /** Only set if pending promises are tracked. */
  readonly futures?: { pending(): PendingPromise[] };
}
