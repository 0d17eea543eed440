import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type deneb, type electra, ssz } from "@lodestar/types";
import { describe, expect, it, vi } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import type { ProducedFullBlock } from "../../src/chain/production/block-producer.ts";
import { processBlock } from "../../src/chain/states/advance.ts";
import { type DataSidecar, serializeSidecar } from "../../src/data/sidecar.ts";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import { EngineUnavailableError } from "../../src/execution/engine.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { BlobBlocks, type BlockWithCommitments } from "../support/chain/blob-blocks.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openDevChain, openQuietDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const UNAVAILABLE = { name: "BlockRejection", reason: "data-unavailable" };

async function open(fork: "electra" | "fulu", historySlots = 1, options: Partial<DevNodeOptions> = {}) {
  const directory = tempDirectory();
  const opened = await openQuietDevChain(historySlots, { forks: [{ fork, epoch: 0 }], ...options }, directory);
  const { chain, clock } = opened.devChain;
  await clock.advanceTo(historySlots + 1);
  return { ...opened, directory, chain, clock, slot: historySlots + 1, blocks: new BlobBlocks(opened.devChain) };
}

/** Resolves when the block no longer waits. */
const settled = (chain: BeaconChain, { root }: BlockWithCommitments) =>
  vi.waitUntil(() => !chain.isWaitingForData(root));

/** Comparable regardless of the byte array type. */
const bytes = (sidecars: readonly DataSidecar[]) =>
  sidecars.map((sidecar) => Buffer.from(serializeSidecar(sidecar)).toString("hex"));

const add = (chain: BeaconChain, { slot, root, sidecars }: BlockWithCommitments, only = sidecars) =>
  chain.data.pool.add({ slot, root }, only);

describe.each(["electra", "fulu"] as const)("a block of %s without its data", (fork) => {
  it("blocks no other, is reported at its deadline, and is imported with its data", async () => {
    const { chain, clock, db, devChain, slot, blocks, complaints } = await open(fork);
    const block = await blocks.make({ slot, parentRoot: chain.head.root });
    const awaited: string[] = [];
    chain.data.onAwaited(({ root }, missing) => awaited.push(`${root} ${missing.length}`));

    const importing = chain.importBlock(block.signed);
    const sibling = await new ByHand(devChain).propose(slot, chain.head.root, 7);
    expect(chain.head.root).toBe(sibling.root);
    expect(awaited).toEqual([`${block.root} ${block.sidecars.length}`]);
    add(chain, block, block.sidecars.slice(1));
    await expect(chain.importBlock(block.signed, { waitsForData: false })).rejects.toMatchObject(UNAVAILABLE);

    const refused = expect(importing).rejects.toMatchObject({ ...UNAVAILABLE, slot, root: block.root });
    await clock.advanceTo(slot + 2);
    await refused;
    expect(complaints.splice(0)).toEqual([expect.stringContaining("Block waits for missing data")]);
    expect(chain.isWaitingForData(block.root)).toBe(true);
    expect(await db.blocks.has(block.root)).toBe(false);

    add(chain, block, block.sidecars.slice(0, 1));
    await settled(chain, block);
    expect(chain.forkChoice.has(block.root)).toBe(true);
    expect(chain.data.pool.size).toEqual({ blocks: 0, bytes: 0 });
    expect(bytes(await chain.data.sidecars(block))).toEqual(bytes(block.sidecars));
    expect(bytes(await chain.data.sidecars(block, [1, 0, 200]))).toEqual(bytes(block.sidecars.slice(0, 2)));
    expect(Buffer.from((await chain.data.sidecarBytes(block.root, 1))!)).toEqual(
      Buffer.from(serializeSidecar(block.sidecars[1]!)),
    );
    expect(await chain.data.sidecarBytes(block.root, 200)).toBeNull();
    expect(complaints).toEqual([]);
  });
});

it("a repeated block is verified once and known the second time", async () => {
  const { chain, slot, blocks } = await open("electra");
  const block = await blocks.make({ slot, parentRoot: chain.head.root });
  const both = Promise.all([chain.importBlock(block.signed), chain.importBlock(block.signed)]);
  await vi.waitUntil(() => chain.isWaitingForData(block.root));
  add(chain, block);
  expect(await both).toEqual([
    { root: block.root, known: false },
    { root: block.root, known: true },
  ]);
  expect(vi.mocked(DevExecutionEngine.prototype.notifyNewPayload)).toHaveBeenCalledTimes(1);
});

