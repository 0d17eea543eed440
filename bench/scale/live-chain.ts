import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { median, quantile } from "../support/statistics.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { Probe, Reader, rpcBody } from "./clients.ts";
import type { Probed, ProbedCall } from "./probe-process.ts";
import { RecordedBlocks } from "./recorded-blocks.ts";
import { type Program, ScaleNode } from "./scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "./state.ts";
import { type Bench, milliseconds, printHeader, printRow, seconds } from "./subject.ts";

const CLIENTS = 4;
/** The first epoch turns while nobody reads, the second while the clients do. */
const FIRST_READ_SLOT = STATE_SLOT + SLOTS_PER_EPOCH + 6;
const LAST_SLOT = STATE_SLOT + 2 * SLOTS_PER_EPOCH + 6;
/** Before and after the slot in which an epoch begins. */
const AROUND_BOUNDARY_MS = { before: 6_000, after: 6_000 };
const HEAD_POLL_MS = 5;

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

interface Published {
  slot: Slot;
  /** In the time of day, in milliseconds. */
  at: number;
  /** Until the block was the head. */
  toHeadMs: number;
}

/** A phase of the run and a time of the epoch, in which calls and blocks are counted together. */
interface Part {
  title: string;
  holds: (at: number) => boolean;
}

/** Blocks of a live chain, and small calls meanwhile: first alone, then while clients read all validators over and over. */
export async function benchLiveChain(bench: Bench): Promise<void> {
  for (const program of bench.programs) {
    console.log(`\n### Blocks and epochs with ${bench.kept.validators} validators: ${program.title}\n`);
    await withTempDirectory((directory) => benchProgram(program, bench, directory));
  }
}

async function benchProgram(program: Program, { kept, leadSeconds }: Bench, directory: string): Promise<void> {
  const slots = Array.from({ length: LAST_SLOT - STATE_SLOT }, (_, position) => STATE_SLOT + 1 + position);
  const now = STATE_SLOT - Math.ceil(leadSeconds / SECONDS_PER_SLOT);
  const blocks = await RecordedBlocks.record(kept, now, slots, directory);
  const files = { ...kept, stateFile: blocks.stateFile, dataDir: join(directory, "data") };
  const [node, probe, ...readers] = await Promise.all([
    ScaleNode.start(program, files),
    Probe.start(),
    ...Array.from({ length: CLIENTS }, () => Reader.start()),
  ]);
  try {
    const live = await catchUp(node, blocks);
    await probe.begin(node.url, smallCalls(kept.validators));
    const lists = new ListLoop(node, readers);
    const published: Published[] = [];
    for (const slot of live) {
      await sleep(Math.max(0, blocks.startOf(slot) - Date.now()));
      if (slot === FIRST_READ_SLOT) lists.begin();
      published.push(await publish(node, blocks, slot));
    }
    await lists.end();
    const probed = await probe.take();
    print(blocks, published, probed);
    console.log(
      `\nThe ${CLIENTS} clients read ${lists.millis.length} lists, each in ${seconds(median(lists.millis))}.`,
    );
  } finally {
    await Promise.all([probe.end(), ...readers.map((reader) => reader.end())]);
    await node.stop();
  }
}

/** Publishes the blocks whose slots passed while the chain was recorded and the node started. Returns the slots that are to come. */
async function catchUp(node: ScaleNode, blocks: RecordedBlocks): Promise<readonly Slot[]> {
  for (const [position, slot] of blocks.slots.entries()) {
    if (slot > FIRST_READ_SLOT) break;
    if (blocks.startOf(slot) > Date.now()) return blocks.slots.slice(position);
    await blocks.publish(slot, node.restUrl);
  }
  throw new Error(
    "Most of the chain was over before the node had caught up with it: give it more time with --lead SECONDS.",
  );
}

