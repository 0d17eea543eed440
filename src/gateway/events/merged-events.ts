import type { Conditions, Fitness } from "../condition.ts";
import type { UpstreamOptions } from "../options.ts";
import { type ChainEvent, goesBack, headOf, numberAt } from "./chain-event.ts";
import { Gap } from "./gap.ts";
import { chooseLeader } from "./leader.ts";
import { reasonOf } from "./reason.ts";
import type { StoryLog } from "./story-log.ts";
import { Told } from "./told.ts";
import { isSteady, isView, objectKey, STORY_TOPICS } from "./topics.ts";
import { UpstreamEvents, type UpstreamEventsParts } from "./upstream-events.ts";

/** The part of a slot that the leader may take longer than another one to tell of a head. */
const LATE_SHARE = 1 / 24;
/** How long a topic is still followed that nobody reads any more. */
const UNREAD_MILLIS = 30_000;
/** How long a leader may be before the last head that was told, as one that was started again, until that is given up. */
const PATIENCE_SLOTS = 2;
const GAP_ATTEMPTS = 3;
const GAP_RETRY_MILLIS = 500;
/** So many events are held that another gateway should tell. */
const MAX_HELD = 1024;

export interface MergedEventsOptions extends UpstreamEventsParts {
  readonly upstreams: readonly UpstreamOptions[];
  readonly conditions: Conditions;
  /** Gets all events, each once. */
  tell(event: ChainEvent): void;
}

/**
 * The events of all upstreams as those of one. What tells of an object is told by whichever is first. What tells of the chain that a
 * node follows is told by one upstream at a time, the leader; another one that takes over goes on where the story was left.
 */
export class MergedEvents {
  readonly #options: MergedEventsOptions;
  readonly #sources: readonly UpstreamEvents[];
  readonly #closing = new AbortController();
  readonly #endings: (() => void)[];
  /** Of the topics that are always followed. */
  #told: Told;
  /** Of the others, and of the leader's story, with which they may begin anew. */
  readonly #toldOnDemand: Told;
  #isActive = false;
  /** Events of topics that are always followed, while others tell them. */
  readonly #held = new Map<string, ChainEvent>();
  #leader: UpstreamEvents | undefined;
  /** Whether all that the leader has told has been told. */
  #isLevel = false;
  #isCatchingUp = false;
  readonly #late = new Set<UpstreamEvents>();
  #isWatchingLeader = false;
  #isWaitingForLeader = false;
  /** The leader did not come to the last head in time. */
  #hasGoneBack = false;
  #read: ReadonlySet<string> = new Set();
  #followed: ReadonlySet<string> = new Set();

