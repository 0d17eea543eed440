import { computeEpochAtSlot } from "@lodestar/state-transition";
import { SYSTEM_TIMERS, type Timers } from "../async/timers.ts";
import type { BeaconChain } from "../chain/chain.ts";
import { participationRate } from "../chain/participation-rate.ts";
import { Alarm } from "../log/alarm.ts";
import type { Logger } from "../log/logger.ts";

/** So many slots in a row without a block are more than bad luck. */
const EMPTY_SLOTS = 4;
/** The finalized epoch lies two behind the current one when everybody votes; two more are one missed chance and its repair. */
const NORMAL_FINALITY_EPOCHS = 2;
const TOLERATED_FINALITY_EPOCHS = NORMAL_FINALITY_EPOCHS + 2;
/** How long a node may be without a peer before that is worth a warning. */
const LONELY_MS = 60_000;
/** Slots that follow each other faster than this are not all told, but one a second. */
const FAST_SLOT_MS = 500;
const FAST_LINE_MS = 1000;

interface WatchParts {
  chain: Pick<BeaconChain, "clock" | "head" | "headState" | "forkChoice" | "status">;
  /** Left out by a node that speaks to no other. */
  connectedPeers?(): number;
  /** Whether the node can do nothing without others. */
  needsPeers: boolean;
  /** Whether history is being made at once, of which every slot is none to tell of. */
  isWarmingUp?(): boolean;
  logger: Logger;
  timers?: Pick<Timers, "now">;
}

/** Tells in the log, slot by slot, how the chain and the node are, and warns when something is wrong with them. */
export class Watch {
  readonly #parts: WatchParts;
  readonly #timers: Pick<Timers, "now">;
  readonly #alarms: Record<"empty" | "finality" | "peers", Alarm>;
  readonly #stop: () => void;
  #slotAt = Number.NEGATIVE_INFINITY;
  #lineAt = Number.NEGATIVE_INFINITY;
  #connectedAt: number;
  /** The slot before the first that was looked at. */
  #watchedSince: number | undefined;

  /** Watches until it is closed. */
  constructor(parts: WatchParts) {
    const { logger, chain } = parts;
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#connectedAt = this.#timers.now();
    this.#alarms = {
      empty: new Alarm(logger, {
        raised: "Slots have no blocks: validators do not propose, or their blocks do not arrive",
        cleared: "Slots have blocks again",
      }),
      finality: new Alarm(logger, {
        raised: "The chain does not finalize: too few validators vote, or their votes do not arrive",
        cleared: "The chain finalizes again",
      }),
      peers: new Alarm(logger, {
        raised: "No other node is connected: look at the network of the machine, --bootnodes and --peer",
        cleared: "Other nodes are connected again",
      }),
    };
    this.#stop = chain.clock.onSlot((slot) => this.#onSlot(slot));
  }

  close(): void {
    this.#stop();
  }

  #onSlot(slot: number): void {
    const { isWarmingUp, needsPeers } = this.#parts;
    const now = this.#timers.now();
    const peers = this.#parts.connectedPeers?.();
    if (peers !== 0) this.#connectedAt = now;
    if (needsPeers) this.#alarms.peers.update(now - this.#connectedAt >= LONELY_MS, { peers });
    if (isWarmingUp?.()) return;
    this.#watchChain(slot);
    this.#tell(slot, now, peers);
    this.#slotAt = now;
  }

  /**
   * Of a node that is behind, neither its empty slots nor its finality say anything about the chain; nor does what was empty
   * before it began to look.
   */
  #watchChain(slot: number): void {
    const { chain } = this.#parts;
    if (chain.status.isSyncing) return;
    this.#watchedSince ??= slot - 1;
    // The block of the slot that begins now is yet to come.
    const newest = Math.max(...chain.forkChoice.leaves().map((block) => block.slot));
    const empty = slot - 1 - Math.max(newest, this.#watchedSince);
    this.#alarms.empty.update(empty >= EMPTY_SLOTS, { slots: Math.max(0, empty), head: chain.head.slot });
    const finalized = chain.forkChoice.finalized.epoch;
    const epochs = chain.clock.currentEpoch - Math.max(finalized, computeEpochAtSlot(this.#watchedSince));
    this.#alarms.finality.update(epochs > TOLERATED_FINALITY_EPOCHS, { finalized, epochs });
  }

  #tell(slot: number, now: number, peers: number | undefined): void {
    const isFast = now - this.#slotAt < FAST_SLOT_MS;
    if (isFast && now - this.#lineAt < FAST_LINE_MS) return;
    this.#lineAt = now;
    const { chain, logger } = this.#parts;
    const { head, forkChoice, status, clock } = chain;
    const rate = participationRate(chain.headState);
    logger.info("Slot", {
      slot,
      epoch: clock.currentEpoch,
      head: head.slot,
      root: head.root.slice(0, 10),
      voted: rate === undefined ? undefined : `${Math.round(rate * 100)}%`,
      peers,
      justified: forkChoice.justified.epoch,
      finalized: forkChoice.finalized.epoch,
      syncing: status.isSyncing || undefined,
    });
  }
}
