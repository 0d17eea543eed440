import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import type { Caller } from "../support/api/caller.ts";
import { openChainInHand } from "../support/chain/chain-in-hand.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { sharedKzg } from "../support/data/kzg/shared-kzg.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { survey } from "./survey.ts";

const VALIDATORS = [0, 3, 5, 15];

const position = (caller: Caller) => caller.call("dev_skip", [0]);

const rootAt = async (caller: Caller, slot: number) =>
  (await caller.call("get_v1_beacon_blocks_blockId_root", [slot])).root;

const hasRefused = (answer: unknown) => typeof answer === "object" && answer !== null && "refused" in answer;

describe("a snapshot", () => {
  it("restores everything that can be queried, even across finality", async () => {
    const { caller, devChain } = await openChainInHand();
    const { chain } = devChain;
    await caller.call("dev_advance", [4 * SLOTS_PER_EPOCH + 3]);
    const operations = new SignedOperations(devChain);
    await chain.processor.proposerSlashing(operations.doubleProposal(3, 1));
    const slots = [1, 20, 32, 35, 36, 80];
    const subjects = {
      blockIds: ["head", "finalized", "justified", "genesis", chain.head.root, ...slots],
      stateIds: ["head", "finalized", "justified", "genesis", chain.head.stateRoot, ...slots],
      epochs: [0, 3, 4, 9],
      validators: VALIDATORS,
    };
    const before = await survey(caller, subjects);
    expect(Object.values(before).filter((answer) => !hasRefused(answer)).length).toBeGreaterThan(150);
    expect(await caller.call("dev_snapshot")).toBe("0x1");

    await caller.call("dev_skip", [1]);
    await chain.processor.attesterSlashing(operations.doubleVote([5], 1));
    await caller.call("dev_advance", [5 * SLOTS_PER_EPOCH]);
    const left = chain.head;
    expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(5);
    // Cached values of the chain that is about to be abandoned.
    await survey(caller, { ...subjects, blockIds: [left.root, "head", 60], stateIds: [left.stateRoot, "head", 60] });
    const heard: string[] = [];
    chain.events.on("head", ({ slot }) => heard.push(`head ${slot}`));
    chain.events.on("reorg", ({ slot, depth, oldHead }) => heard.push(`reorg ${slot} ${depth} ${oldHead}`));
    expect(await caller.call("dev_revert", ["0x1"])).toBe(true);

    expect(heard).toEqual([`reorg 35 ${left.slot - 35} ${left.root}`, "head 35"]);
    expect(await survey(caller, subjects)).toEqual(before);
    const gone = { ...subjects, blockIds: [left.root], stateIds: [left.stateRoot] };
    for (const [call, answer] of Object.entries(await survey(caller, gone))) {
      if (call.includes(left.root) || call.includes(left.stateRoot)) expect(hasRefused(answer), call).toBe(true);
    }
  });

  it("leads to the same chain if the same steps are repeated, and to finality if not", async () => {
    const { caller, devChain, complaints } = await openChainInHand();
    const { chain } = devChain;
    const rootAfter = async (slots: number) => (await caller.call("dev_advance", [slots])).head_block_root;
    await caller.call("dev_advance", [2 * SLOTS_PER_EPOCH + 5]);
    for (const slots of [3, 4 * SLOTS_PER_EPOCH]) {
      const outer = await caller.call("dev_snapshot");
      const first = await rootAfter(slots);
      await caller.call("dev_revert", [outer]);
      // Identical runs: blocks with the same votes, signed by the same validators.
      expect(await rootAfter(slots)).toBe(first);
      expect(await caller.call("dev_revert", [await caller.call("dev_snapshot")])).toBe(true);
      expect(chain.head.root).toBe(first);
    }
    const { finalized_epoch: before } = await caller.call("dev_advance", [1]);
    await caller.call("dev_skip", [2]);
    const { finalized_epoch: after } = await caller.call("dev_advance", { until: "finalized" });
    expect(Number(after)).toBeGreaterThan(Number(before));
    expect(complaints).toEqual([]);
  });

  it("is one of several; a revert deletes later ones", async () => {
    const { caller, devChain } = await openChainInHand();
    await caller.call("dev_advance", [3]);
    const roots = new Map<string, string>();
    for (let taken = 0; taken < 200; taken++) {
      const id = await caller.call("dev_snapshot");
      roots.set(id, devChain.chain.head.root);
      if (taken % 40 === 0) await caller.call("dev_advance", [3]);
    }
    for (const id of ["0xc8", "0xa5", "0x29", "0x1"]) {
      await caller.call("dev_revert", [id]);
      expect(devChain.chain.head.root).toBe(roots.get(id));
      expect(await caller.error("dev_revert", [id])).toMatchObject({ code: -32001 });
    }
    expect((await caller.error("dev_revert", ["0x1"])).message).toBe(
      "No snapshot 0x1: a revert consumes its snapshot and all later ones. None is left: dev_snapshot takes one.",
    );
    for (const [id, message] of [
      ["0xc9", "No snapshot 0x7: a revert consumes its snapshot and all later ones. Available: 0xc9."],
      ["0xca", "No snapshot 0x7: a revert consumes its snapshot and all later ones. Available: 0xc9, 0xca."],
    ]) {
      expect(await caller.call("dev_snapshot")).toBe(id);
      expect((await caller.error("dev_revert", ["0x7"])).message).toBe(message);
    }
  });

  it("has no delays of blocks that were set after it", async () => {
    const { caller, devChain } = await openChainInHand();
    await caller.call("dev_advance", [2]);
    const id = await caller.call("dev_snapshot");
    await caller.call("dev_delayBlocks", { slots: 2, slots_late: 1 });
    await caller.call("dev_advance", [1]);
    expect(devChain.chain.head.slot).toBe(2);
    await caller.call("dev_revert", [id]);
    await caller.call("dev_advance", [1]);
    expect(devChain.chain.head.slot).toBe(3);
  });

  it("is reverted to while the clock runs, which continues from there", async () => {
    const { caller, devChain } = await openChainInHand({ speed: 8 });
    await caller.call("dev_advance", [9]);
    const id = await caller.call("dev_snapshot");
    await caller.call("dev_advance", [30]);
    const slots: number[] = [];
    devChain.clock.onSlot((slot) => void slots.push(slot));
    await devChain.run();
    await caller.call("dev_revert", [id]);
    expect(devChain.clock.isFlowing).toBe(true);
    expect(devChain.clock.currentSlot).toBe(9);
    await devChain.clock.untilSlot(11);
    expect(slots.slice(-2)).toEqual([10, 11]);
  });

  it("persists a revert across a crash", async () => {
    const directory = tempDirectory();
    const first = await openChainInHand({}, directory);
    await first.caller.call("dev_advance", [4 * SLOTS_PER_EPOCH + 2]);
    const before = await position(first.caller);
    await first.caller.call("dev_snapshot");
    const inner = await first.caller.call("dev_snapshot");
    await first.caller.call("dev_advance", [3 * SLOTS_PER_EPOCH]);
    await first.caller.call("dev_revert", [inner]);
    await first.abandon();
    const second = await openChainInHand({}, directory);
    expect(await position(second.caller)).toEqual(before);
    expect(await second.caller.call("get_v1_beacon_headers", { slot: 40 })).toEqual([]);
    // Signatures on the abandoned chain do not prevent new ones.
    await second.caller.call("dev_advance", [2 * SLOTS_PER_EPOCH]);
    const after = await position(second.caller);
    expect(Number(after.finalized_epoch)).toBe(Number(before.finalized_epoch) + 2);
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });
});

