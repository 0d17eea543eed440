import { GENESIS_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import type { Timers } from "../../async/timers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { HistoryEnd } from "../../chain/history/history.ts";
import { BlockRejection } from "../../chain/import/block-rejection.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import type { SyncPeer, SyncPeers } from "../../network/peers/sync-peers.ts";
import type { HistoryPeers } from "./history-peers.ts";
import type { Walk } from "./walk.ts";

interface BlockWalkParts {
  chain: Pick<BeaconChain, "clock" | "history">;
  peers: SyncPeers;
  historyPeers: HistoryPeers;
  /** How far back from the current epoch; infinite for all of history. */
  epochs: number;
  batchSlots: number;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** What a peer gave, which says that there is no block from the slot on to the first of these. */
interface Answer {
  peerId: string;
  from: Slot;
  blocks: readonly SignedBeaconBlock[];
}

/**
 * Fetches the blocks before the oldest one held, a range at a time. Which block is the next one is known by its root, so that every
 * answer can be told to be right or wrong, but for blocks that are left out at its beginning: that shows when the next one comes.
 */
export class BlockWalk implements Walk {
  readonly #parts: BlockWalkParts;
  #progress: { line: Progress; from: Slot } | null = null;
  /** The last answer, whose beginning is not proved yet. */
  #unproved: Answer | null = null;

  constructor(parts: BlockWalkParts) {
    this.#parts = parts;
  }

  /** The slot down to which blocks are wanted. */
  get target(): Slot {
    const { chain, epochs } = this.#parts;
    return Math.max(GENESIS_SLOT, (chain.clock.currentEpoch - epochs) * SLOTS_PER_EPOCH);
  }

  async step(signal: AbortSignal): Promise<boolean> {
    const { chain, batchSlots, historyPeers } = this.#parts;
    const { end } = chain.history;
    if (end === null || end.before <= this.target) return this.#finish();
    const from = Math.max(GENESIS_SLOT + 1, end.before - batchSlots);
    if (from === GENESIS_SLOT + 1 && (await chain.history.reachesGenesis())) return this.#finish();
    const peer = historyPeers.pick((peer) => reachesBefore(peer, end));
    if (peer === null) return false;
    const answer = await this.#ask(peer, { from, end }, signal);
    if (answer === null) return true;
    if (answer.blocks.length > 0) await this.#take(answer);
    else await this.#seek(end, answer, signal);
    return true;
  }

  async #ask(
    { peerId, status }: SyncPeer,
    { from: earliest, end }: { from: Slot; end: HistoryEnd },
    signal: AbortSignal,
  ): Promise<Answer | null> {
    const from = Math.max(earliest, status.earliestAvailableSlot);
    const range = { startSlot: from, count: end.before - from };
    const request = this.#parts.peers.blocksByRange(peerId, range, signal);
    const blocks = await this.#parts.historyPeers.answerOf(peerId, request, signal);
    return blocks && { peerId, from, blocks };
  }

  /** Slots may be empty for longer than a range: the next block is asked for by its root, of another peer if there is one. */
  async #seek(end: HistoryEnd, empty: Answer, signal: AbortSignal): Promise<void> {
    const { chain, peers, historyPeers } = this.#parts;
    this.#unproved = empty;
    const other = historyPeers.pick((peer) => peer.peerId !== empty.peerId && reachesBefore(peer, end));
    const peerId = other?.peerId ?? empty.peerId;
    const blocks = await historyPeers.answerOf(peerId, peers.blocksByRoot(peerId, [end.root], signal), signal);
    const [block] = blocks ?? [];
    if (block) {
      await this.#take({ peerId, from: block.message.slot, blocks: [block] });
    } else if (!(await chain.history.reachesGenesis())) {
      // Neither has a block that has to be there, unless it is that of genesis, which is not known and which nobody gives.
      const mayBeGenesis = blocks !== null && empty.from === GENESIS_SLOT + 1;
      for (const asked of [peerId, empty.peerId]) {
        if (mayBeGenesis) historyPeers.dismiss(asked);
        else historyPeers.rest(asked);
      }
    }
  }

  async #take(answer: Answer): Promise<void> {
    const { chain, historyPeers, logger } = this.#parts;
    const { peerId, blocks } = answer;
    const before = chain.history.earliestBlockSlot;
    try {
      await chain.history.prepend(blocks);
    } catch (error) {
      if (!(error instanceof BlockRejection)) throw error;
      const { reason, slot, root, message } = error;
      logger.warn("An earlier block of a peer is refused", { slot, root, peer: peerId, reason, detail: message });
      const severity = reason === "not-connected" ? "moderate" : "severe";
      historyPeers.blame(peerId, severity, `earlier block refused: ${reason}`);
      return;
    }
    const newest = blocks.at(-1)?.message.slot ?? 0;
    if (this.#unproved && newest >= this.#unproved.from) {
      historyPeers.blame(this.#unproved.peerId, "moderate", "withheld earlier blocks");
    }
    this.#unproved = answer;
    this.#report(before);
  }

  #report(before: Slot): void {
    const { chain, logger, timers } = this.#parts;
    this.#progress ??= { line: new Progress({ message: "Fetching earlier blocks", logger, timers }), from: before };
    const { line, from } = this.#progress;
    const { target } = this;
    const slot = chain.history.earliestBlockSlot;
    line.report(from - slot, from - target, (slotsPerSecond) => ({ slot, target, slotsPerSecond }));
  }

  #finish(): false {
    this.#progress?.line.finish();
    this.#progress = null;
    return false;
  }
}

/** Whether the peer may have blocks that lie before what is held. */
const reachesBefore = ({ status }: SyncPeer, { before }: HistoryEnd): boolean => status.earliestAvailableSlot < before;
