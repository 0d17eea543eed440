import { expect, test, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { Program } from "../support/program.ts";
import { tempDirectory } from "../support/temp-directory.ts";

// Programs are started several times; a machine that is busy with other tests may take its time for each.
vi.setConfig({ testTimeout: 300_000 });

/** Epoch 1 is of electra, epoch 2 of fulu. */
const SLOTS_PER_EPOCH = 8;
const FULU_SLOT = 2 * SLOTS_PER_EPOCH;
/** Blocks of both forks lie before its state, so that they come by backfill. */
const CHECKPOINT_SLOT = FULU_SLOT + 3;

interface Head {
  head_slot: string;
}

interface ColumnSidecar {
  index: string;
}

const blobsAt = (program: Program, slot: number) => program.reply("get_v1_beacon_blobs_blockId", [String(slot)]);

const columnsAt = (program: Program, slot: number): Promise<ColumnSidecar[]> =>
  program.call("get_v1_debug_beacon_data_column_sidecars_blockId", [String(slot)]);

const custodyOf = async (program: Program): Promise<string> =>
  (await program.call("get_v1_node_identity")).metadata.custody_group_count;

/** Asks again while the block or its data is on its way. */
async function untilSame(ours: () => Promise<unknown>, expected: unknown): Promise<void> {
  await vi.waitFor(async () => expect(await ours()).toEqual(expected), { timeout: 240_000, interval: 100 });
}

test("nodes from genesis and from a checkpoint come by the blobs of a chain from before fulu on, and all tell what they keep", async () => {
  const flags =
    "--validators 8 --slot-seconds 2 --warmup-epochs 3 --fork electra --fork-at fulu=2 --dev-blobs 1-2 --p2p --p2p-port 0 --rest --rest-port 0";
  const dataDir = tempDirectory();
  const dev = await Program.dev([...flags.split(" "), "--data-dir", dataDir]);
  const [, rest] = await dev.untilLine(/REST is served at (http:\S+)/);
  const [, network] = await dev.untilLine(/Another node joins with: fanal node --network (\S+) /);
  const nodeFlags = ["node", "--network", network!, "--p2p-port", "0", "--p2p-address", "127.0.0.1"];
  const state = new URL(`/eth/v2/debug/beacon/states/${CHECKPOINT_SLOT}`, rest).href;
  const [all, share] = await Promise.all([
    Program.served([...nodeFlags, "--data-dir", tempDirectory(), "--supernode"]),
    Program.served([...nodeFlags, "--data-dir", tempDirectory(), "--checkpoint-state", state]),
  ]);
  expect(await Promise.all([dev, all, share].map(custodyOf))).toEqual(["128", "128", "4"]);

  const { head_slot: before } = await dev.call<Head>("getChainHead");
  const { head_slot: newSlot } = await dev.callUntil<Head>("getChainHead", ({ head_slot }) => head_slot !== before);
  for (const slot of [1, FULU_SLOT - 1, FULU_SLOT, CHECKPOINT_SLOT, Number(newSlot)]) {
    const { result: blobs } = await blobsAt(dev, slot);
    expect(blobs).toHaveLength(1 + (slot % 2));
    await untilSame(async () => (await blobsAt(all, slot)).result, blobs);
    if (slot < FULU_SLOT) {
      await untilSame(async () => (await blobsAt(share, slot)).result, blobs);
      continue;
    }
    const columns = await columnsAt(dev, slot);
    expect(columns).toHaveLength(128);
    await untilSame(() => columnsAt(all, slot), columns);
    await vi.waitFor(async () => expect((await columnsAt(share, slot)).length).toBeGreaterThanOrEqual(4), 240_000);
    for (const column of await columnsAt(share, slot)) expect(column).toEqual(columns[Number(column.index)]);
    expect((await blobsAt(share, slot)).error?.message).toContain("64 are needed for its blobs");
  }
  for (const program of [share, all, dev]) {
    expect(await program.stop()).toEqual({ code: EXIT_CODES.ok, signal: null });
    expect(program.output).not.toMatch(/ (ERROR|FATAL) /);
  }
});
