import type { bellatrix, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { HeadEvent, ReorgEvent } from "../../src/chain/events.ts";
import { ForkChoiceError } from "../../src/chain/fork-choice/error.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import { ByHand, type HandMadeBlock } from "../support/chain/by-hand.ts";
import { openQuietDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { emptyStoredChain, openStoredChain, type StoredChain } from "../support/chain/stored-chain.ts";
import { invalid, ScriptedEngine, SYNCING, VALID } from "../support/execution/scripted-engine.ts";

const HEAD = 12;
const NOW = HEAD + 3;
const ZERO_HASH = `0x${"00".repeat(32)}`;
const UNKNOWN_HASH = `0x${"ab".repeat(32)}`;

/** The block of slot n is at n - 1. */
let main: HandMadeBlock[];
/** Branches off after slot 4 with two blocks, later than all others and without votes. */
let side: HandMadeBlock[];
let source: DevChain;
let closeSource: () => Promise<void>;

beforeAll(async () => {
  const opened = await startQuietDevChain(HEAD, { validators: 8, forks: [{ fork: "electra", epoch: 0 }] });
  source = opened.devChain;
  closeSource = opened.close;
  const { chain, clock } = source;
  main = [];
  for (let slot = 1; slot <= HEAD; slot++) main.push((await chain.blocks.canonicalAtSlot(slot))!);
  const byHand = new ByHand(source);
  await clock.advanceTo(NOW);
  const first = await byHand.propose(HEAD + 1, at(4).root, 7);
  side = [first, await byHand.propose(HEAD + 2, first.root, 7)];
});
afterAll(() => closeSource());

const at = (slot: number): HandMadeBlock => main[slot - 1]!;

const hashOf = ({ signed }: HandMadeBlock): RootHex =>
  toRootHex((signed.message.body as bellatrix.BeaconBlockBody).executionPayload.blockHash);

const open = (stored: StoredChain, engine: ScriptedEngine) => openStoredChain(stored, { slot: NOW, engine });

async function follow(chain: BeaconChain, blocks: readonly HandMadeBlock[]): Promise<void> {
  for (const { signed } of blocks) await chain.importBlock(signed);
}

const statusOf = (chain: BeaconChain, { root }: HandMadeBlock) => chain.forkChoice.get(root)?.execution.status;
const statuses = (chain: BeaconChain, blocks = main) => blocks.map((block) => statusOf(chain, block));

function eventsOf(chain: BeaconChain) {
  const heads: HeadEvent[] = [];
  const reorgs: ReorgEvent[] = [];
  chain.events.on("head", (event) => heads.push(event));
  chain.events.on("reorg", (event) => reorgs.push(event));
  return { heads, reorgs };
}

it("blocks without a verdict are followed optimistically, and verified as soon as possible", async () => {
  const stored = await emptyStoredChain(source);
  const engine = new ScriptedEngine();
  engine.otherwise = SYNCING;
  const first = await open(stored, engine);
  await follow(first.chain, main);
  expect(first.chain.status.isOptimistic).toBe(true);
  expect(first.chain.head.root).toBe(at(HEAD).root);
  await first.close();
  engine.questions = [];

  // The same after a restart: the head is sent, and the oldest payload without a verdict.
  const second = await open(stored, engine);
  expect(second.chain.status.isOptimistic).toBe(true);
  await vi.waitFor(() => expect(engine.questions).toHaveLength(2));
  expect(engine.takeHashes("forkchoiceUpdated")).toEqual([hashOf(at(HEAD))]);
  expect(engine.takeHashes("newPayload")).toEqual([hashOf(at(1))]);

  // The engine knows the first payloads. Later ones have to be sent, and then the head again.
  engine.otherwise = VALID;
  for (const block of main.slice(8)) engine.answer(hashOf(block), SYNCING);
  engine.enter("online");
  await vi.waitFor(() => expect(statuses(second.chain).lastIndexOf("valid")).toBe(7));
  await vi.waitFor(() => expect(engine.takeHashes("newPayload")).toContain(hashOf(at(9))));
  expect(second.chain.status.isOptimistic).toBe(true);
  engine.takeHashes("forkchoiceUpdated");
  engine.answer(hashOf(at(HEAD)), VALID);
  engine.enter("synced");
  await vi.waitFor(() => expect(second.chain.status.isOptimistic).toBe(false));
  expect(engine.takeHashes("newPayload")).toEqual([]);
  expect(statuses(second.chain)).toEqual(main.map(() => "valid"));
  expect(second.complaints).toEqual([]);
  await second.close();

  // Valid payloads are not sent again.
  engine.questions = [];
  engine.otherwise = SYNCING;
  const third = await open(stored, engine);
  expect(statuses(third.chain)).toEqual(main.map(() => "valid"));
  expect(engine.takeHashes("newPayload")).toEqual([]);
});

it("the forkchoice update of an optimistic head is repeated every slot", async () => {
  const engine = new ScriptedEngine();
  engine.otherwise = SYNCING;
  const { chain, clock } = await open(await emptyStoredChain(source), engine);
  await follow(chain, main.slice(0, 2));
  chain.start();
  await vi.waitFor(() => expect(engine.takeHashes("forkchoiceUpdated")).toContain(hashOf(at(2))));
  await clock.advanceTo(NOW + 1);
  await vi.waitFor(() => expect(engine.takeHashes("forkchoiceUpdated")).toEqual([hashOf(at(2))]));
  engine.otherwise = VALID;
  await clock.advanceTo(NOW + 2);
  await vi.waitFor(() => expect(chain.status.isOptimistic).toBe(false));
  engine.questions = [];
  await clock.advanceTo(NOW + 3);
  expect(engine.questions).toEqual([]);
});

it.each<[string, { lastValid: () => RootHex | null; head: number; complaints: number }]>([
  ["the hash of its parent", { lastValid: () => hashOf(at(HEAD - 1)), head: HEAD - 1, complaints: 1 }],
  ["that of an ancestor three blocks back", { lastValid: () => hashOf(at(HEAD - 3)), head: HEAD - 3, complaints: 1 }],
  ["that of an ancestor ten blocks back", { lastValid: () => hashOf(at(HEAD - 10)), head: HEAD - 10, complaints: 1 }],
  ["no hash", { lastValid: () => null, head: HEAD - 1, complaints: 1 }],
  ["an unknown hash", { lastValid: () => UNKNOWN_HASH, head: HEAD - 1, complaints: 1 }],
  ["its own hash", { lastValid: () => hashOf(at(HEAD)), head: HEAD - 1, complaints: 1 }],
  // The genesis of this chain has a payload, which is finalized.
  ["the zero hash", { lastValid: () => ZERO_HASH, head: 0, complaints: 2 }],
])("a head that is found invalid with %s falls back to what may be valid", async (_, expected) => {
  const stored = await emptyStoredChain(source);
  const engine = new ScriptedEngine();
  engine.otherwise = SYNCING;
  const { chain, complaints, close } = await open(stored, engine);
  await follow(chain, main);
  const { heads, reorgs } = eventsOf(chain);
  const verdict = expected.lastValid();
  engine.answer(hashOf(at(HEAD)), invalid(verdict));
  engine.enter("synced");
  await vi.waitFor(() => expect(heads).toHaveLength(1));

  const remaining = main.slice(0, expected.head);
  const fallen = main.slice(expected.head);
  const expectFallen = (opened: BeaconChain) => {
    expect(opened.head.slot).toBe(expected.head);
    expect(statuses(opened, remaining)).toEqual(remaining.map(() => "optimistic"));
    expect(fallen.every(({ root }) => opened.forkChoice.isInvalid(root))).toBe(true);
  };
  expectFallen(chain);
  expect(reorgs).toMatchObject([{ oldHead: at(HEAD).root, newHead: chain.head.root, depth: HEAD - expected.head }]);
  expect(complaints).toHaveLength(expected.complaints);
  const child = side[0]!.signed;
  const onFallen = { ...child, message: { ...child.message, parentRoot: Buffer.from(at(HEAD).root.slice(2), "hex") } };
  await expect(chain.importBlock(onFallen as typeof child)).rejects.toMatchObject({ reason: "invalid-parent" });
  await close();

  engine.questions = [];
  const again = await open(stored, engine);
  expectFallen(again.chain);
  expect(again.complaints).toEqual([]);
  engine.questions = [];
  await expect(again.chain.importBlock(at(HEAD).signed)).rejects.toMatchObject({ reason: "invalid-payload" });
  await expect(again.chain.importBlock(onFallen as typeof child)).rejects.toMatchObject({ reason: "invalid-parent" });
  expect(engine.takeHashes("newPayload")).not.toContain(hashOf(at(HEAD)));
  expect((await again.chain.blocks.byRoot(at(HEAD).root))!).toMatchObject({
    canonical: false,
    executionOptimistic: true,
  });
});

it.each([
  ["one by one", (chain: BeaconChain) => follow(chain, main.slice(0, 10))],
  ["in a segment", async (chain: BeaconChain) => void (await chain.importSegment(main.map(({ signed }) => signed)))],
])("a block that is refused takes along the ancestors that its verdict condemns, %s", async (_, bring) => {
  const engine = new ScriptedEngine();
  engine.otherwise = SYNCING;
  engine.answer(hashOf(at(10)), invalid(hashOf(at(6))));
  const { chain } = await open(await emptyStoredChain(source), engine);
  await expect(bring(chain)).rejects.toMatchObject({ reason: "invalid-payload", root: at(10).root });
  expect(chain.head.root).toBe(at(6).root);
  expect(statuses(chain)).toEqual([
    ...Array<string>(6).fill("optimistic"),
    ...Array<string>(3).fill("invalid"),
    ...Array<undefined>(3).fill(undefined),
  ]);
  engine.questions = [];
  await expect(chain.importBlock(at(10).signed)).rejects.toMatchObject({ reason: "invalid-payload" });
  await expect(chain.importBlock(at(11).signed)).rejects.toMatchObject({ reason: "invalid-parent" });
  expect(engine.takeHashes("newPayload")).toEqual([]);
});

it("the head moves to the remaining branch when the other becomes invalid", async () => {
  const engine = new ScriptedEngine();
  engine.otherwise = SYNCING;
  const { chain } = await open(await emptyStoredChain(source), engine);
  await follow(chain, [...main, ...side]);
  expect(chain.head.root).toBe(at(HEAD).root);
  const { reorgs } = eventsOf(chain);
  engine.answer(hashOf(at(HEAD)), invalid(hashOf(at(4))));
  for (const block of side) engine.answer(hashOf(block), VALID);
  engine.enter("synced");
  await vi.waitFor(() => expect(chain.status.isOptimistic).toBe(false));
  expect(chain.head.root).toBe(side[1]!.root);
  expect(reorgs).toMatchObject([{ oldHead: at(HEAD).root, newHead: side[1]!.root, executionOptimistic: true }]);
  expect(statuses(chain, main.slice(0, 4))).toEqual(Array<string>(4).fill("valid"));
  expect(statuses(chain, main.slice(4))).toEqual(Array<string>(8).fill("invalid"));
});

it("an engine that retracts a valid verdict is logged, and changes nothing", async () => {
  const engine = new ScriptedEngine();
  const { chain, complaints } = await open(await emptyStoredChain(source), engine);
  await follow(chain, main.slice(0, 5));
  engine.answer(hashOf(at(5)), invalid(hashOf(at(2))));
  engine.enter("synced");
  await vi.waitFor(() => expect(complaints.join()).toMatch(/ERROR .*contradicts its earlier/));
  expect(chain.head.root).toBe(at(5).root);
  expect(statuses(chain, main.slice(0, 5))).toEqual(Array<string>(5).fill("valid"));
  const told = complaints.length;
  engine.enter("online");
  await chain.pendingVerdicts.untilHeadVerdict();
  expect(complaints).toHaveLength(told);
  await chain.importBlock(at(6).signed);
  expect(chain.head.root).toBe(at(6).root);
});

it("the head stays if the justified block is invalid, which is logged once, until there is another viable head", async () => {
  const { chain, complaints } = await open(await emptyStoredChain(source), new ScriptedEngine());
  await follow(chain, main.slice(0, 2));
  const choose = vi.spyOn(chain.forkChoice, "updateHead").mockImplementation(() => {
    throw new ForkChoiceError("justified-payload-invalid", "There is no head.");
  });
  await chain.refreshHead();
  await chain.refreshHead();
  expect(chain.head.root).toBe(at(2).root);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(/ERROR .*No viable head/);
  choose.mockRestore();
  await follow(chain, [at(3)]);
  expect(chain.head.root).toBe(at(3).root);
});

it("a block waits for an unavailable engine, and nothing is lost", async () => {
  const engine = new ScriptedEngine();
  const { chain, clock, db } = await open(await emptyStoredChain(source), engine);
  chain.start();
  await follow(chain, main.slice(0, 3));
  engine.otherwise = "error";
  engine.enter("offline");
  const unavailable = { name: "BlockRejection", reason: "engine-unavailable", root: at(4).root };
  await expect(chain.importBlock(at(4).signed)).rejects.toMatchObject(unavailable);
  await expect(chain.importSegment(main.slice(3).map(({ signed }) => signed))).rejects.toMatchObject(unavailable);
  expect(chain.forkChoice.has(at(4).root)).toBe(false);
  expect(await db.blocks.has(at(4).root)).toBe(false);
  expect(chain.isWaitingForEngine(at(4).root)).toBe(true);

  const imported = new Promise((resolve) => chain.events.on("blockImported", resolve));
  engine.otherwise = VALID;
  engine.enter("online");
  await expect(imported).resolves.toMatchObject({ slot: 4 });
  expect(chain.head.root).toBe(at(4).root);
  expect(chain.isWaitingForEngine(at(4).root)).toBe(false);

  // An engine with occasional failures does not change its state, so the retry is in the next slot.
  engine.answer(hashOf(at(5)), "error");
  await expect(chain.importBlock(at(5).signed)).rejects.toMatchObject({ reason: "engine-unavailable" });
  engine.answer(hashOf(at(5)), VALID);
  const next = new Promise((resolve) => chain.events.on("blockImported", resolve));
  await clock.advanceTo(NOW + 1);
  await expect(next).resolves.toMatchObject({ slot: 5 });
});

it("an invalid signature takes precedence over any verdict of the engine", async () => {
  const engine = new ScriptedEngine();
  const { chain, close } = await open(await emptyStoredChain(source), engine);
  await follow(chain, main.slice(0, 3));
  const unsigned = { ...at(4).signed, signature: at(5).signed.signature };
  for (const answer of ["never", "error", invalid(hashOf(at(1)))] as const) {
    engine.answer(hashOf(at(4)), answer);
    await expect(chain.importBlock(unsigned)).rejects.toMatchObject({ reason: "invalid-signature" });
    await expect(chain.importSegment([unsigned])).rejects.toMatchObject({ reason: "invalid-signature" });
  }
  expect(engine.takeHashes("newPayload").filter((hash) => hash === hashOf(at(4)))).toHaveLength(6);
  expect(statuses(chain, main.slice(0, 3))).toEqual(Array<string>(3).fill("valid"));
  expect(chain.forkChoice.isInvalid(at(4).root)).toBe(false);
  // A missing response does not prevent the chain from closing.
  engine.answer(hashOf(at(3)), "never");
  engine.enter("synced");
  await close();
});

it("the first payload of a chain is valid only if its terminal block is, like all its descendants", async () => {
  const merging = await openQuietDevChain(HEAD, { validators: 8, forks: [{ fork: "bellatrix", epoch: 1 }] });
  const { chain: followed } = merging.devChain;
  const blocks: HandMadeBlock[] = [];
  for (let slot = 1; slot <= HEAD; slot++) blocks.push((await followed.blocks.canonicalAtSlot(slot))!);
  const first = blocks.findIndex(({ root }) => followed.forkChoice.get(root)!.execution.status !== "pre-merge");
  const late = { slot: HEAD + 200 };

  for (const [verdict, head] of [["terminal", first + 2] as const, ["not-terminal", first] as const]) {
    const engine = new ScriptedEngine();
    engine.otherwise = SYNCING;
    engine.terminalVerdict = "unknown";
    const { chain } = await openStoredChain(await emptyStoredChain(merging.devChain), { ...late, engine });
    await follow(chain, blocks.slice(0, first + 1));
    expect(statusOf(chain, blocks[first]!)).toBe("optimistic");
    engine.terminalVerdict = verdict;
    engine.answer(hashOf(blocks[first + 1]!), VALID);
    await follow(chain, blocks.slice(first + 1, first + 2));
    await vi.waitFor(() => expect(chain.status.isOptimistic).toBe(false));
    expect(chain.head.slot).toBe(head);
    expect(statusOf(chain, blocks[first]!)).toBe(verdict === "terminal" ? "valid" : "invalid");
  }
});
