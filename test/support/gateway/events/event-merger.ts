import { onTestFinished } from "vitest";
import { EventHub } from "../../../../src/gateway/events/event-hub.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { Arrivals } from "../../server/events/arrivals.ts";
import { FakeTimers } from "../../time/fake-timers.ts";
import { ScriptedHealth } from "../upstream/scripted-health.ts";
import {
  CHAIN_SPEC,
  fetchFrom,
  GENESIS,
  passUntil,
  type ScriptedBlock,
  StreamingUpstream,
} from "./streaming-upstream.ts";

export const CHAIN_EVENT_TOPICS = ["head", "block", "chain_reorg", "finalized_checkpoint"];

export interface PublishedEvent {
  topic: string;
  value: Readonly<Record<string, unknown>>;
}

/** Opens a merger of scripted upstreams, the first of which leads. All have the genesis block. */
export async function openMerger(...names: readonly string[]) {
  const upstreams = await Promise.all(names.map((name) => StreamingUpstream.start(name, GENESIS)));
  const health = new ScriptedHealth(...names);
  for (const name of names) health.set(name, { head: undefined, finalized: { epoch: 0, root: GENESIS.root } });
  const timers = new FakeTimers();
  const logger = createRecordingLogger();
  const observer: unknown[] = [];
  const fetch = fetchFrom(upstreams);
  /** Number of answers to the request that follows each connection. */
  const answers = new Map<string, number>();
  const hub = new EventHub({
    upstreams: upstreams.map((upstream, tier) => upstream.options({ tier })),
    health,
    observer: {
      recordHead: (upstream, head) => {
        observer.push(`${upstream} head ${head.slot}`);
        health.change(upstream, { head });
      },
      recordFinalized: (upstream, finalized) => {
        observer.push(`${upstream} finalized ${finalized.epoch}`);
        health.change(upstream, { finalized });
      },
      recordReorg: (upstream, ancestorSlot) => observer.push(`${upstream} reorg after ${ancestorSlot}`),
    },
    chainSpec: CHAIN_SPEC,
    timers,
    logger,
    fetch: async (name, path) => {
      try {
        return await fetch(name, path);
      } finally {
        if (path === "/eth/v1/beacon/headers/head") answers.set(name, (answers.get(name) ?? 0) + 1);
      }
    },
  });
  onTestFinished(() => hub.close());
  const read = (topics: readonly string[]) => {
    const announced = new Arrivals<PublishedEvent>();
    hub.feed(topics).open({
      deliver: ({ topic, data }) => announced.push({ topic, value: JSON.parse(data.toString()) }),
      disconnect: () => announced.end("It was cut off."),
    });
    return announced;
  };
  // Each upstream gets a head request on connection.
  await passUntil(timers, 0, () => answers.size === names.length);
  // Blocks that follow on an announced head are published without a request.
  for (const upstream of upstreams) upstream.tellHead(GENESIS);
  await passUntil(timers, 0, () => observer.length === names.length);
  observer.length = 0;
  const reconnect = async (upstream: StreamingUpstream) => {
    const answered = answers.get(upstream.name);
    upstream.breakOff();
    await passUntil(timers, 250, () => answers.get(upstream.name) !== answered);
  };
  return { upstreams, hub, health, timers, logger, observer, read, reconnect };
}

/** Blocks from genesis to a head. */
export function chainOf(head: ScriptedBlock): ScriptedBlock[] {
  return head.parent ? [...chainOf(head.parent), head] : [head];
}

/** Returns violations in a sequence of events, in which every head must follow on the previous one or on a reorg. */
export function faultsOf(announced: readonly PublishedEvent[], blocks: ReadonlyMap<unknown, ScriptedBlock>): string[] {
  const faults: string[] = [];
  const seen = new Set<unknown>();
  let head = GENESIS.root;
  let reorganised: unknown;
  for (const { topic, value } of announced) {
    if (topic === "block") {
      if (seen.has(value.block)) faults.push(`The block of slot ${value.slot} was told twice.`);
      seen.add(value.block);
    } else if (topic === "chain_reorg") {
      if (value.old_head_block !== head)
        faults.push(`A reorganisation to slot ${value.slot} does not begin at the head.`);
      reorganised = value.new_head_block;
    } else if (topic === "head") {
      const { root, parent } = blocks.get(value.block)!;
      if (parent?.root !== head && reorganised !== root)
        faults.push(`The head of slot ${value.slot} does not follow on the one before.`);
      head = root;
    }
  }
  for (const { root, slot } of chainOf(blocks.get(head)!).slice(1)) {
    if (!seen.has(root)) faults.push(`The block of slot ${slot} was not told.`);
  }
  return faults;
}
