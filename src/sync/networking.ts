import type { Broadcast } from "../network/broadcast.ts";
import type { NetworkView } from "../network/network-view.ts";
import type { ListeningAddresses } from "../network/networking-options.ts";
import type { SyncView } from "./sync.ts";

// Types alone: whoever wires a node together can name the network without loading its libraries.

export interface NodeSync extends SyncView {
  /** Whether any peer has told its status since the start: before, nobody knows what there is to catch up with. */
  readonly isInformed: boolean;
  /** Resolves once the node has caught up with its peers; rejects with the signal's reason when it is aborted first. */
  whenSynced(signal?: AbortSignal): Promise<void>;
}

/** A node's part in a network of nodes. */
export interface Networking {
  readonly view: NetworkView;
  readonly broadcast: Broadcast;
  readonly sync: NodeSync;
  /** True from `start` on. */
  readonly listening: ListeningAddresses;
  start(): Promise<void>;
  close(): Promise<void>;
}
