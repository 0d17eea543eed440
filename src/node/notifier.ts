import { computeEpochAtSlot } from "@lodestar/state-transition";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { BeaconChain } from "../chain/chain.ts";
import type { ForkChoiceBlock } from "../chain/fork-choice/types.ts";
import { participationRate } from "../chain/states/participation-rate.ts";
import { Alarm } from "../log/alarm.ts";
import type { Logger } from "../log/logger.ts";

/** Consecutive empty slots that raise an alarm. */
const EMPTY_SLOTS_LIMIT = 4;
/** Consecutive blocks of the chain without their payloads that raise an alarm. */
const EMPTY_BLOCKS_LIMIT = 4;
/**
 * Distance from the finalized to the current epoch at full participation. The tolerance allows for one missed
 * justification.
 */
const NORMAL_FINALITY_EPOCHS = 2;
const TOLERATED_FINALITY_EPOCHS = NORMAL_FINALITY_EPOCHS + 2;
/** Time without peers that raises an alarm. */
const NO_PEERS_MS = 60_000;
/** Slots shorter than this are logged once a second. */
const FAST_SLOT_MS = 500;
const FAST_LOG_INTERVAL_MS = 1000;

interface NotifierParts {
  chain: Pick<BeaconChain, "clock" | "head" | "headNode" | "headState" | "forkChoice"> & {
    readonly status: Pick<BeaconChain["status"], "isSyncing">;
  };
  /** Omitted if there is no network. */
  connectedPeers?(): number;
  /** False if the node works without peers. A dev chain needs peers only while it waits for other nodes. */
  needsPeers: boolean;
  /** Suppresses per-slot log lines during warm-up. */
  isWarmingUp?(): boolean;
  logger: Logger;
  timers?: Pick<Timers, "now">;
}

/** Logs the chain status every slot. Warns about empty slots, missing payloads, missing finality and missing peers. */
export class Notifier {
  readonly #parts: NotifierParts;
  readonly #timers: Pick<Timers, "now">;
  readonly #alarms: Record<"empty" | "payloads" | "finality" | "peers", Alarm>;
  readonly #stop: () => void;
  #lastSlotAt = Number.NEGATIVE_INFINITY;
  #lastLogAt = Number.NEGATIVE_INFINITY;
  #lastConnectedAt: number;
  /** The slot before the first observed slot. */
  #observedSince: number | undefined;

  constructor(parts: NotifierParts) {
    const { logger, chain } = parts;
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#lastConnectedAt = this.#timers.now();
    this.#alarms = {
      empty: new Alarm(logger, {
        raised: "No blocks in recent slots",
        cleared: "Blocks are arriving again",
      }),
      payloads: new Alarm(logger, {
        raised: "No payloads of recent blocks",
        cleared: "Payloads are arriving again",
      }),
      finality: new Alarm(logger, {
        raised: "Chain is not finalizing",
        cleared: "Chain is finalizing again",
      }),
      peers: new Alarm(logger, {
        raised: "No peers connected",
        cleared: "Peers connected again",
      }),
    };
    this.#stop = chain.clock.onSlot((slot) => this.#onSlot(slot));
  }

  close(): void {
    this.#stop();
  }

  #onSlot(slot: number): void {
    const { chain, isWarmingUp, needsPeers } = this.#parts;
    const now = this.#timers.now();
    const peers = this.#parts.connectedPeers?.();
    if (peers !== 0) this.#lastConnectedAt = now;
    if (needsPeers || chain.status.isSyncing || peers !== 0)
      this.#alarms.peers.update(now - this.#lastConnectedAt >= NO_PEERS_MS, { peers });
    if (isWarmingUp?.()) return;
    this.#checkChain(slot);
    this.#logSlot(slot, now, peers);
    this.#lastSlotAt = now;
  }

  /**
   * Checks for empty slots, missing payloads and missing finality. Skips the check while syncing and ignores slots before the notifier
   * started.
   */
  #checkChain(slot: number): void {
    const { chain } = this.#parts;
    if (chain.status.isSyncing) return;
    this.#observedSince ??= slot - 1;
    // The current slot has just begun, so its block may still arrive.
    const newest = Math.max(...chain.forkChoice.leaves().map((block) => block.slot));
    const empty = slot - 1 - Math.max(newest, this.#observedSince);
    this.#alarms.empty.update(empty >= EMPTY_SLOTS_LIMIT, { slots: Math.max(0, empty), head: chain.head.slot });
    const blocks = countEmptyBlocks(chain);
    this.#alarms.payloads.update(blocks >= EMPTY_BLOCKS_LIMIT, { blocks, head: chain.head.slot });
    const finalized = chain.forkChoice.finalized.epoch;
    const epochs = chain.clock.currentEpoch - Math.max(finalized, computeEpochAtSlot(this.#observedSince));
    this.#alarms.finality.update(epochs > TOLERATED_FINALITY_EPOCHS, { finalized, epochs });
  }

  #logSlot(slot: number, now: number, peers: number | undefined): void {
    const isFast = now - this.#lastSlotAt < FAST_SLOT_MS;
    if (isFast && now - this.#lastLogAt < FAST_LOG_INTERVAL_MS) return;
    this.#lastLogAt = now;
    const { chain, logger } = this.#parts;
    const { head, forkChoice, status, clock } = chain;
    const rate = participationRate(chain.headState);
    logger.info("Slot", {
      slot,
      epoch: clock.currentEpoch,
      head: head.slot,
      root: head.root.slice(0, 10),
      payload: head.bid && chain.headNode.payloadStatus,
      participationPercent: rate === undefined ? undefined : Math.round(rate * 100),
      peers,
      justified: forkChoice.justified.epoch,
      finalized: forkChoice.finalized.epoch,
      syncing: status.isSyncing || undefined,
    });
  }
}

/** Counts the newest blocks of the chain without their payloads, up to the limit. */
function countEmptyBlocks({ head, headNode, forkChoice }: NotifierParts["chain"]): number {
  let count = 0;
  let { payloadStatus } = headNode;
  for (
    let block: ForkChoiceBlock | undefined = head;
    block?.bid !== undefined && payloadStatus !== "full" && count < EMPTY_BLOCKS_LIMIT;
    count++
  ) {
    payloadStatus = forkChoice.parentPayloadStatus(block.root);
    block = forkChoice.get(block.parentRoot);
  }
  return count;
}
