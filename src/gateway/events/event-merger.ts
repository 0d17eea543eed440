import { isDeepStrictEqual } from "node:util";
import { OperationalError } from "../../errors/operational-error.ts";
import type { UpstreamSettings } from "../settings.ts";
import type { HealthState, HealthTracker } from "../upstream/upstream-health.ts";
import { AnnouncedEvents } from "./announced-events.ts";
import { type ChainEvent, type FinalizedCheckpoint, finalizedOf, headOf, isRewind, numberAt } from "./chain-event.ts";
import { errorReason } from "./error-reason.ts";
import { eventLimits } from "./event-limits.ts";
import { isValidData } from "./event-shapes.ts";
import { GapBackfill } from "./gap-backfill.ts";
import { electLeader } from "./leader-election.ts";
import { CHAIN_TOPICS, isAlwaysOn, isNodeView, objectKey } from "./topics.ts";
import type { UpstreamEventLog } from "./upstream-event-log.ts";
import { UpstreamEventSource, type UpstreamEventSourceDeps } from "./upstream-event-source.ts";

/** Maximum delay of the leader's head event behind another upstream's, as a share of a slot. */
const LATE_SLOT_SHARE = 1 / 24;
/** How long a topic stays subscribed without readers. */
const UNSUBSCRIBE_MILLIS = 30_000;
/**
 * How long a leader may be below the last announced head, for example after a restart, before the chain counts as
 * rewound.
 */
const REWIND_GRACE_SLOTS = 2;
const GAP_ATTEMPTS = 3;
const GAP_RETRY_MILLIS = 500;
/** Maximum number of events held while another gateway publishes. */
const MAX_PENDING = 1024;

export interface EventMergerOptions extends UpstreamEventSourceDeps {
  readonly upstreams: readonly UpstreamSettings[];
  readonly health: HealthTracker;
  /** Receives every event once. */
  publish(event: ChainEvent): void;
}

/**
 * Merges the events of all upstreams. Object events are published from the upstream that is first. Chain events come
 * from one upstream at a time, the leader. A new leader continues where the previous one stopped.
 */
export class EventMerger {
  readonly #options: EventMergerOptions;
  #sources: readonly UpstreamEventSource[];
  readonly #closing = new AbortController();
  readonly #disposers: (() => void)[];
  /** For always-on topics. */
  #announced: AnnouncedEvents;
  /** For on-demand topics, and the leader's chain events, which may reset them. */
  readonly #announcedOnDemand: AnnouncedEvents;
  #isActive = false;
  /** Events of always-on topics, held while another gateway publishes. */
  readonly #pending = new Map<string, ChainEvent>();
  #leader: UpstreamEventSource | undefined;
  /** True if all events of the leader have been published. */
  #isCaughtUp = false;
  #isCatchingUp = false;
  /** The last finality of the leader, while no other upstream confirms it. */
  #unconfirmed: ChainEvent | undefined;
  readonly #late = new Set<UpstreamEventSource>();
  #isCheckingLeader = false;
  #isWaitingForLeader = false;
  /** The leader did not reach the last announced head in time. */
  #hasRewound = false;
  #requested: ReadonlySet<string> = new Set();
  #subscribed: ReadonlySet<string> = new Set();

  constructor(options: EventMergerOptions) {
    this.#options = options;
    this.#announced = new AnnouncedEvents(options.chainSpec);
    this.#announcedOnDemand = new AnnouncedEvents(options.chainSpec);
    this.#sources = options.upstreams.map((upstream) => this.#createSource(upstream));
    this.#disposers = [
      options.health.onChange(() => {
        this.#electLeader();
        this.#publishConfirmed();
      }),
      options.timers.every(UNSUBSCRIBE_MILLIS, () => this.#subscribe(this.#requested)),
    ];
  }

  /** Health state of the leader. Undefined while there is none. */
  get leaderState(): HealthState | undefined {
    return this.#leader && this.#options.health.of(this.#leader.name).state;
  }

