import { isDeepStrictEqual } from "node:util";
import type { UpstreamSettings } from "../settings.ts";
import type { HealthState, HealthTracker } from "../upstream/upstream-health.ts";
import { AnnouncedEvents } from "./announced-events.ts";
import { type ChainEvent, type FinalizedCheckpoint, finalizedOf, isRewind } from "./chain-event.ts";
import { ChainFollower } from "./chain-follower.ts";
import { LeaderTracker } from "./leader-tracker.ts";
import { CHAIN_TOPICS, isAlwaysOn, isNodeView, objectKey } from "./topics.ts";
import { UpstreamEventSource, type UpstreamEventSourceDeps } from "./upstream-event-source.ts";

/** How long a topic stays subscribed without readers. */
const UNSUBSCRIBE_MILLIS = 30_000;
/** Maximum number of events held while another gateway publishes. */
const MAX_PENDING = 1024;

export interface EventMergerOptions extends UpstreamEventSourceDeps {
  readonly upstreams: readonly UpstreamSettings[];
  readonly health: HealthTracker;
  /** Receives every event once. */
  publish(event: ChainEvent): void;
}

/**
 * Merges the events of all upstreams. Object events are published when the first upstream sends them. Chain events come
 * from one upstream at a time, the leader. A new leader continues where the previous one stopped.
 */
export class EventMerger {
  readonly #options: EventMergerOptions;
  #sources: readonly UpstreamEventSource[];
  readonly #leaders: LeaderTracker;
  readonly #disposers: (() => void)[];
  /** For always-on topics. Undefined while another gateway publishes. */
  #announced: AnnouncedEvents | undefined;
  /** For on-demand topics, and the leader's chain events, which may reset them. */
  readonly #announcedOnDemand: AnnouncedEvents;
  /** Events of always-on topics, held while another gateway publishes. */
  readonly #pending = new Map<string, ChainEvent>();
  /** Publishes the leader's chain events. Undefined without a leader, and while another gateway publishes. */
  #follower: ChainFollower | undefined;
  /** The last finality of the leader, while no other upstream confirms it. */
  #unconfirmed: ChainEvent | undefined;
  #requested: ReadonlySet<string> = new Set();
  #subscribed: ReadonlySet<string> = new Set();

  constructor(options: EventMergerOptions) {
    this.#options = options;
    this.#announcedOnDemand = new AnnouncedEvents(options.chainSpec);
    this.#leaders = new LeaderTracker({ ...options, onLeader: (leader) => this.#onLeader(leader) });
    this.#sources = options.upstreams.map((upstream) => this.#createSource(upstream));
    this.#leaders.setSources(this.#sources);
    this.#disposers = [
      options.health.onChange(() => {
        this.#leaders.elect();
        this.#publishConfirmed();
      }),
      options.timers.every(UNSUBSCRIBE_MILLIS, () => this.#subscribe(this.#requested)),
    ];
  }

  /** Health state of the leader. Undefined while there is none. */
  get leaderState(): HealthState | undefined {
    const { leader } = this.#leaders;
    return leader && this.#options.health.of(leader.name).state;
  }

