import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import {
  blockOn,
  config,
  finalizedAndHot,
  type LinkedBlock,
  storeChain,
  write,
} from "../../../test/support/chain/stored/linked-blocks.ts";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { serializeSidecar } from "../../data/sidecar.ts";
import type { BeaconDbBatch } from "../../db/beacon-db.ts";
import { checkChain } from "./check-chain.ts";

const { finalized, hot, genesis, first, second, last, child, tip } = finalizedAndHot();

const UNKNOWN = toRootHex(new Uint8Array(32).fill(9));
const STRAY = blockOn(genesis, 2, 1);

const sidecarOf = ({ header }: LinkedBlock, index: number) =>
  serializeSidecar({
    ...ssz.deneb.BlobSidecar.defaultValue(),
    index,
    signedBlockHeader: { message: header, signature: new Uint8Array(96) },
  });

async function checked(damage: (batch: BeaconDbBatch) => void) {
  const db = await openEmptyDatabase();
  await storeChain(db, { finalized, hot });
  await write(db, (batch) => batch.data.put(child, 0, sidecarOf(child, 0)));
  await write(db, damage);
  return checkChain({ config, db, onProgress: () => {} });
}

it("counts an intact chain without problems", async () => {
  expect(await checked(() => {})).toEqual({
    blocks: 6,
    finalizedBlocks: 4,
    hotBlocks: 2,
    states: 1,
    sidecars: 1,
    problems: [],
  });
});

it("accepts a missing first finalized block: a chain may start from a state alone", async () => {
  expect((await checked((batch) => batch.blocks.delete(genesis.root))).problems).toEqual([]);
});

it.each<[string, (batch: BeaconDbBatch) => void, string[]]>([
  [
    "a finalized block that is not the child of the one before",
    (batch) => batch.finalizedBlocks.delete(second.slot),
    ["The finalized block of slot 4 is not a child of the one of slot 1."],
  ],
  [
    "a finalized block of another branch",
    (batch) => {
      batch.blocks.put(STRAY.root, STRAY.bytes);
      batch.finalizedBlocks.put(2, STRAY.root);
    },
    [
      "The finalized block of slot 2 is not a child of the one of slot 1.",
      "The finalized block of slot 4 is not a child of the one of slot 2.",
    ],
  ],
  [
    "a finalized block of another slot",
    (batch) => {
      batch.finalizedBlocks.delete(second.slot);
      batch.finalizedBlocks.put(3, second.root);
    },
    [`The finalized block ${second.root} does not have slot 3.`],
  ],
  [
    "a finalized block without its bytes",
    (batch) => batch.blocks.delete(second.root),
    [`The finalized block ${second.root} of slot 2 is missing.`],
  ],
  [
    "a finalized chain that ends before the checkpoint",
    (batch) => batch.finalizedBlocks.delete(last.slot),
    ["The finalized chain does not end in the finalized checkpoint."],
  ],
  [
    "a block that is indexed under another parent",
    (batch) => batch.hotBlocks.put(tip.slot, tip.root, last.root),
    [`Block ${tip.root} of slot 6 is missing.`],
  ],
  [
    "a block that is indexed in another slot",
    (batch) => batch.hotBlocks.put(7, tip.root, tip.parentRoot),
    [`Block ${tip.root} of slot 7 is missing.`],
  ],
  [
    "a block that is indexed without its bytes",
    (batch) => batch.blocks.delete(tip.root),
    [`Block ${tip.root} of slot 6 is missing.`],
  ],
  [
    "bytes of another block",
    (batch) => batch.blocks.put(tip.root, STRAY.bytes),
    [`The block stored under root ${tip.root} has root ${STRAY.root}.`, `Block ${tip.root} of slot 6 is missing.`],
  ],
  [
    "sidecars of an unknown block",
    (batch) => batch.data.putBlock({ slot: 5, root: UNKNOWN }),
    [`Block ${UNKNOWN} of slot 5 is missing, but has sidecars.`],
  ],
  [
    "sidecars of a block of another slot",
    (batch) => batch.data.putBlock({ slot: 6, root: child.root }),
    [`Block ${child.root} of slot 6 is missing, but has sidecars.`],
  ],
  [
    "a sidecar of a block that is not listed",
    (batch) => {
      batch.data.put(tip, 1, sidecarOf(tip, 1));
      batch.data.delete(tip, []);
    },
    [`Sidecar 1 of block ${tip.root} is not in the index of blocks with sidecars.`],
  ],
  [
    "a sidecar of another index",
    (batch) => batch.data.put(child, 2, sidecarOf(child, 0)),
    [`Sidecar 2 of block ${child.root} is stored as sidecar 0 of block ${child.root}.`],
  ],
  [
    "no state of the finalized block",
    (batch) => {
      batch.snapshots.delete({ slot: last.slot, blockRoot: last.root, packing: null });
      batch.snapshots.put(second.slot, second.root, second.state);
    },
    ["The state of the finalized block is missing."],
  ],
  [
    "the state of another block",
    (batch) => batch.snapshots.put(last.slot, last.root, second.state),
    [`The state of slot 4 does not match block ${last.root}.`, "The state of the finalized block is missing."],
  ],
])("problem: %s", async (_, damage, problems) => {
  expect((await checked(damage)).problems).toEqual(problems);
});

it("problem: a finalized checkpoint before the last finalized block", async () => {
  const { problems } = await checked((batch) => {
    batch.meta.putFinalized({ epoch: 0, root: first.root });
    batch.snapshots.put(first.slot, first.root, first.state);
  });
  expect(problems).toEqual(["The finalized chain does not end in the finalized checkpoint."]);
});
