import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { Trouble } from "../../log/trouble.ts";
import type { StreamEvent } from "../../server/events/feed.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Conditions } from "../condition.ts";
import type { UpstreamOptions } from "../options.ts";
import {
  ancestorSlotOf,
  type BlockPlace,
  type ChainEvent,
  type Finalized,
  finalizedOf,
  headOf,
  readEvent,
} from "./chain-event.ts";
import { EventStream } from "./event-stream.ts";
import { readHeader } from "./gap.ts";
import { reasonOf } from "./reason.ts";
import { StoryLog } from "./story-log.ts";
import { isSteady, STORY_TOPICS } from "./topics.ts";

/** Head and block events come in every slot of a chain that goes on. */
const SILENT_SLOTS = 2;
/** Of topics that are remembered, none has larger events, but for slashings. */
const MOST_REMEMBERED_BYTES = 128 * 1024;

/** Gets a path from an upstream: the body of its answer, or undefined when it has no such thing. Rejects when it does not answer in time. */
export type Ask = (upstream: string, path: string) => Promise<Buffer | undefined>;

/** Hears what each upstream tells of itself. */
export interface UpstreamNotes {
  noteHead(upstream: string, head: BlockPlace): void;
  noteFinalized(upstream: string, finalized: Finalized): void;
  /** It has left all blocks after this slot for others. */
  noteReorg(upstream: string, ancestorSlot: number): void;
}

export interface UpstreamEventsParts {
  readonly facts: ChainFacts;
  readonly conditions: Pick<Conditions, "of">;
  readonly notes: UpstreamNotes;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly ask: Ask;
}

interface Listener {
  /** It is connected, or no longer. */
  changed(): void;
  heard(source: UpstreamEvents, event: ChainEvent): void;
}

/** What one upstream tells, and what it told of its chain since it has been connected. */
export class UpstreamEvents {
  readonly name: string;
  readonly tier: number;
  readonly log = new StoryLog();
  readonly #parts: UpstreamEventsParts;
  readonly #listener: Listener;
  readonly #stream: EventStream;
  readonly #trouble: Trouble;
  readonly #garbage: Trouble;
  /** Counts the connections that began or ended. */
  #connection = 0;
  #isThere = false;

  constructor(upstream: UpstreamOptions, parts: UpstreamEventsParts, listener: Listener) {
    this.name = upstream.name;
    this.tier = upstream.tier;
    this.#parts = parts;
    this.#listener = listener;
    const { logger, timers, facts } = parts;
    this.#trouble = new Trouble(logger, {
      begins: "An upstream tells no events; it is asked again",
      ends: "An upstream tells events again",
    });
    this.#garbage = new Trouble(logger, {
      begins: "An upstream told something that is no event; it is left out",
      ends: "An upstream tells events again that can be read",
    });
    this.#stream = new EventStream({
      upstream,
      silentMillis: SILENT_SLOTS * facts.secondsPerSlot * 1000,
      hasNothingToTell: () => this.#hasToldAll,
      timers,
      logger,
      listener: {
        connected: () => void this.#begin(),
        event: (event) => this.#hear(event),
        broke: (reason) => this.#leave(reason),
      },
    });
  }

  /** Whether it tells everything that happens. */
  get isThere(): boolean {
    return this.#isThere;
  }

  follow(topics: Iterable<string>): void {
    this.#stream.follow(topics);
  }

  close(): Promise<void> {
    this.#connection++;
    return this.#stream.close();
  }

  /** Never rejects. */
  async #begin(): Promise<void> {
    const connection = ++this.#connection;
    this.log.clear();
    const head = await this.#askHead();
    if (connection !== this.#connection) return;
    if (head) this.log.beginAt(head);
    this.#isThere = true;
    this.#listener.changed();
  }

  async #askHead(): Promise<BlockPlace | undefined> {
    const { ask, logger } = this.#parts;
    try {
      const answer = await ask(this.name, "/eth/v1/beacon/headers/head");
      return answer && readHeader(JSON.parse(answer.toString()));
    } catch (error) {
      logger.debug("An upstream did not tell its head", { upstream: this.name, reason: reasonOf(error) });
      return undefined;
    }
  }

  /** Whether it answers what it is asked for its health, and has no other head than the last that it told. */
  get #hasToldAll(): boolean {
    const { fitness, head } = this.#parts.conditions.of(this.name);
    return (fitness === "ready" || fitness === "behind") && head?.root === this.log.head?.root;
  }

  #hear(told: StreamEvent): void {
    const isTooLarge = isRemembered(told.topic) && told.data.length > MOST_REMEMBERED_BYTES;
    const event = isTooLarge ? undefined : readEvent(told);
    if (!event) {
      this.#garbage.met({ upstream: this.name, topic: told.topic });
      return;
    }
    this.#garbage.isOver({ upstream: this.name });
    this.#trouble.isOver({ upstream: this.name });
    if (event.topic === "block" || STORY_TOPICS.has(event.topic)) this.log.add(event);
    const { notes } = this.#parts;
    const head = event.topic === "head" ? headOf(event) : undefined;
    if (head) notes.noteHead(this.name, { slot: head.slot, root: head.root });
    const finalized = event.topic === "finalized_checkpoint" ? finalizedOf(event) : undefined;
    if (finalized) notes.noteFinalized(this.name, finalized);
    const ancestorSlot = event.topic === "chain_reorg" ? ancestorSlotOf(event, this.log) : undefined;
    if (ancestorSlot !== undefined) notes.noteReorg(this.name, ancestorSlot);
    this.#listener.heard(this, event);
  }

  #leave(error: Error): void {
    this.#connection++;
    this.#trouble.met({ upstream: this.name, reason: reasonOf(error) });
    if (!this.#isThere) return;
    this.#isThere = false;
    this.#listener.changed();
  }
}

const isRemembered = (topic: string): boolean => isSteady(topic) && topic !== "attester_slashing";
