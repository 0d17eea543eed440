import { GENESIS_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { gloas, SignedBeaconBlock, Slot } from "@lodestar/types";
import type { Timers } from "../../async/timers.ts";
import { bidOf } from "../../chain/blocks/bid.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { HistoryEnd } from "../../chain/history/history.ts";
import { BlockRejection } from "../../chain/import/block-rejection.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import type { SyncPeer, SyncPeers } from "../../network/peers/sync-peers.ts";
import type { BackfillPeers } from "./backfill-peers.ts";
import type { BackfillTask } from "./backfill-task.ts";

interface BlockBackfillParts {
  chain: Pick<BeaconChain, "clock" | "history">;
  peers: SyncPeers;
  backfillPeers: BackfillPeers;
  /** Number of epochs to backfill, counted back from the current one. Infinity for the complete history. */
  epochs: number;
  batchSlots: number;
  timers: Pick<Timers, "now">;
  logger: Logger;
}

/** A response. It implies that there is no block between `from` and the response's first block. */
interface BlockResponse {
  peerId: string;
  from: Slot;
  blocks: readonly SignedBeaconBlock[];
  /** Payloads of the blocks since gloas, as far as the peer serves them. */
  envelopes: readonly gloas.SignedExecutionPayloadEnvelope[];
}

/**
 * Fetches the blocks before the oldest stored one, one range at a time. The root of each range's last block is known in
 * advance, so every response can be verified, except for blocks omitted at its start. The next response reveals such
 * omissions.
 */
export class BlockBackfill implements BackfillTask {
  readonly #parts: BlockBackfillParts;
  #progress: { line: Progress; from: Slot } | null = null;
  /** The last response, which may have omitted blocks at its start. */
  #unconfirmed: BlockResponse | null = null;

  constructor(parts: BlockBackfillParts) {
    this.#parts = parts;
  }

  /** First slot to fetch. */
  get target(): Slot {
    const { chain, epochs } = this.#parts;
    return Math.max(GENESIS_SLOT, (chain.clock.currentEpoch - epochs) * SLOTS_PER_EPOCH);
  }

  async step(signal: AbortSignal): Promise<boolean> {
    const { chain, batchSlots, backfillPeers } = this.#parts;
    const { end } = chain.history;
    if (end === null || end.before <= this.target) return this.#finish();
    const from = Math.max(GENESIS_SLOT + 1, end.before - batchSlots);
    if (from === GENESIS_SLOT + 1 && (await chain.history.reachesGenesis())) return this.#finish();
    const peer = backfillPeers.pick((peer) => reachesBefore(peer, end));
    if (peer === null) return false;
    const response = await this.#ask(peer, { from, end }, signal);
    if (response === null) return true;
    if (response.blocks.length > 0) await this.#take(response);
    else await this.#lookUp(end, response, signal);
    return true;
  }

  async #ask(
    { peerId, status }: SyncPeer,
    { from: earliest, end }: { from: Slot; end: HistoryEnd },
    signal: AbortSignal,
  ): Promise<BlockResponse | null> {
    const from = Math.max(earliest, status.earliestAvailableSlot);
    const range = { startSlot: from, count: end.before - from };
    const request = this.#parts.peers.requests.blocksByRange(peerId, range, signal);
    const blocks = await this.#parts.backfillPeers.responseOf(peerId, request, signal);
    return blocks && { peerId, from, blocks, envelopes: await this.#payloads(peerId, blocks, signal) };
  }

  /** The chain does not need the payloads of its history, so those that are missing stay missing. */
  async #payloads(
    peerId: string,
    blocks: readonly SignedBeaconBlock[],
    signal: AbortSignal,
  ): Promise<gloas.SignedExecutionPayloadEnvelope[]> {
    const [first, last] = [blocks.find(({ message }) => bidOf(message) !== undefined), blocks.at(-1)];
    if (!first || !last) return [];
    const startSlot = first.message.slot;
    const range = { startSlot, count: last.message.slot - startSlot + 1 };
    const request = this.#parts.peers.requests.payloadsByRange(peerId, range, signal);
    return request.catch(() => {
      signal.throwIfAborted();
      return [];
    });
  }

  /**
   * Requests the next block by root after an empty range, preferably from another peer. There may be more empty slots
   * than a range has.
   */
  async #lookUp(end: HistoryEnd, empty: BlockResponse, signal: AbortSignal): Promise<void> {
    const { chain, peers, backfillPeers } = this.#parts;
    this.#unconfirmed = empty;
    const other = backfillPeers.pick((peer) => peer.peerId !== empty.peerId && reachesBefore(peer, end));
    const peerId = other?.peerId ?? empty.peerId;
    const request = peers.requests.blocksByRoot(peerId, [end.root], signal);
    const blocks = await backfillPeers.responseOf(peerId, request, signal);
    const [block] = blocks ?? [];
    if (block) {
      const envelopes = await this.#payloads(peerId, [block], signal);
      await this.#take({ peerId, from: block.message.slot, blocks: [block], envelopes });
    } else if (!(await chain.history.reachesGenesis())) {
      // Neither peer has the block. It may be the genesis block, which is unknown here and not served by peers.
      const mayBeGenesis = blocks !== null && empty.from === GENESIS_SLOT + 1;
      for (const id of [peerId, empty.peerId]) {
        if (mayBeGenesis) backfillPeers.dismiss(id);
        else backfillPeers.backOff(id);
      }
    }
  }

  async #take(response: BlockResponse): Promise<void> {
    const { chain, backfillPeers, logger } = this.#parts;
    const { peerId, blocks, envelopes } = response;
    const before = chain.history.earliestBlockSlot;
    try {
      await chain.history.prepend(blocks, envelopes);
    } catch (error) {
      if (!(error instanceof BlockRejection)) throw error;
      const { reason, slot, root, message } = error;
      logger.warn("Rejected backfill block from peer", { slot, root, peer: peerId, reason, detail: message });
      const severity = reason === "not-connected" ? "moderate" : "severe";
      backfillPeers.blame(peerId, severity, `invalid backfill block: ${reason}`);
      return;
    }
    const newest = blocks.at(-1)?.message.slot ?? 0;
    if (this.#unconfirmed && newest >= this.#unconfirmed.from) {
      backfillPeers.blame(this.#unconfirmed.peerId, "moderate", "withheld backfill blocks");
    }
    this.#unconfirmed = response;
    this.#report(before);
  }

  #report(before: Slot): void {
    const { chain, logger, timers } = this.#parts;
    this.#progress ??= { line: new Progress({ message: "Backfilling blocks", logger, timers }), from: before };
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

/** Returns true if the peer may have blocks before the stored ones. */
const reachesBefore = ({ status }: SyncPeer, { before }: HistoryEnd): boolean => status.earliestAvailableSlot < before;