  /** Starts publishing always-on topics, after the events announced so far. */
  activate(announced: AnnouncedEvents): void {
    this.#announced = announced;
    this.#isActive = true;
    this.#isCaughtUp = false;
    this.#hasRewound = false;
    for (const event of this.#pending.values()) this.#publishNew(event);
    this.#pending.clear();
    void this.#catchUp();
  }

  /** Stops publishing always-on topics. Events in `unpublished` are held, in case no other gateway publishes them. */
  deactivate(unpublished: readonly ChainEvent[] = []): void {
    this.#isActive = false;
    for (const event of unpublished) if (!isNodeView(event.topic)) this.#addPending(event);
  }

  /** Connects to added and changed upstreams and disconnects from removed ones. */
  setUpstreams(upstreams: readonly UpstreamSettings[]): void {
    const before = this.#sources;
    this.#sources = upstreams.map((upstream) => {
      const existing = before.find((source) => isDeepStrictEqual(source.upstream, upstream));
      if (existing) return existing;
      const source = this.#createSource(upstream);
      source.setTopics(this.#subscribed);
      return source;
    });
    for (const source of before) {
      if (this.#sources.includes(source)) continue;
      this.#late.delete(source);
      void source.close();
    }
    this.#electLeader();
  }

  /** Sets the topics with readers. */
  setTopics(topics: ReadonlySet<string>): void {
    this.#requested = new Set([...topics].filter((topic) => !isAlwaysOn(topic)));
    this.#subscribe(new Set([...this.#subscribed, ...this.#requested]));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.deactivate();
    for (const end of this.#disposers) end();
    await Promise.all(this.#sources.map((source) => source.close()));
  }

  #createSource(upstream: UpstreamSettings): UpstreamEventSource {
    return new UpstreamEventSource(upstream, this.#options, {
      onConnectionChange: () => this.#electLeader(),
      onEvent: (source, event) => this.#onEvent(source, event),
    });
  }

  #subscribe(topics: ReadonlySet<string>): void {
    if (topics.size === this.#subscribed.size && [...topics].every((topic) => this.#subscribed.has(topic))) return;
    this.#subscribed = topics;
    for (const source of this.#sources) source.setTopics(topics);
  }

  #onEvent(source: UpstreamEventSource, event: ChainEvent): void {
    if (event.topic === "head") this.#checkLeaderProgress(source);
    if (CHAIN_TOPICS.has(event.topic)) {
      if (source !== this.#leader) return;
      this.#announcedOnDemand.add(event);
      if (event.topic === "chain_reorg" && isRewind(event, source.log)) this.#pending.clear();
      if (!this.#isActive) return;
      if (this.#isCaughtUp) this.#publishNew(event);
      else void this.#catchUp();
    } else if (isNodeView(event.topic)) {
      if (source === this.#leader) this.#publishNew(event);
    } else if (source !== this.#leader && !this.#isReady(source)) {
      // Its events may be stale, or of another chain.
      return;
    } else if (this.#isActive && event.topic === "block") {
      this.#publishBlock(source, event);
    } else if (this.#isActive || !isAlwaysOn(event.topic)) {
      this.#publishNew(event);
    } else {
      this.#addPending(event);
    }
  }

  /**
   * Publishes a block after its ancestors, which the upstream may have announced while it was ignored. If none is
   * known, the block comes with the leader's chain events.
   */
  #publishBlock({ log }: UpstreamEventSource, event: ChainEvent): void {
    const blocks = this.#announced.head ? log.blocksAfter((root) => this.#announced.hasBlock(root)) : [event];
    for (const block of blocks ?? []) this.#publishNew(block);
  }

  #isReady({ name }: UpstreamEventSource): boolean {
    return this.#options.health.of(name).state === "ready";
  }

  #publishNew(event: ChainEvent): void {
    const announced = isAlwaysOn(event.topic) ? this.#announced : this.#announcedOnDemand;
    if (announced.has(event)) return;
    const finalized = event.topic === "finalized_checkpoint" ? finalizedOf(event) : undefined;
    if (finalized && !this.#isConfirmed(finalized)) {
      this.#unconfirmed = event;
      return;
    }
    announced.add(event);
    this.#options.publish(event);
  }

  /** Publishes finality of the leader that another upstream has confirmed since. */
  #publishConfirmed(): void {
    if (!this.#unconfirmed || !this.#isActive || !this.#isCaughtUp) return;
    const event = this.#unconfirmed;
    this.#unconfirmed = undefined;
    this.#publishNew(event);
  }

  /** True if another ready upstream reports the same finality as the leader, or none reports any. */
  #isConfirmed({ epoch, root }: FinalizedCheckpoint): boolean {
    const others = this.#options.health.all.flatMap(({ upstream, state, finalized }) =>
      finalized && state === "ready" && upstream !== this.#leader?.name ? [finalized] : [],
    );
    return others.length === 0 || others.some((other) => other.epoch === epoch && other.root === root);
  }