  /** Starts publishing always-on topics, after the events announced so far. */
  activate(announced: AnnouncedEvents): void {
    this.#announced = announced;
    for (const event of this.#pending.values()) this.#publishNew(event);
    this.#pending.clear();
    this.#followLeader();
  }

  /** Stops publishing always-on topics. Events in `unpublished` are held, in case no other gateway publishes them. */
  deactivate(unpublished: readonly ChainEvent[] = []): void {
    this.#announced = undefined;
    this.#followLeader();
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
      if (!this.#sources.includes(source)) void source.close();
    }
    this.#leaders.setSources(this.#sources);
  }

  /** Sets the topics with readers. */
  setTopics(topics: ReadonlySet<string>): void {
    this.#requested = new Set([...topics].filter((topic) => !isAlwaysOn(topic)));
    this.#subscribe(new Set([...this.#subscribed, ...this.#requested]));
  }

  async close(): Promise<void> {
    this.#leaders.close();
    this.deactivate();
    for (const end of this.#disposers) end();
    await Promise.all(this.#sources.map((source) => source.close()));
  }

  #createSource(upstream: UpstreamSettings): UpstreamEventSource {
    return new UpstreamEventSource(upstream, this.#options, {
      onConnectionChange: () => this.#leaders.elect(),
      onEvent: (source, event) => this.#onEvent(source, event),
    });
  }

  #subscribe(topics: ReadonlySet<string>): void {
    if (topics.size === this.#subscribed.size && [...topics].every((topic) => this.#subscribed.has(topic))) return;
    this.#subscribed = topics;
    for (const source of this.#sources) source.setTopics(topics);
  }

  #onEvent(source: UpstreamEventSource, event: ChainEvent): void {
    const announced = this.#announced;
    if (event.topic === "head") this.#leaders.onHead(source);
    const isLeader = source === this.#leaders.leader;
    if (CHAIN_TOPICS.has(event.topic)) {
      if (!isLeader) return;
      this.#announcedOnDemand.add(event);
      if (event.topic === "chain_reorg" && isRewind(event, source.log)) this.#pending.clear();
      this.#follower?.follow(event);
    } else if (isNodeView(event.topic)) {
      if (isLeader) this.#publishNew(event);
    } else if (!isLeader && !this.#isReady(source)) {
      // Its events may be stale, or from another chain.
      return;
    } else if (announced && event.topic === "block") {
      this.#publishBlock(source, event, announced);
    } else if (announced || !isAlwaysOn(event.topic)) {
      this.#publishNew(event);
    } else {
      this.#addPending(event);
    }
  }

  /**
   * Publishes a block after its ancestors, which the upstream may have announced while it was ignored. If no ancestor
   * is known, the block is published with the leader's chain events.
   */
  #publishBlock({ log }: UpstreamEventSource, event: ChainEvent, announced: AnnouncedEvents): void {
    const blocks = announced.head ? log.blocksAfter((root) => announced.hasBlock(root)) : [event];
    for (const block of blocks ?? []) this.#publishNew(block);
  }

  #isReady({ name }: UpstreamEventSource): boolean {
    return this.#options.health.of(name).state === "ready";
  }

  #publishNew(event: ChainEvent): void {
    const announced = isAlwaysOn(event.topic) ? this.#announced : this.#announcedOnDemand;
    if (!announced || announced.has(event)) return;
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
    if (!this.#unconfirmed || !this.#follower?.isLive) return;
    const event = this.#unconfirmed;
    this.#unconfirmed = undefined;
    this.#publishNew(event);
  }

  /**
   * True if another ready upstream reports the same finality as the leader, or no other ready upstream reports
   * finality.
   */
  #isConfirmed({ epoch, root }: FinalizedCheckpoint): boolean {
    const others = this.#options.health.all.flatMap(({ upstream, state, finalized }) =>
      finalized && state === "ready" && upstream !== this.#leaders.leader?.name ? [finalized] : [],
    );
    return others.length === 0 || others.some((other) => other.epoch === epoch && other.root === root);
  }

  #addPending(event: ChainEvent): void {
    this.#pending.set(`${event.topic} ${objectKey(event)}`, event);
    if (this.#pending.size <= MAX_PENDING) return;
    const [oldest] = this.#pending.keys();
    this.#pending.delete(oldest!);
  }

  #onLeader(leader: UpstreamEventSource | undefined): void {
    if (leader) this.#options.logger.debug("Elected leader for chain events", { upstream: leader.name });
    this.#followLeader();
  }

  /** Restarts with the leader's events after the announced ones. */
  #followLeader(): void {
    this.#follower?.close();
    this.#follower = undefined;
    this.#unconfirmed = undefined;
    const announced = this.#announced;
    const { leader } = this.#leaders;
    if (!announced || !leader) return;
    this.#follower = new ChainFollower({
      ...this.#options,
      leader,
      announced,
      publish: (event) => this.#publishNew(event),
      isConfirmed: (finalized) => this.#isConfirmed(finalized),
    });
  }
}
