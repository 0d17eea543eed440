import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { Program } from "../support/program.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const CRASHES = 20;
/** After every so many crashes under load the program is killed once more while it starts. */
const CRASHES_PER_START_KILLED = 4;
const LONGEST_LIFE_MS = 700;
const LONGEST_START_MS = 1200;
const POLL_MS = 5;

interface ChainHead {
  head_slot: string;
  head_block_root: string;
  finalized_slot: string;
}

/** What the node has answered so far, and must not have forgotten after any crash. */
class Memory {
  readonly slots = new Map<string, number>();
  newestSlot = 0;
  finalizedSlot = 0;

  note({ head_slot, head_block_root, finalized_slot }: ChainHead): void {
    this.slots.set(head_block_root, Number(head_slot));
    this.newestSlot = Math.max(this.newestSlot, Number(head_slot));
    this.finalizedSlot = Math.max(this.finalizedSlot, Number(finalized_slot));
  }
}

/** Asks for the head as fast as it goes until the program is gone. */
async function watch(program: Program, memory: Memory): Promise<void> {
  while (program.child.exitCode === null && program.child.signalCode === null) {
    const head: ChainHead | undefined = await program.call("getChainHead").catch(() => undefined);
    // The connection breaks when the process is killed in the middle of a call.
    if (head === undefined) return;
    memory.note(head);
    await delay(POLL_MS);
  }
}

async function expectNothingForgotten(program: Program, memory: Memory): Promise<void> {
  const roots = [...memory.slots.keys()];
  const replies = await program.batch([
    ["getChainHead"],
    ...roots.map((root): [string, string[]] => ["get_v1_beacon_headers_blockId", [root]]),
  ]);
  const [head, ...headers] = replies;
  expect(Number(head!.result.head_slot)).toBeGreaterThanOrEqual(memory.newestSlot);
  expect(Number(head!.result.finalized_slot)).toBeGreaterThanOrEqual(memory.finalizedSlot);
  for (const [position, { result, error }] of headers.entries()) {
    const root = roots[position]!;
    expect(error, `block ${root}`).toBeUndefined();
    expect(result).toMatchObject({
      root,
      canonical: true,
      header: { message: { slot: String(memory.slots.get(root)) } },
    });
  }
}

test("kill -9 at random moments under block load loses nothing that was answered", async () => {
  const seed = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 32);
  console.info(`The crashes of this run are those of FANAL_TEST_SEED=${seed}.`);
  const random = seededRandom(seed);
  const flags = ["--data-dir", tempDirectory(), "--validators", "16", "--speed", "100"];
  const memory = new Memory();

  for (let crash = 0; crash < CRASHES; crash++) {
    if (crash % CRASHES_PER_START_KILLED === 0) {
      const starting = new Program(["dev", ...flags]);
      await delay(random() * LONGEST_START_MS);
      await starting.kill();
    }
    const program = await Program.dev(flags);
    await expectNothingForgotten(program, memory);
    const watching = watch(program, memory);
    // How long it lives is part of what is tested: from at once, in the middle of the warm-up, to several epochs.
    await delay(random() * LONGEST_LIFE_MS);
    expect(await program.stop("SIGKILL"), program.output).toEqual({ code: null, signal: "SIGKILL" });
    await watching;
    expect(program.complaints).toEqual([]);
  }

  const program = await Program.dev(flags);
  await expectNothingForgotten(program, memory);
  const finalizedAtRestart = memory.finalizedSlot;
  await program.callUntil<ChainHead>("getChainHead", (head) => Number(head.finalized_slot) > finalizedAtRestart + 16);
  expect(memory.slots.size).toBeGreaterThan(CRASHES);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
}, 300_000);
