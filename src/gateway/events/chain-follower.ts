import type { Timers } from "../../async/timers.ts";
import { OperationalError } from "../../errors/operational-error.ts";
import type { Logger } from "../../log/logger.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { HealthTracker } from "../upstream/upstream-health.ts";
import type { AnnouncedEvents } from "./announced-events.ts";
import { type ChainEvent, type FinalizedCheckpoint, headOf, numberAt, stringAt } from "./chain-event.ts";
import { errorReason } from "./error-reason.ts";
import { eventLimits } from "./event-limits.ts";
import { isValidData } from "./event-shapes.ts";
import { GapBackfill, readHeader } from "./gap-backfill.ts";
import type { FetchFrom, UpstreamEventSource } from "./upstream-event-source.ts";

/**
 * How long an upstream may be below the last announced head, for example after a restart, before a rewind is assumed.
 */
const REWIND_GRACE_SLOTS = 2;
const RETRY_MILLIS = 500;
/** How long missed events are requested before they are skipped: longer than it takes to detect an unhealthy node. */
const PATIENCE_SLOTS = 2;
const MIN_PATIENCE_MILLIS = 10_000;

export interface ChainFollowerOptions {
  readonly chainSpec: ChainSpec;
  readonly health: Pick<HealthTracker, "all" | "of">;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly fetch: FetchFrom;
  readonly leader: UpstreamEventSource;
  readonly announced: AnnouncedEvents;
  /** Publishes an event unless it is announced. */
  publish(event: ChainEvent): void;
  /** True unless another upstream reports other finality. */
  isConfirmed(finalized: FinalizedCheckpoint): boolean;
}

/**
 * Why publishing the leader's log has stopped. `gap`: events after the last announced head are missing. `below head`:
 * the leader has not reached that head. A reorg: blocks of its new branch may be missing.
 */
type Obstacle = "gap" | "below head" | ChainEvent;

/**
 * Publishes the leader's chain events after the announced ones. Requests events that were missed while the leader's
 * stream was interrupted.
 */
export class ChainFollower {
  readonly #options: ChainFollowerOptions;
  readonly #closing = new AbortController();
  /** Events are published as they arrive once nothing is missing. */
  #progress: "catching up" | "live" = "catching up";
  /** Ends the pause of the catch-up. */
  #wake = () => {};
  /** The last reorg whose branch is announced. */
  #checkedReorg: ChainEvent | undefined;

  constructor(options: ChainFollowerOptions) {
    this.#options = options;
    void this.#catchUp({ isResuming: true });
  }

  /** True if all events of the leader have been published. */
  get isLive(): boolean {
    return this.#progress === "live";
  }

