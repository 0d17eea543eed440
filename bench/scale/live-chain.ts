import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { median, quantile } from "../support/statistics.ts";
import { milliseconds, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { ListReaders, Probe, rpcBody } from "./clients.ts";
import { HeadEvents } from "./head-events.ts";
import type { Probed, ProbedCall } from "./probe-process.ts";
import { RecordedBlocks } from "./recorded-blocks.ts";
import { type Program, ScaleNode } from "./scale-node.ts";
import { STATE_SLOT } from "./state.ts";
import type { Bench } from "./subject.ts";

/** Number of list readers per part. Each part has its own chain. */
const CLIENTS = [0, 4];
/** First slot of the epoch that begins during the run. */
const BOUNDARY_SLOT = STATE_SLOT + SLOTS_PER_EPOCH;
/** Together these blocks include all attestations, so the epoch boundary finalizes. */
const EARLY_SLOTS = [BOUNDARY_SLOT - 24, BOUNDARY_SLOT - 16, BOUNDARY_SLOT - 8];
const FIRST_SLOT = BOUNDARY_SLOT - 7;
const LAST_SLOT = BOUNDARY_SLOT + 2;
/** Period around the start of the epoch. */
const AROUND_BOUNDARY_MS = { before: 6_000, after: 6_000 };

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
  // A different validator each time, which bypasses response caches.
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

/** Published block. `at` is Unix time in milliseconds. */
interface Published {
  at: number;
  /** From publication until the block is the head. */
  toHeadMs: number;
}

/** Measurements of a part. */
interface PartResult {
  clients: number;
  blocks: RecordedBlocks;
  published: Published[];
  probed: Probed[];
  /** Duration of each list read. */
  listsMs: number[];
}

/** Measures blocks and small calls on a live chain across an epoch boundary, without and with list readers. */
export async function benchLiveChain(bench: Bench): Promise<void> {
  for (const program of bench.programs) {
    const { kept, slotSeconds } = bench;
    console.log(`\n### Blocks in slots of ${slotSeconds} s with ${kept.validators} validators: ${program.title}\n`);
    const results: PartResult[] = [];
    for (const clients of CLIENTS) {
      results.push(await withTempDirectory((directory) => benchProgram(program, bench, clients, directory)));
    }
    print(results);
  }
}

async function benchProgram(
  program: Program,
  { kept, slotSeconds, leadSeconds }: Bench,
  clients: number,
  directory: string,
): Promise<PartResult> {
  const live = Array.from({ length: LAST_SLOT - FIRST_SLOT + 1 }, (_, position) => FIRST_SLOT + position);
  const now = FIRST_SLOT - Math.ceil(leadSeconds / slotSeconds);
  const blocks = new RecordedBlocks(kept, { now, slots: [...EARLY_SLOTS, ...live], slotSeconds }, directory);
  await sleepUntil(blocks.startOf(STATE_SLOT));
  const { network, stateFile } = blocks;
  // The node decompresses its keys while the blocks are recorded.
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
      throw new Error("The node was not ready in time for its blocks. Increase --lead SECONDS.");
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
    // Discards the first calls, which are cold.
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

function print(results: readonly PartResult[]): void {
  printHeader("", "small calls", "p50", "p99", "longest", "blocks", "to head, median", "longest");
  for (const { clients, blocks, published, probed } of results) {
    const boundary = blocks.startOf(BOUNDARY_SLOT);
    const { before, after } = AROUND_BOUNDARY_MS;
    const isAroundBoundary = (at: number) => at >= boundary - before && at < boundary + after;
    for (const [title, holds] of [
      ["within an epoch", (at: number) => !isAroundBoundary(at)],
      ["epoch boundary", isAroundBoundary],
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
    ...results.flatMap(({ clients }) => ["p50", "p99", "longest"].map((what) => `${what}, ${readersOf(clients)}`)),
  );
  for (const title of new Set(results.flatMap(({ probed }) => probed.map((call) => call.title)))) {
    printRow(
      title,
      ...results.flatMap(({ probed }) =>
        spread(probed.filter((call) => call.title === title).map(({ millis }) => millis)),
      ),
    );
  }

  console.log("");
  printHeader("first slot of an epoch", "library's processSlots and root", "publication to head");
  for (const { clients, blocks, published } of results) {
    const position = blocks.slots.indexOf(BOUNDARY_SLOT);
    const ours = published.find(({ at }) => at >= blocks.startOf(BOUNDARY_SLOT))!;
    printRow(`${readersOf(clients)}`, seconds(blocks.slotsMs[position]!), seconds(ours.toHeadMs));
  }

  for (const { clients, listsMs } of results) {
    if (listsMs.length > 0)
      console.log(`\n${clients} readers read ${listsMs.length} lists, median ${seconds(median(listsMs))}.`);
  }
}

const readersOf = (clients: number) => (clients === 0 ? "no readers" : `${clients} readers`);

const spread = (millis: readonly number[]) => [0.5, 0.99, 1].map((share) => milliseconds(quantile(millis, share)));
