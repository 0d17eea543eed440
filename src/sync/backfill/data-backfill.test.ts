import { ssz } from "@lodestar/types";
import { describe, expect, it, vi } from "vitest";
import { BlobBlocks } from "../../../test/support/chain/blob-blocks.ts";
import { openQuietDevChain } from "../../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { openAnchoredAt } from "../../../test/support/sync/backfill/anchored-chain.ts";
import { FakePeers, type ServedBlock } from "../../../test/support/sync/fake-peers.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { ALL_COLUMNS } from "../../data/column-sidecars.ts";
import type { HeaderSidecar } from "../../data/sidecar.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { BackfillPeers } from "./backfill-peers.ts";
import { BlockBackfill } from "./block-backfill.ts";
import { DataBackfill } from "./data-backfill.ts";

/** More blocks than the data backfill handles in one range. The last block is the anchor. */
const ANCHOR_SLOT = 12;
const CUSTODY = { nodeId: new Uint8Array(32).fill(7), groupCount: 4 };

/**
 * Creates a chain whose blocks, except the first one, have two blobs each, and a second chain anchored at the last
 * block of the first chain.
 */
async function openHistory(fork: "electra" | "fulu") {
  const { devChain } = await openQuietDevChain(1, { forks: [{ fork, epoch: 0 }], validators: 8 });
  const { chain, clock } = devChain;
  const making = new BlobBlocks(devChain);
  const first = (await chain.blocks.canonicalAtSlot(1))!;
  const history: (ServedBlock & { sidecars: readonly HeaderSidecar[] })[] = [{ ...first, sidecars: [] }];
  for (let slot = 2; slot <= ANCHOR_SLOT; slot++) {
    await clock.advanceTo(slot);
    const block = await making.make({ slot, parentRoot: chain.head.root });
    chain.data.pool.add(block, block.sidecars);
    await chain.importBlock(block.signed);
    history.push(block);
  }
  const openAnchored = async (withBlock: boolean) => {
    const anchored = await openAnchoredAt(ANCHOR_SLOT, devChain, { custody: CUSTODY, withBlock });
    const reopen = async () => believingProofs(await anchored.reopen());
    return { ...anchored, chain: believingProofs(anchored.chain), reopen };
  };
  return { history, openAnchored, ...(await openAnchored(true)) };
}

/** Makes the chain accept sidecars that contain no real blobs. */
function believingProofs(chain: BeaconChain): BeaconChain {
  for (const method of ["verifyBlobs", "verifyCells"] as const)
    vi.spyOn(chain.data.kzg, method).mockResolvedValue(true);
  return chain;
}

function walksOf(chain: BeaconChain, peers: FakePeers, batchSlots = 16) {
  let now = 0;
  // Each time the clock is read, progress is logged.
  const timers = { now: () => (now += 10_000) };
  const logger = createRecordingLogger();
  const shared = { chain, peers, timers, logger, backfillPeers: new BackfillPeers({ peers, timers, backoffMs: 1000 }) };
  const blocks = new BlockBackfill({ ...shared, epochs: Number.POSITIVE_INFINITY, batchSlots });
  const dataPeers = new BackfillPeers({ peers, timers, backoffMs: 1000 });
  const data = new DataBackfill({ ...shared, backfillPeers: dataPeers, blocksTarget: () => blocks.target });
  const { signal } = new AbortController();
  const run = async (walk: BlockBackfill | DataBackfill) => {
    while (await walk.step(signal));
  };
  return {
    stepData: () => data.step(signal),
    stepBlocks: () => blocks.step(signal),
    runData: () => run(data),
    runBlocks: () => run(blocks),
    log: logger.records,
  };
}

/** Returns the stored sidecar indices by slot. */
async function stored(db: BeaconDb, history: readonly ServedBlock[]): Promise<number[][]> {
  return Promise.all(history.map(({ root }) => db.data.indices(root)));
}

