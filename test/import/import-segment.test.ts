import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BeaconBlock, type electra, type phase0, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { ClassicLevel } from "classic-level";
import { beforeAll, expect, it, vi } from "vitest";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import { ByHand, type HandMadeBlock } from "../support/chain/by-hand.ts";
import { type OpenedDevChain, openDevChain, QUIET, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

/** Shared by all chains, so that they have the same genesis. A fork starts in the middle of a run. */
const OPTIONS = { validators: 8, genesisTime: 1_700_000_000, forks: [{ fork: "electra" as const, epoch: 2 }] };
const HISTORY_SLOTS = 5 * SLOTS_PER_EPOCH;
/** Slots between them are empty. */
const LATER_SLOTS = [HISTORY_SLOTS + 3, HISTORY_SLOTS + 5];
const DEPOSIT_SLOT = HISTORY_SLOTS + 7;
const NOW = HISTORY_SLOTS + 8;
/** More than are stored at once. */
const COUNT = HISTORY_SLOTS + LATER_SLOTS.length;

/** The only random value in a database. */
const NODE_KEY = `00${Buffer.from("nodeKey").toString("hex")}`;
/** Votes counted at the last finality update, which is later for a segment than for single blocks. */
const VOTES = `00${Buffer.from("votes").toString("hex")}`;

let history: HandMadeBlock[];
/** After the history: a block with a deposit of a new validator, and one of the next epoch, which uses it. */
let depositing: HandMadeBlock[];
/** Signs with the key of any validator. */
let byHand: ByHand;

beforeAll(async () => {
  const { devChain, close } = await startQuietDevChain(HISTORY_SLOTS, OPTIONS);
  const { chain, clock } = devChain;
  byHand = new ByHand(devChain);
  history = [];
  for (let slot = 1; slot <= HISTORY_SLOTS; slot++) {
    const { root, signed } = (await chain.blocks.canonicalAtSlot(slot))!;
    history.push({ root, signed });
  }
  for (const slot of LATER_SLOTS) {
    await clock.advanceTo(slot);
    history.push(await byHand.propose(slot, chain.head.root));
  }
  const engine = takeAllPayloads();
  await clock.advanceTo(NOW);
  const block = await byHand.produce(DEPOSIT_SLOT, chain.head.root);
  const deposit = { ...ssz.electra.DepositRequest.defaultValue(), amount: 32e9 };
  (block as electra.BeaconBlock).body.executionRequests.deposits.push(deposit);
  const first = byHand.sign(await byHand.withStateRoot(block));
  await chain.importBlock(first.signed);
  depositing = [first, await byHand.propose(NOW, first.root)];
  engine.mockRestore();
  await close();
});

const blocks = (from = 0, to = COUNT): SignedBeaconBlock[] => history.slice(from, to).map(({ signed }) => signed);

/** The dev engine supports no deposits. */
const takeAllPayloads = () =>
  vi.spyOn(DevExecutionEngine.prototype, "notifyNewPayload").mockResolvedValue({ status: "valid" });

/** A node with only the genesis of the history, and the results of its imports. */
async function openFollower(directory?: string) {
  const opened = await openDevChain({ ...OPTIONS, ...QUIET }, directory);
  const { chain, clock } = opened.devChain;
  await clock.advanceTo(NOW);
  const announced: string[] = [];
  const heads: string[] = [];
  chain.events.on("block", ({ root }) => announced.push(root));
  chain.events.on("head", ({ root }) => heads.push(root));
  return { ...opened, chain, announced, heads };
}

/** Expects exactly the first blocks of the history, in fork choice and database. */
async function expectImported(
  { chain, db }: Pick<OpenedDevChain, "db"> & { chain: OpenedDevChain["devChain"]["chain"] },
  count: number,
) {
  expect(chain.head.root).toBe(history[count - 1]!.root);
  expect([...chain.forkChoice.all()].map(({ root }) => root)).not.toContain(history[count]?.root);
  const stored = await Promise.all(history.map(({ root }) => db.blocks.has(root)));
  expect(stored).toEqual(history.map((_, index) => index < count));
}

async function everythingIn(path: string): Promise<Map<string, string>> {
  const level = new ClassicLevel<string, string>(path, { keyEncoding: "hex", valueEncoding: "hex" });
  const entries = new Map(await level.iterator().all());
  await level.close();
  entries.delete(NODE_KEY);
  entries.delete(VOTES);
  return entries;
}

const standing = ({ head, forkChoice }: OpenedDevChain["devChain"]["chain"]) => ({
  head,
  justified: forkChoice.justified,
  finalized: forkChoice.finalized,
  blocks: [...forkChoice.all()],
});

it("a segment results in the same chain and database as single blocks", async () => {
  const single = await openFollower();
  for (const signed of blocks()) await single.chain.importBlock(signed);
  const whole = await openFollower();
  await expect(whole.chain.importSegment(blocks())).resolves.toEqual({ imported: COUNT, known: 0 });

  expect(single.chain.forkChoice.finalized.epoch).toBeGreaterThan(1);
  for (const { chain } of [single, whole]) await chain.store();
  expect(standing(whole.chain)).toEqual(standing(single.chain));
  expect(whole.chain.headState.hashTreeRoot()).toEqual(single.chain.headState.hashTreeRoot());
  expect(whole.announced).toEqual(history.map(({ root }) => root));
  expect(whole.heads.length).toBeLessThan(single.heads.length);
  expect(whole.heads.at(-1)).toBe(history.at(-1)!.root);
  expect([...single.complaints, ...whole.complaints]).toEqual([]);
  await single.close();
  await whole.close();
  expect(await everythingIn(whole.db.path)).toEqual(await everythingIn(single.db.path));
});

it("known blocks of a segment are skipped, finalized or not", async () => {
  const { chain, announced } = await openFollower();
  await chain.importBlock(blocks()[0]!);
  await expect(chain.importSegment(blocks(0, 36))).resolves.toEqual({ imported: 35, known: 1 });
  await chain.store();
  expect(chain.forkChoice.has(history[4]!.root)).toBe(false);
  await expect(chain.importSegment(blocks(4))).resolves.toEqual({ imported: COUNT - 36, known: 32 });
  await expect(chain.importSegment(blocks())).resolves.toEqual({ imported: 0, known: COUNT });
  await expect(chain.importSegment([])).resolves.toEqual({ imported: 0, known: 0 });
  expect(announced).toEqual(history.map(({ root }) => root));
});

it("an invalid signature in the middle is found, and the blocks before it are imported", async () => {
  const follower = await openFollower();
  const spoiled = blocks();
  spoiled[20] = { message: spoiled[20]!.message, signature: spoiled[21]!.signature };

  await expect(follower.chain.importSegment(spoiled)).rejects.toMatchObject({
    name: "BlockRejection",
    reason: "invalid-signature",
    slot: spoiled[20].message.slot,
    root: history[20]!.root,
  });

  await expectImported(follower, 20);
  expect(follower.announced).toEqual(history.slice(0, 20).map(({ root }) => root));
  await expect(follower.chain.importSegment(blocks(18, 24))).resolves.toEqual({ imported: 4, known: 2 });
});

/** A copy of a block, changed and signed again. */
function forged(index: number, change: Partial<BeaconBlock>): HandMadeBlock {
  return byHand.sign({ ...history[index]!.signed.message, ...change } as BeaconBlock);
}

it.each([
  ["the root of another state", "wrong-state-root", 36, { stateRoot: new Uint8Array(32).fill(0xbb) }],
  ["the slot of its parent", "not-later-than-parent", 3, { slot: 3 }],
  ["a slot that has not begun", "future-slot", 4, { slot: NOW + 1 }],
] as const)("a block with %s is rejected as %s with all that follow", async (_, reason, index, change) => {
  const follower = await openFollower();
  const wrong = forged(index, change);
  const child = forged(index + 1, { parentRoot: fromHex(wrong.root) } as Partial<phase0.BeaconBlock>);
  const segment = [...blocks(0, index), wrong.signed, child.signed];

  const { slot } = wrong.signed.message;
  await expect(follower.chain.importSegment(segment)).rejects.toMatchObject({ reason, slot, root: wrong.root });

  await expectImported(follower, index);
  expect(follower.chain.forkChoice.has(wrong.root)).toBe(false);
});

it("a payload rejected by the execution engine ends the segment", async () => {
  const follower = await openFollower();
  const refused = 5;
  const original = DevExecutionEngine.prototype.notifyNewPayload;
  const payload = (blocks()[refused]!.message as { body: { executionPayload?: object } }).body.executionPayload;
  expect(payload).toBeDefined();
  const asked = vi.spyOn(DevExecutionEngine.prototype, "notifyNewPayload").mockImplementation(function (
    this: DevExecutionEngine,
    ...args
  ) {
    if (args[1] !== payload) return original.apply(this, args);
    return Promise.resolve({ status: "invalid", latestValidHash: null, message: "It is not." });
  });
  const outcome = follower.chain.importSegment(blocks(0, 9)).finally(() => asked.mockRestore());
  await expect(outcome).rejects.toMatchObject({ reason: "invalid-payload", root: history[refused]!.root });
  await expectImported(follower, refused);
});

it("blocks that form no chain, or have an unknown parent, are rejected first", async () => {
  const { chain, db } = await openFollower();
  const write = vi.spyOn(db, "batch");
  const gap = [...blocks(0, 10), ...blocks(11)];
  await expect(chain.importSegment(gap)).rejects.toMatchObject({ reason: "not-connected", root: history[11]!.root });
  await expect(chain.importSegment(blocks(5))).rejects.toMatchObject({
    reason: "unknown-parent",
    root: history[5]!.root,
  });
  expect(write).not.toHaveBeenCalled();
  expect(chain.head.slot).toBe(0);
});

it("a block far ahead of its parent costs nothing unless its proposer signed it", async () => {
  const { chain } = await openFollower();
  const { signed } = forged(1, { slot: 3 * SLOTS_PER_EPOCH, parentRoot: fromHex(history[0]!.root) });
  const unsigned = { ...signed, signature: blocks()[1]!.signature } as SignedBeaconBlock;
  await chain.importSegment(blocks(0, 1));
  const advance = vi.spyOn(chain.states, "afterBlock");
  await expect(chain.importBlock(unsigned)).rejects.toMatchObject({ reason: "invalid-signature" });
  await expect(chain.importSegment([unsigned])).rejects.toMatchObject({ reason: "invalid-signature" });
  expect(advance).not.toHaveBeenCalled();
});

it("validators are added only by valid blocks", async () => {
  const { chain } = await openFollower();
  await chain.importSegment(blocks());
  const engine = takeAllPayloads();
  const [first, second] = depositing;
  const { verify } = chain.validation.bls;
  const verified: boolean[] = [];
  const verifying = vi.spyOn(chain.validation.bls, "verify").mockImplementation((sets) => {
    verified.push(chain.forkChoice.has(first!.root));
    return verify(sets);
  });
  await expect(chain.importSegment([first!.signed, second!.signed])).resolves.toEqual({ imported: 2, known: 0 });
  expect(verified).toEqual([false, true]);
  verifying.mockRestore();
  engine.mockRestore();
});

it("other changes of the chain do not wait for a segment", async () => {
  const { chain } = await openFollower();
  const order: string[] = [];
  const segment = chain.importSegment(blocks(0, 8)).then(() => order.push("segment"));
  await chain.refreshHead().then(() => order.push("head"));
  expect(order).toEqual(["head"]);
  await segment;
});

it("blocks that were imported another way and finalized during verification are known", async () => {
  const { chain } = await openFollower();
  const { verify } = chain.validation.bls;
  const [verifying, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = vi.spyOn(chain.validation.bls, "verify").mockImplementationOnce(async (sets) => {
    verifying.resolve();
    await others.promise;
    return verify(sets);
  });
  const segment = chain.importSegment(blocks(0, 10));
  await verifying.promise;
  for (const signed of blocks(0, 33)) await chain.importBlock(signed);
  await chain.store();
  expect(chain.forkChoice.has(history[9]!.root)).toBe(false);
  others.resolve();
  await expect(segment).resolves.toEqual({ imported: 0, known: 10 });
  held.mockRestore();
});

it("an aborted segment keeps the announced blocks, and can be continued", async () => {
  const { chain, db, announced } = await openFollower();
  const abort = new AbortController();
  const stopListening = chain.events.on("head", () => abort.abort(new Error("Enough.")));
  await expect(chain.importSegment(blocks(), abort.signal)).rejects.toThrow("Enough.");
  stopListening();
  const known = announced.length;
  expect(known).toBeGreaterThan(0);
  expect(known).toBeLessThan(COUNT);
  await expectImported({ chain, db }, known);
  await expect(chain.importSegment(blocks(), abort.signal)).rejects.toThrow("Enough.");
  await expect(chain.importSegment(blocks())).resolves.toEqual({ imported: COUNT - known, known });
});

it("a crash in the middle of a segment loses no announced block", async () => {
  const directory = tempDirectory();
  const first = await openFollower(directory);
  const crashed = new Promise<void>((resolve, reject) => {
    first.chain.events.on("head", () => first.abandon().then(resolve, reject));
  });
  await expect(first.chain.importSegment(blocks())).rejects.toThrow();
  await crashed;
  const { announced } = first;
  expect(announced.length).toBeGreaterThan(0);
  expect(announced.length).toBeLessThan(COUNT);

  const again = await openFollower(directory);
  await expectImported(again, announced.length);
  await expect(again.chain.importSegment(blocks())).resolves.toMatchObject({ imported: COUNT - announced.length });
  expect(again.complaints).toEqual([]);
});
