import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { SyncChain } from "./sync-chain.ts";

/** The first votes that have another source than genesis are those of the fourth epoch; only votes of later ones could surround them. */
const YOUNG_EPOCHS = 4;

/** Whether the connected peers tell that there is nothing beyond our head, as in a network that stood still. */
export class PeerAgreement {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  /** What was told before our head changed or the node was suspended: the peers may have gone on since. */
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

  /**
   * Whether all that could be agreed on is the block that this node began with, long ago. Then the others may have just begun, too,
   * without knowing the chain, and validators that went on from there would vote against what they have signed on it.
   */
  get isOnNothing(): boolean {
    const { head, forkChoice, status } = this.#chain;
    return head.root === forkChoice.finalized.root && status.syncDistance >= YOUNG_EPOCHS * SLOTS_PER_EPOCH;
  }

  /** Discards what peers told so far: our head changed, or the node was suspended meanwhile. */
  discard(): void {
    for (const { status } of this.#peers.list()) this.#outdated.add(status);
  }

  /** Asks peers for their heads: those who told them before ours changed, or all of them. */
  ask(whom: "outdated" | "all"): void {
    for (const { peerId, status } of this.#peers.list()) {
      if (whom === "all" || this.#outdated.has(status)) this.#peers.refreshStatus(peerId);
    }
  }
}