  #addPending(event: ChainEvent): void {
    this.#pending.set(`${event.topic} ${objectKey(event)}`, event);
    if (this.#pending.size <= MAX_PENDING) return;
    const [oldest] = this.#pending.keys();
    this.#pending.delete(oldest!);
  }

  #electLeader(): void {
    if (this.#closing.signal.aborted) return;
    const { health, logger } = this.#options;
    const candidates = this.#sources
      .filter(({ isConnected }) => isConnected)
      .map((source) => ({
        source,
        tier: source.tier,
        state: health.of(source.name).state,
        headSlot: source.log.head?.slot ?? -1,
        isLate: this.#late.has(source),
        isLeader: source === this.#leader,
      }));
    const leader = electLeader(candidates)?.source;
    if (leader === this.#leader) return;
    this.#leader = leader;
    this.#unconfirmed = undefined;
    this.#isCaughtUp = false;
    this.#hasRewound = false;
    if (leader) logger.debug("Elected leader for chain events", { upstream: leader.name });
    void this.#catchUp();
  }

  /** Marks the leader as late if it does not announce a slot soon after another upstream. */
  #checkLeaderProgress(source: UpstreamEventSource): void {
    const slotOf = ({ log }: UpstreamEventSource) => log.head?.slot ?? -1;
    const leader = this.#leader;
    if (this.#late.has(source) && (!leader || slotOf(source) >= slotOf(leader))) {
      this.#late.delete(source);
      this.#electLeader();
    }
    if (!leader || this.#isCheckingLeader || slotOf(source) <= slotOf(leader) || !this.#isReady(source)) return;
    this.#isCheckingLeader = true;
    void this.#pause(LATE_SLOT_SHARE * this.#options.chainSpec.secondsPerSlot * 1000).then(() => {
      this.#isCheckingLeader = false;
      if (leader !== this.#leader || slotOf(leader) >= slotOf(source)) return;
      this.#late.add(leader);
      this.#electLeader();
    });
  }

