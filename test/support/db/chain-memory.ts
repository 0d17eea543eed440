import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { Program } from "../program/program.ts";
import type { ProgramRun } from "../program/program-run.ts";

const POLL_MS = 5;

export interface ChainHead {
  head_slot: string;
  head_block_root: string;
  finalized_slot: string;
}

/** Responses of a node, which must be the same after every restart. */
export class ChainMemory {
  readonly slots = new Map<string, number>();
  newestSlot = 0;
  finalizedSlot = 0;

  note({ head_slot, head_block_root, finalized_slot }: ChainHead): void {
    this.slots.set(head_block_root, Number(head_slot));
    this.newestSlot = Math.max(this.newestSlot, Number(head_slot));
    this.finalizedSlot = Math.max(this.finalizedSlot, Number(finalized_slot));
  }
}

/** Requests the head continuously until the program exits. */
export async function watch(program: Program, memory: ChainMemory): Promise<void> {
  while (program.child.exitCode === null && program.child.signalCode === null) {
    const head: ChainHead | undefined = await program.call("getChainHead").catch(() => undefined);
    // The connection closes if the process is killed during a call.
    if (head === undefined) return;
    memory.note(head);
    await delay(POLL_MS);
  }
}

export async function expectNothingForgotten(program: ProgramRun, memory: ChainMemory): Promise<void> {
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
