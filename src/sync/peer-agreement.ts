import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { SyncChain } from "./sync-chain.ts";

/**
 * The first attestations whose source is not genesis are made in the fourth epoch. Only attestations after them can
 * surround earlier ones.
 */
const YOUNG_EPOCHS = 4;

/** Determines whether the connected peers have no blocks beyond our head, as in a stalled network. */
export class PeerAgreement {
  readonly #chain: SyncChain;
  readonly #peers: SyncPeers;
  /** Statuses sent before our head changed or the node was suspended. */
  readonly #outdated = new WeakSet<fulu.Status>();

  constructor(chain: SyncChain, peers: SyncPeers) {
    this.#chain = chain;
    this.#peers = peers;
  }

  /**
   * True if at least half of the peers agree, so that a single liar cannot outvote an honest peer. A peer agrees if its
   * head is a block we know and is not behind ours. The heads may differ, because otherwise nodes with different votes
   * would wait for each other forever. A peer that is behind us or has an unknown head proves nothing.
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
   * True if the head is still the anchor and far behind the clock. The peers may have just started as well, and
   * validators that continue from the anchor could contradict their earlier attestations.
   */
  get isAnchorOnly(): boolean {
    const { head, forkChoice, status } = this.#chain;
    return head.root === forkChoice.finalized.root && status.syncDistance >= YOUNG_EPOCHS * SLOTS_PER_EPOCH;
  }

  /** Marks all statuses as outdated, because our head changed or the node was suspended. */
  discard(): void {
    for (const { status } of this.#peers.list()) this.#outdated.add(status);
  }

  /** Requests a new status from all peers, or only from those whose status is outdated. */
  refresh(which: "outdated" | "all"): void {
    for (const { peerId, status } of this.#peers.list()) {
      if (which === "all" || this.#outdated.has(status)) this.#peers.refreshStatus(peerId);
    }
  }
}
