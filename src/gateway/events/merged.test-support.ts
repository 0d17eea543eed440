import { onTestFinished } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { Arrivals } from "../../server/events/arrivals.test-support.ts";
import { MergedFeeds } from "./merged-feeds.ts";
import { ScriptedConditions } from "./scripted-conditions.test-support.ts";
import { askOf, FACTS, GENESIS, passUntil, ScriptedUpstream } from "./scripted-upstream.test-support.ts";

export const STORY = ["head", "block", "chain_reorg", "finalized_checkpoint"];

export interface ToldEvent {
  topic: string;
  value: Readonly<Record<string, unknown>>;
}

/** Merges upstreams with these names, of which the first leads; they all have the genesis block. */
export async function merge(...names: readonly string[]) {
  const upstreams = await Promise.all(names.map((name) => ScriptedUpstream.start(name, GENESIS)));
  const conditions = new ScriptedConditions(names);
  for (const name of names) conditions.set(name, { finalized: { epoch: 0, root: GENESIS.root } });
  const timers = new FakeTimers();
  const logger = createRecordingLogger();
  const notes: unknown[] = [];
  const ask = askOf(upstreams);
  const answers = new Map<string, number>();
  const feeds = new MergedFeeds({
    upstreams: upstreams.map((upstream, tier) => upstream.options({ tier })),
    conditions,
    notes: {
      noteHead: (upstream, head) => {
        notes.push(`${upstream} head ${head.slot}`);
        conditions.set(upstream, { head });
      },
      noteFinalized: (upstream, { epoch }) => notes.push(`${upstream} finalized ${epoch}`),
      noteReorg: (upstream, ancestorSlot) => notes.push(`${upstream} reorg after ${ancestorSlot}`),
    },
    facts: FACTS,
    timers,
    logger,
    ask: async (name, path) => {
      try {
        return await ask(name, path);
      } finally {
        answers.set(name, (answers.get(name) ?? 0) + 1);
      }
    },
  });
  onTestFinished(() => feeds.close());
  const read = (topics: readonly string[]) => {
    const told = new Arrivals<ToldEvent>();
    feeds.feed(topics).open({
      deliver: ({ topic, data }) => told.push({ topic, value: JSON.parse(data.toString()) }),
      cutOff: () => told.end("It was cut off."),
    });
    return told;
  };
  // Each is asked for its head when it is connected.
  await passUntil(timers, 0, () => answers.size === names.length);
  const reconnect = async (upstream: ScriptedUpstream) => {
    const answered = answers.get(upstream.name);
    upstream.breakOff();
    await passUntil(timers, 250, () => answers.get(upstream.name) !== answered);
  };
  return { upstreams, feeds, conditions, timers, logger, notes, read, reconnect };
}
