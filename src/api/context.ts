import type { BeaconChain } from "../chain/chain.ts";
import type { PendingFuture } from "../debug/future-tracker.ts";
import type { Broadcast } from "../network/broadcast.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { EventStream } from "./event-stream.ts";

/** The parts of a node that handlers answer from. */
export interface ApiContext {
  readonly chain: BeaconChain;
  readonly network: NetworkView;
  readonly broadcast: Broadcast;
  /** What happens, as it happens. */
  readonly events: EventStream;
  /** The node's name, version and platform. */
  readonly version: string;
  /** Throws a `LogSpecError` for a specification that cannot be read. */
  setLogSpec(spec: string): void;
  /** Only when pending promises are kept track of. */
  readonly futures?: { pending(): PendingFuture[] };
}
