import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { SyncChain } from "./sync-chain.ts";

/** Whether the connected peers tell that there is nothing beyond our head, as in a network that stood still. */
export class PeerAgreement {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  /** What was told while our head was another: the peers may have gone on while we caught up with that. */
  readonly #outdated = new WeakSet<fulu.Status>();

  constructor(chain: SyncChain, peers: SyncPeers) {
    this.#chain = chain;
    this.#peers = peers;
  }

  /**
   * A peer agrees whose head is a block that we have and is not behind ours: it need not choose the same one, or nodes
   * with different votes would wait for each other for ever. One that says to be behind proves nothing, nor does one
   * with a head that nobody gave us; the half of all peers has to agree, so that one of two cannot lie against the other.
   */
  get isReached(): boolean {
    const { head, forkChoice } = this.#chain;
    const peers = this.#peers.list();
    const agreeing = peers.filter(
      ({ status }) =>
        status.headSlot >= head.slot && !this.#outdated.has(status) && forkChoice.has(toRootHex(status.headRoot)),
    );
    return agreeing.length > 0 && 2 * agreeing.length >= peers.length;
  }

  /** To be called when our head is another. */
  onHead(): void {
    for (const { status } of this.#peers.list()) this.#outdated.add(status);
  }

  /** Asks peers for their heads: those who told them before ours changed, or all of them. */
  ask(whom: "outdated" | "all"): void {
    for (const { peerId, status } of this.#peers.list()) {
      if (whom === "all" || this.#outdated.has(status)) this.#peers.refreshStatus(peerId);
    }
  }
}