async function publish(node: ScaleNode, blocks: RecordedBlocks, slot: Slot): Promise<Published> {
  const at = Date.now();
  const began = performance.now();
  const isHead = ({ head_slot }: { head_slot: string }) => Number(head_slot) >= slot;
  const untilHead = async () => {
    await node.callUntil("getChainHead", isHead, { pollMs: HEAD_POLL_MS, seconds: 60 });
    return performance.now() - began;
  };
  const [toHeadMs] = await Promise.all([untilHead(), blocks.publish(slot, node.restUrl)]);
  return { slot, at, toHeadMs };
}

/** Clients that read all validators, again as soon as they have them. */
class ListLoop {
  readonly millis: number[] = [];
  readonly #node: ScaleNode;
  readonly #readers: readonly Reader[];
  #loops: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(node: ScaleNode, readers: readonly Reader[]) {
    this.#node = node;
    this.#readers = readers;
  }

  begin(): void {
    this.#loops = Promise.all(this.#readers.map((reader) => this.#loop(reader)));
    // A failure is told when they end.
    this.#loops.catch(() => {});
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#loops;
  }

  async #loop(reader: Reader): Promise<void> {
    const headers = { "Content-Type": "application/json" };
    while (!this.#isOver) {
      const { millis } = await reader.read({
        url: this.#node.url,
        method: "POST",
        headers,
        body: ALL_VALIDATORS,
        concurrency: 1,
        times: 1,
      });
      this.millis.push(...millis);
    }
  }
}

function print(blocks: RecordedBlocks, published: readonly Published[], probed: readonly Probed[]): void {
  const isRead = (at: number) => at >= blocks.startOf(FIRST_READ_SLOT);
  const boundaries = blocks.slots.filter((slot) => slot % SLOTS_PER_EPOCH === 0).map((slot) => blocks.startOf(slot));
  const { before, after } = AROUND_BOUNDARY_MS;
  const isAroundBoundary = (at: number) => boundaries.some((start) => at >= start - before && at < start + after);
  const parts: Part[] = [
    { title: "nobody reads, within an epoch", holds: (at) => !isRead(at) && !isAroundBoundary(at) },
    { title: "nobody reads, an epoch turns", holds: (at) => !isRead(at) && isAroundBoundary(at) },
    { title: `${CLIENTS} clients read, within an epoch`, holds: (at) => isRead(at) && !isAroundBoundary(at) },
    { title: `${CLIENTS} clients read, an epoch turns`, holds: (at) => isRead(at) && isAroundBoundary(at) },
  ];
  printHeader("", "small calls", "p50", "p99", "longest", "blocks", "to head, median", "longest");
  for (const { title, holds } of parts) {
    const calls = probed.filter(({ at }) => holds(at)).map(({ millis }) => millis);
    const toHead = published.filter(({ at }) => holds(at)).map(({ toHeadMs }) => toHeadMs);
    if (calls.length === 0 || toHead.length === 0) continue;
    const quantiles = [0.5, 0.99, 1].map((share) => milliseconds(quantile(calls, share)));
    const heads = [median(toHead), Math.max(...toHead)].map(seconds);
    printRow(title, String(calls.length), ...quantiles, String(toHead.length), ...heads);
  }

  console.log("");
  printHeader("small call", "p50", "p99", "longest");
  for (const [title, calls] of Map.groupBy(probed, ({ title }) => title)) {
    const millis = calls.map(({ millis }) => millis);
    printRow(title, ...[0.5, 0.99, 1].map((share) => milliseconds(quantile(millis, share))));
  }

  console.log("");
  printHeader("first slot of an epoch", "library's processSlots and root", "from publication to head");
  for (const [position, slot] of blocks.slots.entries()) {
    const ours = published.find((block) => block.slot === slot);
    if (slot % SLOTS_PER_EPOCH !== 0 || !ours) continue;
    const when = isRead(ours.at) ? `${CLIENTS} clients read` : "nobody reads";
    printRow(`${slot}, ${when}`, seconds(blocks.slotsMs[position]!), seconds(ours.toHeadMs));
  }
}