  constructor(options: MergedEventsOptions) {
    this.#options = options;
    this.#told = new Told(options.facts);
    this.#toldOnDemand = new Told(options.facts);
    const listener = {
      changed: () => this.#elect(),
      heard: (source: UpstreamEvents, event: ChainEvent) => this.#hear(source, event),
    };
    this.#sources = options.upstreams.map((upstream) => new UpstreamEvents(upstream, options, listener));
    this.#endings = [
      options.conditions.onChange(() => this.#elect()),
      options.timers.every(UNREAD_MILLIS, () => this.#follow(this.#read)),
    ];
  }

  /** Of the upstream whose story is told; undefined while there is none. */
  get leaderFitness(): Fitness | undefined {
    return this.#leader && this.#options.conditions.of(this.#leader.name).fitness;
  }

  /** Tells what happens from what was told on. */
  activate(told: Told): void {
    this.#told = told;
    this.#isActive = true;
    this.#isLevel = false;
    this.#hasGoneBack = false;
    for (const event of this.#held.values()) this.#tellNew(event);
    this.#held.clear();
    void this.#catchUp();
  }

  /** Tells nothing of the topics that are always followed until it is activated again. What it told in vain may be told by others. */
  rest(inVain: readonly ChainEvent[] = []): void {
    this.#isActive = false;
    for (const event of inVain) if (!isView(event.topic)) this.#hold(event);
  }

  /** Those that somebody reads now. */
  follow(topics: ReadonlySet<string>): void {
    this.#read = new Set([...topics].filter((topic) => !isSteady(topic)));
    this.#follow(new Set([...this.#followed, ...this.#read]));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.rest();
    for (const end of this.#endings) end();
    await Promise.all(this.#sources.map((source) => source.close()));
  }

  #follow(topics: ReadonlySet<string>): void {
    if (topics.size === this.#followed.size && [...topics].every((topic) => this.#followed.has(topic))) return;
    this.#followed = topics;
    for (const source of this.#sources) source.follow(topics);
  }

  #hear(source: UpstreamEvents, event: ChainEvent): void {
    if (event.topic === "head") this.#noteProgress(source);
    if (STORY_TOPICS.has(event.topic)) {
      if (source !== this.#leader) return;
      this.#toldOnDemand.note(event);
      if (event.topic === "chain_reorg" && goesBack(event, source.log)) this.#held.clear();
      if (!this.#isActive) return;
      if (this.#isLevel) this.#tellNew(event);
      else void this.#catchUp();
    } else if (isView(event.topic)) {
      if (source === this.#leader) this.#tellNew(event);
    } else if (source !== this.#leader && !this.#isReady(source)) {
      // What it tells may be old, or of another chain.
      return;
    } else if (this.#isActive && event.topic === "block") {
      this.#tellBlock(source, event);
    } else if (this.#isActive || !isSteady(event.topic)) {
      this.#tellNew(event);
    } else {
      this.#hold(event);
    }
  }

  /**
   * Not before its parent: those that its source told before it, while it was not heeded, come first. Where none of them is known, the
   * story of the leader comes there.
   */
  #tellBlock({ log }: UpstreamEvents, event: ChainEvent): void {
    const blocks = this.#told.head ? log.blocksAfter((root) => this.#told.hasBlock(root)) : [event];
    for (const block of blocks ?? []) this.#tellNew(block);
  }

  #isReady({ name }: UpstreamEvents): boolean {
    return this.#options.conditions.of(name).fitness === "ready";
  }

  #tellNew(event: ChainEvent): void {
    const told = isSteady(event.topic) ? this.#told : this.#toldOnDemand;
    if (told.has(event)) return;
    told.note(event);
    this.#options.tell(event);
  }

  #hold(event: ChainEvent): void {
    this.#held.set(`${event.topic} ${objectKey(event)}`, event);
    if (this.#held.size <= MAX_HELD) return;
    const [oldest] = this.#held.keys();
    this.#held.delete(oldest!);
  }

  #elect(): void {
    if (this.#closing.signal.aborted) return;
    const { conditions, logger } = this.#options;
    const candidates = this.#sources
      .filter(({ isThere }) => isThere)
      .map((source) => ({
        source,
        tier: source.tier,
        fitness: conditions.of(source.name).fitness,
        headSlot: source.log.head?.slot ?? -1,
        isLate: this.#late.has(source),
        isLeader: source === this.#leader,
      }));
    const leader = chooseLeader(candidates)?.source;
    if (leader === this.#leader) return;
    this.#leader = leader;
    this.#isLevel = false;
    this.#hasGoneBack = false;
    if (leader) logger.debug("The story of the chain is told by an upstream", { upstream: leader.name });
    void this.#catchUp();
  }

  /** A leader that does not soon tell of a slot of which another one has told is late. */
  #noteProgress(source: UpstreamEvents): void {
    const slotOf = ({ log }: UpstreamEvents) => log.head?.slot ?? -1;
    const leader = this.#leader;
    if (this.#late.has(source) && (!leader || slotOf(source) >= slotOf(leader))) {
      this.#late.delete(source);
      this.#elect();
    }
    if (!leader || this.#isWatchingLeader || slotOf(source) <= slotOf(leader) || !this.#isReady(source)) return;
    this.#isWatchingLeader = true;
    void this.#pause(LATE_SHARE * this.#options.facts.secondsPerSlot * 1000).then(() => {
      this.#isWatchingLeader = false;
      if (leader !== this.#leader || slotOf(leader) >= slotOf(source)) return;
      this.#late.add(leader);
      this.#elect();
    });
  }

  /** Brings what was told level with what the leader has told; never rejects. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    let attempts = 0;
    while (this.#isActive && this.#leader && !this.#isLevel) {
      const leader = this.#leader;
      if (this.#goOnFromLog(leader)) {
        this.#isLevel = true;
        this.#hasGoneBack = false;
      } else if (!this.#isAhead(leader) && !this.#hasGoneBack) {
        // It goes on when it tells more.
        this.#waitFor(leader);
        break;
      } else if (!(await this.#fillGap(leader, ++attempts === GAP_ATTEMPTS))) {
        await this.#pause(GAP_RETRY_MILLIS);
      }
    }
    this.#isCatchingUp = false;
  }

  /** Gives the last head up when the leader does not come there, although it says that it has nothing to sync. */
  #waitFor(leader: UpstreamEvents): void {
    if (this.#isWaitingForLeader) return;
    this.#isWaitingForLeader = true;
    const { head } = this.#told;
    void this.#pause(PATIENCE_SLOTS * this.#options.facts.secondsPerSlot * 1000).then(() => {
      this.#isWaitingForLeader = false;
      const isSame = leader === this.#leader && head === this.#told.head;
      this.#hasGoneBack = isSame && this.#isReady(leader) && leader.log.head !== undefined;
      void this.#catchUp();
    });
  }

  /** Whether the leader has told the last head, too, or nobody has told any. */
  #goOnFromLog({ name, log }: UpstreamEvents): boolean {
    const { head } = this.#told;
    const events = head ? log.after(head.root) : log.events;
    if (!events) return false;
    const belated = log.eventsSinceBack.filter((event) => this.#isBelated(event));
    for (const event of log.events) if (events.includes(event) || belated.includes(event)) this.#tellNew(event);
    if (!this.#told.head && log.beginning) {
      this.#told.beginAt(log.beginning, this.#options.conditions.of(name).finalized);
    }
    return true;
  }

  /**
   * Whether it is news although it was told before the last head was: a block by an upstream that was not heeded then, or what became
   * final with the head, of which some nodes tell earlier and others later.
   */
  #isBelated({ topic, value }: ChainEvent): boolean {
    if (topic === "block") return (numberAt(value, "slot") ?? 0) > (this.#told.firstHead?.slot ?? 0);
    return topic === "finalized_checkpoint";
  }

  #isAhead({ log }: UpstreamEvents): boolean {
    return (log.head?.slot ?? -1) > (this.#told.head?.slot ?? -1);
  }

  /** Whether the last head that was told is the leader's now, be it by leaving out what lies between. */
  async #fillGap({ name, log }: UpstreamEvents, mayLeaveOut: boolean): Promise<boolean> {
    const { facts, ask, logger } = this.#options;
    const told = this.#told;
    const head = log.head!;
    const gap = new Gap(told, log.events, facts.slotsPerEpoch, (path) => ask(name, path));
    let events: ChainEvent[] | undefined;
    try {
      events = await gap.events(head.root);
      if (!events && this.#hasGoneBack) events = await gap.backTo((log.beginning ?? head).root);
      if (events) events.push(...(await gap.finality()));
    } catch (error) {
      logger.debug("An upstream did not tell what happened while others told of the chain", {
        upstream: name,
        reason: reasonOf(error),
      });
      if (!mayLeaveOut) return false;
    }
    if (!this.#isActive || told !== this.#told || name !== this.#leader?.name) return true;
    if (events) {
      for (const event of events) this.#tellNew(event);
    } else {
      logger.warn("Events are left out, since nobody tells what happened between two heads", {
        from: told.head?.root,
        to: head.root,
      });
      this.#goOnWithout(told, log);
    }
    return true;
  }

  /** With what the leader has told of blocks that are newer than the last head. */
  #goOnWithout(told: Told, { events, head }: StoryLog): void {
    const lastSlot = told.head?.slot ?? -1;
    const next = events.findIndex((event) => event.topic === "head" && (headOf(event)?.slot ?? 0) > lastSlot);
    const isNext = ({ topic, value }: ChainEvent, index: number) =>
      index >= next || (topic === "block" && (numberAt(value, "slot") ?? 0) > lastSlot);
    if (next === -1) told.beginAt(head!, told.finalized);
    else for (const event of events.filter(isNext)) this.#tellNew(event);
  }

  #pause(millis: number): Promise<void> {
    return this.#options.timers.sleep(millis, this.#closing.signal).catch(() => {});
  }
}
