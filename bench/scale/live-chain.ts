import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { median, quantile } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { ListReaders, Probe, rpcBody } from "./clients.ts";
import { HeadEvents } from "./head-events.ts";
import type { Probed, ProbedCall } from "./probe-process.ts";
import { RecordedBlocks } from "./recorded-blocks.ts";
import { type Program, ScaleNode } from "./scale-node.ts";
import { STATE_SLOT } from "./state.ts";
import { type Bench, milliseconds, printHeader, printRow, seconds } from "./subject.ts";

/** How many clients read lists in each part of the run, which has a chain of its own. */
const CLIENTS = [0, 4];
/** The first slot of an epoch. */
const TURN = STATE_SLOT + SLOTS_PER_EPOCH;
/** With these blocks the votes of all slots find room, so that the turn finalizes. */
const EARLY_SLOTS = [TURN - 24, TURN - 16, TURN - 8];
const FIRST_SLOT = TURN - 7;
const LAST_SLOT = TURN + 2;
/** Before and after the slot in which an epoch begins. */
const AROUND_TURN_MS = { before: 6_000, after: 6_000 };

const ALL_VALIDATORS = rpcBody("get_v1_beacon_states_stateId_validators", ["head"]);

function smallCalls(validators: number): ProbedCall[] {
  const calls: [title: string, method: string, params: unknown[]][] = [
    ["chain head", "getChainHead", []],
    ["header of the head", "get_v1_beacon_headers_blockId", ["head"]],
    ["finality checkpoints", "get_v1_beacon_states_finality_checkpoints", ["head"]],
    ["version", "get_v1_node_version", []],
    ["syncing", "get_v1_node_syncing", []],
  ];
  const fixed = calls.map(([title, method, params]) => ({ title, body: rpcBody(method, params) }));
  // Another validator each time, so that no answer is an old one.
  return Array.from({ length: 1000 }, (_, round) => [
    ...fixed,
    {
      title: "one validator",
      body: rpcBody("get_v1_beacon_states_stateId_validators_validatorId", [
        "head",
        String((round * 7919) % validators),
      ]),
    },
  ]).flat();
}

/** A block, by when it was published: in the time of day, in milliseconds. */
interface Published {
  at: number;
  /** Until the block was the head. */
  toHeadMs: number;
}

/** What a part of the run has seen. */
interface Seen {
  clients: number;
  blocks: RecordedBlocks;
  published: Published[];
  probed: Probed[];
  /** How long each list took. */
  listsMs: number[];
}

/**
 * Blocks of a live chain over the turn of an epoch, and small calls meanwhile: alone, and while clients read all
 * validators over and over.
 */
export async function benchLiveChain(bench: Bench): Promise<void> {
  for (const program of bench.programs) {
    const { kept, slotSeconds } = bench;
    console.log(`\n### Blocks in slots of ${slotSeconds} s with ${kept.validators} validators: ${program.title}\n`);
    const seen: Seen[] = [];
    for (const clients of CLIENTS) {
      seen.push(await withTempDirectory((directory) => benchProgram(program, bench, clients, directory)));
    }
    print(seen);
  }
}