  /** Publishes an event that was added to the leader's log. */
  follow(event: ChainEvent): void {
    if (!this.isLive) this.#wake();
    else if (this.#continues(event)) this.#options.publish(event);
    else void this.#catchUp({ isResuming: false });
  }

  close(): void {
    this.#closing.abort();
    this.#wake();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * Publishes the leader's log until nothing is missing. With `isResuming`, includes events from before the last head
   * that were not announced. Never rejects.
   */
  async #catchUp({ isResuming }: { isResuming: boolean }): Promise<void> {
    const { leader, announced, chainSpec, timers } = this.#options;
    this.#progress = "catching up";
    let failingSince: number | undefined;
    let mayLackFinality = isResuming && !leader.log.isContinuous;
    let below = { head: announced.head, since: timers.now() };
    while (!this.#isClosed) {
      const obstacle = this.#publishLog({ isResuming });
      if (obstacle === undefined) break;
      const mayRewind = obstacle === "below head" && this.#mayRewind;
      if (!mayRewind || below.head !== announced.head) below = { head: announced.head, since: timers.now() };
      const belowMillis = timers.now() - below.since;
      if (
        obstacle === "below head" &&
        (!mayRewind || belowMillis < REWIND_GRACE_SLOTS * chainSpec.secondsPerSlot * 1000)
      ) {
        await this.#pause();
        continue;
      }
      try {
        if (typeof obstacle === "string") await this.#fillGap({ mayRewind });
        else await this.#fillBranch(obstacle);
        failingSince = undefined;
      } catch (error) {
        this.#logFailure(error);
        failingSince ??= timers.now();
        if (timers.now() - failingSince < this.#patienceMillis) {
          await this.#pause();
          continue;
        }
        failingSince = undefined;
        this.#skip(obstacle);
      }
      if (typeof obstacle === "string") {
        isResuming = true;
        mayLackFinality = true;
      }
    }
    if (this.#isClosed) return;
    this.#progress = "live";
    if (mayLackFinality || (isResuming && this.#isFinalityNewer)) void this.#requestFinality();
  }

  /** Publishes finality that the leader may have announced before it was connected. Never rejects. */
  async #requestFinality(): Promise<void> {
    const { timers } = this.#options;
    for (const until = timers.now() + this.#patienceMillis; !this.#isClosed && timers.now() < until; ) {
      try {
        const events = await this.#backfill.finality();
        this.#publishRequested(events.filter((event) => this.#isValid(event)));
        return;
      } catch (error) {
        this.#logFailure(error);
        await timers.sleep(RETRY_MILLIS, this.#closing.signal).catch(() => {});
      }
    }
  }

  get #patienceMillis(): number {
    return Math.max(PATIENCE_SLOTS * this.#options.chainSpec.secondsPerSlot * 1000, MIN_PATIENCE_MILLIS);
  }

  #logFailure(error: unknown): void {
    const { leader, logger } = this.#options;
    logger.debug("Missed chain events could not be requested", { upstream: leader.name, reason: errorReason(error) });
  }

  /** Publishes the leader's events after the last announced head. Stops at an obstacle and returns it. */
  #publishLog({ isResuming }: { isResuming: boolean }): Obstacle | undefined {
    const { announced, publish } = this.#options;
    const { log, name } = this.#options.leader;
    if (!announced.head && log.initialHead) announced.startAt(log.initialHead, this.#finalizedOf(name));
    const { head } = announced;
    const events = head ? log.after(head.root) : log.events;
    if (!events) return this.#isElsewhere ? "gap" : "below head";
    const older = isResuming ? log.eventsSinceRewind.filter((event) => this.#isUnannounced(event)) : [];
    const isNew = (event: ChainEvent) => events.includes(event) || older.includes(event);
    for (const event of older.length > 0 ? log.events.filter(isNew) : events) {
      if (event.topic === "chain_reorg" && this.#mayLackBlocks(event)) return event;
      publish(event);
    }
    return undefined;
  }

  /**
   * True for an event before the last head that may be unpublished: a block event that was ignored because of the
   * upstream's state, or a finalized checkpoint, which clients announce before or after the head.
   */
  #isUnannounced({ topic, value }: ChainEvent): boolean {
    const { announced, leader } = this.#options;
    if (topic === "finalized_checkpoint") return true;
    return (
      topic === "block" && leader.log.isContinuous && (numberAt(value, "slot") ?? 0) > (announced.firstHead?.slot ?? 0)
    );
  }

  /**
   * True for a new reorg to an unchecked branch. The leader may have imported some of its blocks before the connection.
   */
  #mayLackBlocks(reorg: ChainEvent): boolean {
    const { announced } = this.#options;
    if (reorg === this.#checkedReorg || announced.has(reorg)) return false;
    const newHead = stringAt(reorg.value, "new_head_block") ?? "";
    // Some clients announce the new head before the reorg. Other announced heads have only announced ancestors.
    return newHead === announced.head?.root || !announced.findHead(newHead);
  }

  /** True if the leader has a newer head, or has announced a reorg from the last announced head. */
  get #isElsewhere(): boolean {
    const { announced } = this.#options;
    const { log } = this.#options.leader;
    if (!log.head || !announced.head || log.head.root === announced.head.root) return false;
    return log.head.slot > announced.head.slot || log.hasLeft(announced.head.root);
  }

  /** True if the leader is synced and at another head. */
  get #mayRewind(): boolean {
    const { health, leader, announced } = this.#options;
    const { head } = leader.log;
    return head !== undefined && head.root !== announced.head?.root && health.of(leader.name).state === "ready";
  }

  get #isFinalityNewer(): boolean {
    const { health, leader, announced } = this.#options;
    return (health.of(leader.name).finalized?.epoch ?? 0) > (announced.finalized?.epoch ?? 0);
  }

  /** True if an event can be published because no event before it is missing. */
  #continues(event: ChainEvent): boolean {
    const { leader, announced } = this.#options;
    if (announced.head && !leader.log.after(announced.head.root)) return false;
    return event.topic !== "chain_reorg" || !this.#mayLackBlocks(event);
  }

