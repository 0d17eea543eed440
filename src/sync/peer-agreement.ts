import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { SyncChain } from "./sync-chain.ts";

/**
 * The first attestations with a source other than genesis are from the fourth epoch. Only later attestations can
 * surround them.
 */
const YOUNG_EPOCHS = 4;

/** Determines whether the connected peers have no blocks after our head, as in a stalled network. */
export class PeerAgreement {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  /** Statuses that predate a change of our head or a suspension of the node. */
  readonly #outdated = new WeakSet<fulu.Status>();

  constructor(chain: SyncChain, peers: SyncPeers) {
    this.#chain = chain;
    this.#peers = peers;
  }

  /**
   * A peer agrees if its head is a known block and not behind ours. The heads may differ, because otherwise nodes with
   * different votes would wait for each other forever. A peer behind us or with an unknown head proves nothing. At
   * least half of the peers must agree, so that one liar cannot outvote an honest peer.
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
   * Returns true if the head is still the anchor and far behind the clock. The peers may have just started, too, and
   * validators that continue from there could contradict their earlier attestations.
   */
  get isAnchorOnly(): boolean {
    const { head, forkChoice, status } = this.#chain;
    return head.root === forkChoice.finalized.root && status.syncDistance >= YOUNG_EPOCHS * SLOTS_PER_EPOCH;
  }

  /** Discards all statuses, because our head changed or the node was suspended. */
  discard(): void {
    for (const { status } of this.#peers.list()) this.#outdated.add(status);
  }

  /** Requests the status of peers with a discarded status, or of all peers. */
  refresh(which: "outdated" | "all"): void {
    for (const { peerId, status } of this.#peers.list()) {
      if (which === "all" || this.#outdated.has(status)) this.#peers.refreshStatus(peerId);
    }
  }
}
