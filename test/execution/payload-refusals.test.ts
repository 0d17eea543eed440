import type { bellatrix, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { ChainBlock } from "../../src/chain/blocks/block-store.ts";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { blockHashOf } from "../../src/chain/engine/forkchoice-state.ts";
import { blocksUpTo, type OpenedDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { emptyStoredChain, openStoredChain } from "../support/chain/stored-chain.ts";
import { invalid, ScriptedEngine, SYNCING, VALID } from "../support/execution/scripted-engine.ts";

/** Long enough for a justified checkpoint after genesis. */
const HEAD = 26;
const NOW = HEAD + 1;

let source: OpenedDevChain;
/** The block of slot n is at n - 1. */
let main: ChainBlock[];

beforeAll(async () => {
  source = await startQuietDevChain(HEAD, { validators: 8, forks: [{ fork: "electra", epoch: 0 }] });
  main = await blocksUpTo(source.devChain, HEAD);
});
afterAll(() => source.close());

const at = (slot: number): ChainBlock => main[slot - 1]!;
const hashOf = ({ signed }: ChainBlock): RootHex =>
  toRootHex((signed.message.body as bellatrix.BeaconBlockBody).executionPayload.blockHash);
const segment = (from: number, to: number) => main.slice(from - 1, to).map(({ signed }) => signed);
const statusOf = (chain: BeaconChain, slot: number) => chain.forkChoice.get(at(slot).root)?.execution.status;

const stored = () => emptyStoredChain(source.devChain);

async function open(engine: ScriptedEngine, directory?: Awaited<ReturnType<typeof stored>>) {
  const opened = await openStoredChain(directory ?? (await stored()), { slot: NOW, engine });
  opened.chain.start();
  return opened;
}

/** Imports the blocks up to a slot optimistically, then lets the engine reject all blocks after another one. */
async function followAndRefuse(engine: ScriptedEngine, { last, lastValid }: { last: number; lastValid: number }) {
  const directory = await stored();
  const opened = await open(engine, directory);
  engine.otherwise = SYNCING;
  await opened.chain.importSegment(segment(1, last));
  for (let slot = lastValid + 1; slot <= HEAD; slot++) engine.answer(hashOf(at(slot)), invalid(hashOf(at(lastValid))));
  engine.otherwise = VALID;
  engine.enter("synced");
  await vi.waitFor(() => expect(statusOf(opened.chain, last)).toBe("invalid"));
  await opened.chain.pendingVerdicts.untilHeadVerdict();
  return { ...opened, directory };
}

function mend(engine: ScriptedEngine): void {
  for (const block of main) engine.answer(hashOf(block), VALID);
}

it("wrongly rejected blocks are reinstated when the execution client is repaired, and their descendants imported", async () => {
  const engine = new ScriptedEngine();
  const { chain, clock, complaints } = await followAndRefuse(engine, { last: 10, lastValid: 6 });
  expect(chain.head.root).toBe(at(6).root);
  await expect(chain.importSegment(segment(7, 12))).rejects.toMatchObject({
    reason: "invalid-payload",
    root: at(7).root,
  });
  mend(engine);
  await clock.advanceTo(NOW + 1);
  await vi.waitFor(() => expect(chain.head.root).toBe(at(10).root));
  expect(chain.status.isOptimistic).toBe(false);
  expect([7, 8, 9, 10].map((slot) => statusOf(chain, slot))).toEqual(Array<string>(4).fill("valid"));
  await chain.importSegment(segment(7, 12));
  expect(chain.head.root).toBe(at(12).root);
  expect(complaints.join()).not.toMatch(/ERROR/);
});

it("a permanent rejection is retried with backoff and logged once", async () => {
  const engine = new ScriptedEngine();
  const { chain, clock, complaints } = await followAndRefuse(engine, { last: 10, lastValid: 6 });
  engine.questions = [];
  const askedIn: number[] = [];
  for (let slots = 1; slots <= 100; slots++) {
    await clock.advanceTo(NOW + slots);
    await chain.pendingVerdicts.untilHeadVerdict();
    const asked = engine.takeHashes("newPayload");
    if (asked.length > 0) askedIn.push(slots);
    expect(asked.every((hash) => hash === hashOf(at(7)))).toBe(true);
  }
  expect(askedIn).toEqual([1, 3, 7, 15, 31, 63, 95]);
  expect(chain.head.root).toBe(at(6).root);
  expect(complaints.filter((line) => line.includes("rejected a"))).toHaveLength(1);

  // A reconnected client may be another one.
  mend(engine);
  engine.enter("offline");
  engine.enter("online");
  await vi.waitFor(() => expect(chain.head.root).toBe(at(10).root));
});

it("the justified block is reinstated too, also with a client that has to sync first", async () => {
  const engine = new ScriptedEngine();
  const { chain, clock, complaints } = await followAndRefuse(engine, { last: HEAD, lastValid: 14 });
  expect(chain.forkChoice.justified.epoch).toBeGreaterThan(1);
  expect(complaints.join()).toMatch(/ERROR .*No viable head/);
  expect(statusOf(chain, HEAD)).toBe("invalid");
  const tellHead = vi.spyOn(engine, "forkchoiceUpdated");
  for (const block of main) engine.answer(hashOf(block), SYNCING);
  engine.enter("syncing");
  await clock.advanceTo(NOW + 1);
  // It receives the sync target. No block after the finalized one is confirmed.
  const safeBlockHash = blockHashOf(chain.forkChoice.finalizedBlock);
  const target = { headBlockHash: hashOf(at(14)), safeBlockHash };
  await vi.waitFor(() => expect(tellHead).toHaveBeenLastCalledWith("electra", expect.objectContaining(target)));
  mend(engine);
  await clock.advanceTo(NOW + 2);
  await vi.waitFor(() => expect(statusOf(chain, HEAD)).toBe("valid"));
  await vi.waitFor(() => expect(chain.status.isOptimistic).toBe(false));
  expect(chain.head.root).toBe(at(HEAD).root);
});

it("a rejection persists over a restart, until the client accepts the payload", async () => {
  const engine = new ScriptedEngine();
  const first = await followAndRefuse(engine, { last: 10, lastValid: 6 });
  await first.close();
  mend(engine);
  const { chain, clock } = await open(engine, first.directory);
  engine.questions = [];
  const refused = { reason: "invalid-payload", root: at(7).root };
  await expect(chain.importSegment(segment(7, 12))).rejects.toMatchObject(refused);
  await expect(chain.importBlock(at(7).signed)).rejects.toMatchObject(refused);
  expect(engine.takeHashes("newPayload")).toEqual([]);
  await clock.advanceTo(NOW + 1);
  await chain.importBlock(at(7).signed);
  await chain.importSegment(segment(8, 12));
  expect(chain.head.root).toBe(at(12).root);
});

it.each([
  ["alone", (chain: BeaconChain) => chain.importBlock(at(7).signed)],
  ["in a segment", (chain: BeaconChain) => chain.importSegment(segment(5, 8))],
])("a block that is refused when it comes is asked about again after pauses that grow, %s", async (_, bring) => {
  const engine = new ScriptedEngine();
  const { chain, clock, complaints } = await open(engine);
  await chain.importSegment(segment(1, 6));
  engine.answer(hashOf(at(7)), invalid(hashOf(at(6))));
  const askedIn: number[] = [];
  for (let slots = 0; slots <= 40; slots++) {
    await clock.advanceTo(NOW + slots);
    engine.takeHashes("newPayload");
    await expect(bring(chain)).rejects.toMatchObject({ reason: "invalid-payload", root: at(7).root });
    if (engine.takeHashes("newPayload").includes(hashOf(at(7)))) askedIn.push(slots);
  }
  expect(askedIn).toEqual([0, 1, 3, 7, 15, 31]);
  expect(complaints.filter((line) => line.includes("rejected a"))).toHaveLength(1);
  mend(engine);
  await clock.advanceTo(NOW + 63);
  await bring(chain);
  await chain.importBlock(at(8).signed);
  expect(chain.head.root).toBe(at(8).root);
});