describe.each(["electra", "fulu"] as const)("the data of backfilled %s blocks", (fork) => {
  it("is fetched from custodians, rejected if invalid, and continued after a restart", async () => {
    const { chain, db, reopen, history, openAnchored } = await openHistory(fork);
    const withoutBlock = await openAnchored(false);
    expect(withoutBlock.chain.history.earliestAvailableSlot).toBe(ANCHOR_SLOT + 1);
    const peers = new FakePeers();
    const otherCommitments = async (sidecars: HeaderSidecar[]) =>
      sidecars.map(
        (sidecar) => ({ ...sidecar, kzgCommitment: new Uint8Array(48), kzgCommitments: [] }) as HeaderSidecar,
      );
    peers.add("wrong", history, { data: otherCommitments });
    peers.add("empty", history, { data: async () => [] });
    peers.add("even", history, { columns: ALL_COLUMNS.filter((index) => index % 2 === 0) });
    peers.add("odd", history, { columns: ALL_COLUMNS.filter((index) => index % 2 === 1) });
    const { stepData, runBlocks } = walksOf(chain, peers);
    expect(chain.history.earliestAvailableSlot).toBe(ANCHOR_SLOT + 1);
    await runBlocks();
    expect(chain.history.earliestBlockSlot).toBe(0);
    expect(chain.history.earliestAvailableSlot).toBe(ANCHOR_SLOT + 1);

    expect(await stepData()).toBe(true);
    const reached = chain.history.earliestAvailableSlot;
    expect(reached).toBeLessThan(ANCHOR_SLOT);
    expect(reached).toBeGreaterThan(2);
    expect(peers.penaltiesOf("wrong")).toEqual(["severe"]);

    const again = await reopen();
    expect(again.history.earliestAvailableSlot).toBe(reached);
    await walksOf(again, peers).runData();
    expect(again.history.earliestAvailableSlot).toBe(0);
    const wanted = fork === "fulu" ? again.data.custody.columns : [0, 1];
    expect(await stored(db, history)).toEqual([[], ...history.slice(1).map(() => [...wanted])]);
    expect(peers.penalties.filter(({ peerId }) => peerId !== "wrong")).toEqual([]);
  });
});

it("progress counts to the target of the block backfill, not to the held blocks", async () => {
  const { chain, history } = await openHistory("electra");
  const peers = new FakePeers();
  peers.add("all", history);
  const { stepBlocks, runData, log } = walksOf(chain, peers, 4);
  while (chain.history.end !== null) {
    await stepBlocks();
    await runData();
  }
  const lines = log.filter(({ message }) => message.startsWith("Backfilling sidecars"));
  const percents = lines.flatMap(({ fields }) => (fields?.percent === undefined ? [] : [fields.percent as number]));
  expect(percents.length).toBeGreaterThan(2);
  expect(percents).toEqual(percents.toSorted((one, other) => one - other));
  expect(percents.filter((percent) => percent === 100)).toHaveLength(1);
  expect(lines.filter(({ message }) => message.endsWith(": done"))).toHaveLength(1);
});

it("a custody increase fetches only the new columns of held blocks", async () => {
  const { chain, db, reopen, history } = await openHistory("fulu");
  const peers = new FakePeers();
  peers.add("all", history);
  const { runBlocks, runData } = walksOf(chain, peers);
  await runBlocks();
  await runData();
  const before = new Set(chain.data.custody.columns);
  peers.data.splice(0);
  const moment = await chain.chainSnapshots.take();

  chain.data.custody.raiseTo(16);
  expect(chain.history.earliestAvailableSlot).toBe(ANCHOR_SLOT);
  await runData();
  expect(chain.history.earliestAvailableSlot).toBe(0);
  const { columns } = chain.data.custody;
  const all = [[], ...history.slice(1).map(() => [...columns])];
  expect(await stored(db, history)).toEqual(all);

  // After a rewind to before the increase, the additional columns are missing again.
  await chain.chainSnapshots.revertTo(moment, () => {});
  expect(chain.history.earliestAvailableSlot).toBe(ANCHOR_SLOT);
  await runData();
  expect(await stored(db, history)).toEqual(all);
  expect(peers.data.flatMap(({ indices }) => indices).filter((index) => before.has(index))).toEqual([]);

  // After a restart with less custody, stored columns are kept, but new blocks have only the fewer columns.
  const again = await reopen();
  expect(again.history.earliestAvailableSlot).toBe(0);
  again.data.custody.raiseTo(16);
  expect(again.history.earliestAvailableSlot).toBe(ANCHOR_SLOT);
  await vi.waitFor(() => expect(again.history.earliestAvailableSlot).toBe(0));
});

it("a peer is asked only for blocks since its earliest available slot", async () => {
  const incomplete = [6, 5].map((slot) => {
    const signed = ssz.deneb.SignedBeaconBlock.defaultValue();
    signed.message.slot = slot;
    return { root: `0x${slot}`, signed, missing: [0] };
  });
  const stretch = { hasColumns: false, incomplete, from: 5, before: 7, bottom: 0, windowStart: 0 };
  const chain = { history: { data: { next: async () => stretch } } } as unknown as BeaconChain;
  const peers = new FakePeers();
  peers.add("young", [], { status: { earliestAvailableSlot: 6 } });
  peers.add("old", [], { status: { earliestAvailableSlot: 5 } });
  peers.add("none", [], { status: { earliestAvailableSlot: 7 } });
  const { stepData } = walksOf(chain, peers);
  expect(await stepData()).toBe(false);
  expect(peers.data.map(({ peerId, roots }) => ({ peerId, roots }))).toEqual([
    { peerId: "young", roots: ["0x6"] },
    { peerId: "old", roots: ["0x6", "0x5"] },
  ]);
});
