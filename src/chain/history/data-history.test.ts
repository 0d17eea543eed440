import type { Slot } from "@lodestar/types";
import { expect, it, vi } from "vitest";
import { BlobBlocks } from "../../../test/support/chain/blob-blocks.ts";
import { openDevChain, QUIET } from "../../../test/support/chain/dev-chain.ts";
import type { ScheduledFork } from "../../dev/forks.ts";
import { Custody } from "../data/custody.ts";
import { DataAvailability } from "../data/data-availability.ts";
import { DataHistory } from "./data-history.ts";

const FULU_SLOT = 8;
const ELECTRA_THEN_FULU: ScheduledFork[] = [
  { fork: "electra", epoch: 0 },
  { fork: "fulu", epoch: 1 },
];

interface Making {
  forks: ScheduledFork[];
  lastSlot: Slot;
  blobs?: number;
}

/** A chain with a block in every slot, on a node with minimum custody that has the sampled columns of every block. */
async function openWithCustody({ forks, lastSlot, blobs = 1 }: Making) {
  const { devChain, db } = await openDevChain({ ...QUIET, forks });
  const { chain, clock, config } = devChain;
  const custody = new Custody(config, { nodeId: new Uint8Array(32).fill(3) });
  const making = new BlobBlocks(devChain);
  for (let slot = 1; slot <= lastSlot; slot++) {
    await clock.advanceTo(slot);
    const block = await making.make({ slot, parentRoot: chain.head.root, blobs });
    chain.data.pool.add(block, block.sidecars);
    await chain.importBlock(block.signed);
    if (!chain.data.hasColumns(slot)) continue;
    const batch = db.batch();
    const { sampled } = custody;
    for (const { index } of block.sidecars) if (!sampled.includes(index)) batch.data.deleteSidecar(block.root, index);
    await batch.write();
  }
  const data = new DataAvailability({ config, db, clock, kzg: chain.data.kzg, custody });
  const open = async () => {
    const history = new DataHistory({ config, db, clock, blocks: chain.blocks, data, earliestBlockSlot: () => 0 });
    await history.open();
    return history;
  };
  return { chain, clock, db, custody, open };
}

it("a higher custody group count does not affect data from before Fulu", async () => {
  const forks: ScheduledFork[] = [
    { fork: "electra", epoch: 0 },
    { fork: "fulu", epoch: 100 },
  ];
  const { custody, open } = await openWithCustody({ forks, lastSlot: 3 });
  const history = await open();
  custody.raiseTo(64);
  expect(history.earliestSlot).toBe(0);
  expect((await open()).earliestSlot).toBe(0);
});

it("sampled columns are not missing when they become custody columns", async () => {
  const { custody, open } = await openWithCustody({ forks: ELECTRA_THEN_FULU, lastSlot: FULU_SLOT + 2 });
  const history = await open();
  custody.raiseTo(8);
  expect(history.earliestSlot).toBe(0);
  expect((await open()).earliestSlot).toBe(0);
});

it("nothing is missing for blocks without data", async () => {
  const { custody, open } = await openWithCustody({ forks: ELECTRA_THEN_FULU, lastSlot: FULU_SLOT + 2, blobs: 0 });
  const history = await open();
  custody.raiseTo(128);
  await vi.waitFor(() => expect(history.earliestSlot).toBe(0));
  const again = await open();
  await vi.waitFor(() => expect(again.earliestSlot).toBe(0));
});

it("missing columns are reported from the slot of the change on, but not after the head", async () => {
  const lastSlot = FULU_SLOT + 2;
  const { chain, clock, custody, open } = await openWithCustody({ forks: ELECTRA_THEN_FULU, lastSlot });
  const history = await open();
  await clock.advanceTo(lastSlot + 3);
  custody.raiseTo(16);
  expect(history.earliestSlot).toBeLessThanOrEqual(clock.currentSlot);
  await vi.waitFor(() => expect(history.earliestSlot).toBe(chain.head.slot));
  custody.raiseTo(32);
  await vi.waitFor(() => expect(history.earliestSlot).toBe(chain.head.slot));
});