async function benchProgram(
  program: Program,
  { kept, slotSeconds, leadSeconds }: Bench,
  clients: number,
  directory: string,
): Promise<Seen> {
  const live = Array.from({ length: LAST_SLOT - FIRST_SLOT + 1 }, (_, position) => FIRST_SLOT + position);
  const now = FIRST_SLOT - Math.ceil(leadSeconds / slotSeconds);
  const blocks = new RecordedBlocks(kept, { now, slots: [...EARLY_SLOTS, ...live], slotSeconds }, directory);
  await sleepUntil(blocks.startOf(STATE_SLOT));
  const { network, stateFile } = blocks;
  // The node has decompressed all keys when the blocks are recorded.
  const [node, probe, readers] = await Promise.all([
    ScaleNode.start(program, { network, stateFile, dataDir: join(directory, "data") }),
    Probe.start(),
    ListReaders.start(),
    blocks.record(),
  ]);
  const heads = await HeadEvents.follow(node.restUrl);
  try {
    for (const slot of EARLY_SLOTS) {
      await sleepUntil(blocks.startOf(slot));
      await blocks.publish(slot, node.restUrl);
    }
    if (blocks.startOf(FIRST_SLOT) < Date.now()) {
      throw new Error("The node was not ready when its blocks were: give it more time with --lead SECONDS.");
    }
    await probe.begin(node.url, smallCalls(kept.validators));
    await sleepUntil(blocks.startOf(FIRST_SLOT));
    await readers.begin(node.rpcPort, ALL_VALIDATORS, clients);
    const published: Published[] = [];
    for (const slot of live) {
      await sleepUntil(blocks.startOf(slot));
      published.push(await publish(node, blocks, slot, heads));
    }
    await sleepUntil(blocks.startOf(LAST_SLOT + 1));
    // The first calls of a node that nobody has asked for anything count for nothing.
    const probed = (await probe.take()).filter(({ at }) => at >= blocks.startOf(FIRST_SLOT));
    return { clients, blocks, published, probed, listsMs: await readers.take() };
  } finally {
    heads.end();
    await Promise.all([probe.end(), readers.end()]);
    await node.stop();
  }
}

const sleepUntil = (time: number) => sleep(Math.max(0, time - Date.now()));

async function publish(node: ScaleNode, blocks: RecordedBlocks, slot: Slot, heads: HeadEvents): Promise<Published> {
  const at = Date.now();
  const began = performance.now();
  const untilHead = async () => {
    await heads.until(slot);
    return performance.now() - began;
  };
  const [toHeadMs] = await Promise.all([untilHead(), blocks.publish(slot, node.restUrl)]);
  return { at, toHeadMs };
}

function print(seen: readonly Seen[]): void {
  printHeader("", "small calls", "p50", "p99", "longest", "blocks", "to head, median", "longest");
  for (const { clients, blocks, published, probed } of seen) {
    const turn = blocks.startOf(TURN);
    const { before, after } = AROUND_TURN_MS;
    const isAroundTurn = (at: number) => at >= turn - before && at < turn + after;
    for (const [title, holds] of [
      ["within an epoch", (at: number) => !isAroundTurn(at)],
      ["an epoch turns", isAroundTurn],
    ] as const) {
      const calls = probed.filter(({ at }) => holds(at)).map(({ millis }) => millis);
      const toHead = published.filter(({ at }) => holds(at)).map(({ toHeadMs }) => toHeadMs);
      const heads = [median(toHead), Math.max(...toHead)].map(seconds);
      printRow(
        `${readersOf(clients)}, ${title}`,
        String(calls.length),
        ...spread(calls),
        String(toHead.length),
        ...heads,
      );
    }
  }

  console.log("");
  printHeader(
    "small call",
    ...seen.flatMap(({ clients }) => ["p50", "p99", "longest"].map((what) => `${what}, ${readersOf(clients)}`)),
  );
  for (const title of new Set(seen.flatMap(({ probed }) => probed.map((call) => call.title)))) {
    printRow(
      title,
      ...seen.flatMap(({ probed }) =>
        spread(probed.filter((call) => call.title === title).map(({ millis }) => millis)),
      ),
    );
  }

  console.log("");
  printHeader("first slot of an epoch", "library's processSlots and root", "from publication to head");
  for (const { clients, blocks, published } of seen) {
    const position = blocks.slots.indexOf(TURN);
    const ours = published.find(({ at }) => at >= blocks.startOf(TURN))!;
    printRow(`${readersOf(clients)}`, seconds(blocks.slotsMs[position]!), seconds(ours.toHeadMs));
  }

  for (const { clients, listsMs } of seen) {
    if (listsMs.length > 0)
      console.log(`\nThe ${clients} clients read ${listsMs.length} lists, each in ${seconds(median(listsMs))}.`);
  }
}

const readersOf = (clients: number) => (clients === 0 ? "nobody reads" : `${clients} clients read`);

const spread = (millis: readonly number[]) => [0.5, 0.99, 1].map((share) => milliseconds(quantile(millis, share)));