it("reverts to before blocks with blobs, which are then created again", async () => {
  const { caller, devChain, complaints } = await openChainInHand({
    forks: [
      { fork: "electra", epoch: 0 },
      { fork: "fulu", epoch: 1 },
    ],
    devBlobs: { min: 1, max: 1 },
    chainTuning: { kzg: sharedKzg },
  });
  const ofBlock = ["get_v1_beacon_blobs_blockId", "get_v1_debug_beacon_data_column_sidecars_blockId"];
  const dataOf = (block: unknown) => Promise.all(ofBlock.map((method) => caller.call(method, [block])));
  await caller.call("dev_advance", [SLOTS_PER_EPOCH - 3]);
  const kept = devChain.chain.head.root;
  const keptData = await dataOf(kept);
  const id = await caller.call("dev_snapshot");
  await caller.call("dev_advance", [4]);
  const slots = [-2, -1, 0, 1].map((offset) => SLOTS_PER_EPOCH + offset);
  const roots = await Promise.all(slots.map((slot) => rootAt(caller, slot)));
  const data = await Promise.all(roots.map(dataOf));
  expect(data.map(([blobs, columns]) => [blobs.length, columns.length])).toEqual([
    [1, 0],
    [1, 0],
    [1, 128],
    [1, 128],
  ]);

  await caller.call("dev_revert", [id]);
  for (const root of roots) {
    for (const method of ofBlock) expect(await caller.error(method, [root])).toMatchObject({ code: -32001 });
    expect(await devChain.chain.data.indices(root)).toEqual([]);
  }
  expect(await dataOf(kept)).toEqual(keptData);

  await caller.call("dev_advance", [4]);
  expect(await Promise.all(roots.map(dataOf))).toEqual(data);
  await caller.call("dev_revert", [await caller.call("dev_snapshot")]);
  expect(await Promise.all(roots.map(dataOf))).toEqual(data);
  expect(complaints).toEqual([]);
});

it("reverts to before a deposit that phase0 validators voted for", async () => {
  const { caller, devChain } = await openChainInHand({ forks: [] });
  const known = () => devChain.chain.eth1.deposits.depositCount;
  await caller.call("dev_deposit");
  const id = await caller.call("dev_snapshot");
  const before = known();
  await caller.call("dev_deposit");
  expect(known()).toBe(before + 1);
  await caller.call("dev_revert", [id]);
  expect(known()).toBe(before);
  await caller.call("dev_deposit");
  expect(known()).toBe(before + 1);
});