it("two blocks of an equivocating proposer are held, and the data of an invalid one is dropped", async () => {
  const { chain, devChain, slot, blocks, close } = await open("electra");
  const parentRoot = chain.head.root;
  const made: BlockWithCommitments[] = [];
  for (const mark of [1, 2, 3]) made.push(await blocks.make({ slot, parentRoot, mark, blobs: mark }));
  const [first, second, third] = made as [BlockWithCommitments, BlockWithCommitments, BlockWithCommitments];
  const importing = made.map(({ signed }) => chain.importBlock(signed));
  const rejected = expect(importing[2]).rejects.toMatchObject(UNAVAILABLE);
  await expect(importing[0]).rejects.toMatchObject(UNAVAILABLE);
  expect(made.map(({ root }) => chain.isWaitingForData(root))).toEqual([false, true, true]);
  add(chain, first);
  add(chain, second);
  await importing[1];
  expect(chain.forkChoice.blocksAtSlot(slot).map(({ root }) => root)).toEqual([second.root]);

  const message = ssz.electra.BeaconBlock.clone(third.signed.message as electra.BeaconBlock);
  const wrong = new ByHand(devChain).sign({ ...message, stateRoot: new Uint8Array(32) });
  chain.data.pool.add({ slot, root: wrong.root }, third.sidecars);
  await expect(chain.importBlock(wrong.signed)).rejects.toMatchObject({ reason: "wrong-state-root" });
  expect(chain.data.pool.count(wrong.root)).toBe(0);
  expect(chain.data.pool.count(first.root)).toBe(first.sidecars.length);
  await close();
  await rejected;
});

it("a block without verified payload and data waits for the payload, then for the data", async () => {
  const { chain, clock, slot, blocks } = await open("electra");
  const block = await blocks.make({ slot, parentRoot: chain.head.root });
  const { notifyNewPayload } = DevExecutionEngine.prototype;
  vi.mocked(notifyNewPayload).mockRejectedValueOnce(new EngineUnavailableError("The engine is away."));
  await expect(chain.importBlock(block.signed)).rejects.toMatchObject({ reason: "engine-unavailable" });
  expect(chain.isWaitingForEngine(block.root)).toBe(true);

  await clock.advanceTo(slot + 1);
  await vi.waitUntil(() => chain.isWaitingForData(block.root) && !chain.isWaitingForEngine(block.root));
  add(chain, block);
  await settled(chain, block);
  expect(chain.head.root).toBe(block.root);
});

it("finality drops blocks that wait for data, and the data of orphaned blocks", async () => {
  const lastUnfinalizedSlot = 4 * SLOTS_PER_EPOCH - 1;
  const { chain, clock, db, devChain, blocks, slot } = await open("electra", lastUnfinalizedSlot - 1);
  const genesis = (await chain.blocks.genesis())!;
  const late = await blocks.make({ slot, parentRoot: genesis.root });
  await expect(chain.importBlock(late.signed, { waitsForData: false })).rejects.toMatchObject(UNAVAILABLE);
  add(chain, late, late.sidecars.slice(1));
  const kept = await blocks.make({ slot, parentRoot: chain.head.root });
  const left = await blocks.make({ slot, parentRoot: genesis.root, mark: 1 });
  for (const block of [kept, left]) {
    add(chain, block);
    await chain.importBlock(block.signed);
    expect(await db.data.indices(block.root)).toEqual([0, 1]);
  }

  await clock.advanceTo(slot + 1);
  await new ByHand(devChain).propose(slot + 1, kept.root, 1);
  expect(chain.forkChoice.finalized.epoch).toBe(2);
  await settled(chain, late);
  add(chain, late);
  expect(chain.forkChoice.has(late.root)).toBe(false);
  await chain.store();
  expect(await db.data.indices(left.root)).toEqual([]);
  expect(await db.data.indices(kept.root)).toEqual([0, 1]);
});