  /** Returns the finalized checkpoint that the leader reports, unless it is in the future or unconfirmed. */
  #finalizedOf(leader: string): FinalizedCheckpoint | undefined {
    const { health, isConfirmed } = this.#options;
    const { finalized } = health.of(leader);
    const isCredible = finalized && finalized.epoch <= eventLimits(this.#options).epoch;
    return isCredible && isConfirmed(finalized) ? finalized : undefined;
  }

  #isValid({ topic, value }: ChainEvent): boolean {
    return isValidData(topic, value, eventLimits(this.#options));
  }

  get #backfill(): GapBackfill {
    const { announced, chainSpec, leader } = this.#options;
    return new GapBackfill(announced, leader.log.events, chainSpec.slotsPerEpoch, (path) => this.#fetch(path));
  }

  /** Fetches from the leader. A request by root falls back to other upstreams. */
  async #fetch(path: string): Promise<Buffer | undefined> {
    const { fetch, health, leader } = this.#options;
    const root = /\/headers\/(0x\w+)$/.exec(path)?.[1];
    if (root === undefined) return fetch(leader.name, path);
    const others = health.all.filter(({ upstream, state }) => upstream !== leader.name && state === "ready");
    let failure: unknown;
    for (const name of [leader.name, ...others.map(({ upstream }) => upstream)]) {
      if (this.#isClosed) break;
      try {
        const answer = await fetch(name, path);
        if (answer && readHeader(JSON.parse(answer.toString()))?.root === root) return answer;
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure) throw failure;
    return undefined;
  }

  /**
   * Publishes the events between the last announced head and the leader's head. With `mayRewind`, falls back to a
   * rewind if the two heads are not connected. Skips a gap that is too long.
   */
  async #fillGap({ mayRewind }: { mayRewind: boolean }): Promise<void> {
    const { log } = this.#options.leader;
    const head = log.head!;
    const gap = this.#backfill;
    let events = await gap.events(head.root);
    if (!events && mayRewind) events = await gap.rewindTo((log.initialHead ?? head).root);
    if (events) this.#publishRequested(events);
    else this.#skip("gap");
  }

  /** Publishes the blocks that a reorg leads to. */
  async #fillBranch(reorg: ChainEvent): Promise<void> {
    this.#publishRequested(await this.#backfill.blocksTo(stringAt(reorg.value, "new_head_block") ?? ""));
    this.#checkedReorg = reorg;
  }

  #publishRequested(events: readonly ChainEvent[]): void {
    if (this.#isClosed) return;
    if (events.some((event) => !this.#isValid(event))) throw new OperationalError("It returned invalid headers.");
    for (const event of events) this.#options.publish(event);
  }

  /** Continues without the missing events. */
  #skip(obstacle: Obstacle): void {
    if (this.#isClosed) return;
    const { leader, announced, logger } = this.#options;
    const to = leader.log.head!;
    logger.warn("Gap in chain events, skipping", { from: announced.head?.root, to: to.root });
    if (typeof obstacle === "string") this.#skipToNewerSlots();
    else this.#checkedReorg = obstacle;
  }

  /** Continues with the leader's events for newer slots. */
  #skipToNewerSlots(): void {
    const { leader, announced, publish } = this.#options;
    const { events, head } = leader.log;
    const lastSlot = announced.head?.slot ?? -1;
    const next = events.findIndex((event) => event.topic === "head" && (headOf(event)?.slot ?? 0) > lastSlot);
    const isNext = ({ topic, value }: ChainEvent, index: number) =>
      index >= next || (topic === "block" && (numberAt(value, "slot") ?? 0) > lastSlot);
    if (next === -1) announced.startAt(head!, announced.finalized);
    else for (const event of events.filter(isNext)) publish(event);
  }

  /** Waits until the next retry or the leader's next event. */
  async #pause(): Promise<void> {
    const done = new AbortController();
    this.#wake = () => done.abort();
    await this.#options.timers.sleep(RETRY_MILLIS, done.signal).catch(() => {});
  }
}