  /** Publishes what the leader has announced so far. Never rejects. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    let attempts = 0;
    while (this.#isActive && this.#leader && !this.#isCaughtUp) {
      const leader = this.#leader;
      if (this.#resumeFromLog(leader)) {
        this.#isCaughtUp = true;
        this.#hasRewound = false;
      } else if (!this.#isAhead(leader) && !this.#hasRewound) {
        // Continues with its next event.
        this.#waitFor(leader);
        break;
      } else if (!(await this.#fillGap(leader, ++attempts === GAP_ATTEMPTS))) {
        await this.#pause(GAP_RETRY_MILLIS);
      }
    }
    this.#isCatchingUp = false;
  }

  /** Abandons the last head if the leader does not reach it although it is synced. */
  #waitFor(leader: UpstreamEventSource): void {
    if (this.#isWaitingForLeader) return;
    this.#isWaitingForLeader = true;
    const { head } = this.#announced;
    void this.#pause(REWIND_GRACE_SLOTS * this.#options.chainSpec.secondsPerSlot * 1000).then(() => {
      this.#isWaitingForLeader = false;
      const isSame = leader === this.#leader && head === this.#announced.head;
      this.#hasRewound = isSame && this.#isReady(leader) && leader.log.head !== undefined;
      void this.#catchUp();
    });
  }

  /**
   * Publishes the leader's events after the last announced head. Returns false if its log does not contain that head.
   */
  #resumeFromLog({ name, log }: UpstreamEventSource): boolean {
    const { head } = this.#announced;
    const events = head ? log.after(head.root) : log.events;
    if (!events) return false;
    const belated = log.eventsSinceRewind.filter((event) => this.#isUnannounced(event));
    for (const event of log.events) if (events.includes(event) || belated.includes(event)) this.#publishNew(event);
    if (!this.#announced.head && log.initialHead) {
      this.#announced.startAt(log.initialHead, this.#finalizedOf(name));
    }
    return true;
  }

  /**
   * True for an event from before the last head that may be unpublished: a block of an upstream that was ignored then,
   * or a finalized checkpoint, which clients announce before or after the head.
   */
  #isUnannounced({ topic, value }: ChainEvent): boolean {
    if (topic === "block") return (numberAt(value, "slot") ?? 0) > (this.#announced.firstHead?.slot ?? 0);
    return topic === "finalized_checkpoint";
  }

  #isValid({ topic, value }: ChainEvent): boolean {
    return isValidData(topic, value, eventLimits(this.#options));
  }

  /** Returns the finalized checkpoint that the leader reports, unless it is in the future or unconfirmed. */
  #finalizedOf(leader: string): FinalizedCheckpoint | undefined {
    const { finalized } = this.#options.health.of(leader);
    const isCredible = finalized && finalized.epoch <= eventLimits(this.#options).epoch;
    return isCredible && this.#isConfirmed(finalized) ? finalized : undefined;
  }

  #isAhead({ log }: UpstreamEventSource): boolean {
    return (log.head?.slot ?? -1) > (this.#announced.head?.slot ?? -1);
  }

  /**
   * Publishes the events between the last announced head and the leader's. Returns false if it should be retried. With
   * `maySkip`, skips the gap if it cannot be filled.
   */
  async #fillGap({ name, log }: UpstreamEventSource, maySkip: boolean): Promise<boolean> {
    const { chainSpec, fetch, logger } = this.#options;
    const announced = this.#announced;
    const head = log.head!;
    const gap = new GapBackfill(announced, log.events, chainSpec.slotsPerEpoch, (path) => fetch(name, path));
    let events: ChainEvent[] | undefined;
    try {
      events = await gap.events(head.root);
      if (!events && this.#hasRewound) events = await gap.rewindTo((log.initialHead ?? head).root);
      if (events) events.push(...(await gap.finality()).filter((event) => this.#isValid(event)));
      if (events?.some((event) => !this.#isValid(event))) throw new OperationalError("It returned invalid headers.");
    } catch (error) {
      events = undefined;
      logger.debug("Gap in chain events could not be filled", {
        upstream: name,
        reason: errorReason(error),
      });
      if (!maySkip) return false;
    }
    if (!this.#isActive || announced !== this.#announced || name !== this.#leader?.name) return true;
    if (events) {
      for (const event of events) this.#publishNew(event);
    } else {
      logger.warn("Gap in chain events, skipping", {
        from: announced.head?.root,
        to: head.root,
      });
      this.#skipGap(announced, log);
    }
    return true;
  }

  /** Continues with the leader's events for newer slots. */
  #skipGap(announced: AnnouncedEvents, { events, head }: UpstreamEventLog): void {
    const lastSlot = announced.head?.slot ?? -1;
    const next = events.findIndex((event) => event.topic === "head" && (headOf(event)?.slot ?? 0) > lastSlot);
    const isNext = ({ topic, value }: ChainEvent, index: number) =>
      index >= next || (topic === "block" && (numberAt(value, "slot") ?? 0) > lastSlot);
    if (next === -1) announced.startAt(head!, announced.finalized);
    else for (const event of events.filter(isNext)) this.#publishNew(event);
  }

  #pause(millis: number): Promise<void> {
    return this.#options.timers.sleep(millis, this.#closing.signal).catch(() => {});
  }
}