it("data that arrives with or after its block is stored, even outside custody, until it expires", async () => {
  const configOverrides = { MIN_EPOCHS_FOR_DATA_COLUMN_SIDECARS_REQUESTS: "1" };
  const { chain, db, slot, blocks, directory, close } = await open("fulu", 1, { configOverrides });
  vi.spyOn(chain.data.custody, "sampled", "get").mockReturnValue([3, 4, 70]);
  const block = await blocks.make({ slot, parentRoot: chain.head.root });
  const { sidecars } = block;
  add(chain, block, [sidecars[3]!, sidecars[4]!, sidecars[5]!, sidecars[70]!]);
  await chain.importBlock(block.signed);
  expect(await chain.data.indices(block.root)).toEqual([3, 4, 5, 70]);

  add(chain, block, [sidecars[6]!]);
  add(chain, block, [sidecars[127]!]);
  expect(bytes(await chain.data.sidecars(block, [127]))).toEqual(bytes([sidecars[127]!]));
  await vi.waitUntil(() => chain.data.pool.size.blocks === 0);
  expect(await db.data.indices(block.root)).toEqual([3, 4, 5, 6, 70, 127]);

  await close();
  const again = await openDevChain({ forks: [{ fork: "fulu", epoch: 0 }], configOverrides, ...QUIET }, directory);
  expect(again.complaints).toEqual([]);
  expect(again.devChain.chain.head.root).toBe(block.root);
  const stored = await again.devChain.chain.data.sidecars(block, [6, 127]);
  expect(bytes(stored)).toEqual(bytes([sidecars[6]!, sidecars[127]!]));

  const { clock } = again.devChain;
  await clock.advanceTo(2 * SLOTS_PER_EPOCH - 1);
  expect(await again.db.data.indices(block.root)).toEqual([3, 4, 5, 6, 70, 127]);
  await clock.advanceTo(2 * SLOTS_PER_EPOCH);
  await expect.poll(() => again.db.data.indices(block.root)).toEqual([]);
});

it("a reverted chain has the data of the snapshot, and drops waiting blocks", async () => {
  const { chain, slot, blocks, db } = await open("electra");
  const parentRoot = chain.head.root;
  const [before, after, waiting] = [
    await blocks.make({ slot, parentRoot, mark: 1 }),
    await blocks.make({ slot, parentRoot, mark: 2 }),
    await blocks.make({ slot, parentRoot, mark: 3 }),
  ];
  add(chain, before, before.sidecars.slice(1));
  const pooled = chain.data.pool.capture();
  const moment = await chain.chainSnapshots.take();

  add(chain, before);
  await chain.importBlock(before.signed);
  add(chain, after, after.sidecars.slice(1));
  const importing = expect(chain.importBlock(waiting.signed)).rejects.toMatchObject(UNAVAILABLE);
  await vi.waitUntil(() => chain.isWaitingForData(waiting.root));
  await chain.chainSnapshots.revertTo(moment, () => {});
  await importing;
  expect(chain.data.pool.capture()).toEqual(pooled);
  expect(await db.data.indices(before.root)).toEqual([]);

  add(chain, before);
  await expect(chain.importBlock(before.signed)).resolves.toEqual({ root: before.root, known: false });
});

it("the blobs of a locally produced block are stored with it", async () => {
  const { chain, slot, blocks } = await open("electra");
  const { signed, root, sidecars } = await blocks.make({ slot, parentRoot: chain.head.root });
  const { blob, kzgProof } = sidecars[0] as deneb.BlobSidecar;
  const other = sidecars[1] as deneb.BlobSidecar;
  const preState = await chain.states.afterBlock(chain.head.root, slot);
  const produced = {
    block: signed.message,
    root,
    postState: processBlock(preState, signed),
    blobsBundle: { commitments: [], blobs: [blob, other.blob], proofs: [kzgProof, other.kzgProof] },
  };
  await chain.importOwnBlock(produced as unknown as ProducedFullBlock, signed.signature, () => {});
  expect(chain.head.root).toBe(root);
  expect(bytes(await chain.data.sidecars({ slot, root }))).toEqual(bytes(sidecars));
});
