import type { BeaconChain } from "../chain/chain.ts";
import type { PendingPromise } from "../debug/promise-tracker.ts";
import type { EngineClientVersion } from "../execution/engine.ts";
import type { Broadcast } from "../network/broadcast.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { DevControl } from "./dev-control.ts";
import type { EventStream } from "./event-stream.ts";

/** What a node knows of itself that its chain cannot tell. */
export interface NodeCondition {
  /** Whether all the history is there that was to be made before the chain runs. */
  readonly isWarmedUp: boolean;
  /** Whether the last write to the database succeeded. */
  readonly isDatabaseWritable: boolean;
  /** Who the execution client says it is; null while there is none that tells. */
  readonly executionClient: EngineClientVersion | null;
}

/** The parts of a node that handlers answer from. */
export interface ApiContext {
  readonly chain: BeaconChain;
  readonly network: NetworkView;
  readonly broadcast: Broadcast;
  /** What happens, as it happens. */
  readonly events: EventStream;
  /** The node's name, version and platform. */
  readonly version: string;
  readonly condition: NodeCondition;
  /** Only of a dev chain. */
  readonly control?: DevControl | undefined;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
  /** Only when pending promises are kept track of. */
  readonly futures?: { pending(): PendingPromise[] };
}
