import { expect, it, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import type { ProgramRun } from "../support/program/program-run.ts";

// The portable KZG backend verifies the columns of a block in about a second, which sets the length of a slot.
vi.setConfig({ testTimeout: 240_000 });

const FULU_SLOT = 8;
/** Blocks of both forks precede its state and are backfilled. */
const CHECKPOINT_SLOT = FULU_SLOT + 3;

interface Head {
  head_slot: string;
}

/** Served data of a slot: the blobs, and from fulu on the columns. */
async function dataAt(program: ProgramRun, slot: number): Promise<{ blobs: string[]; columns: unknown[] }> {
  const [blobs, columns] = await program.batch([
    ["get_v1_beacon_blobs_blockId", [String(slot)]],
    ["get_v1_debug_beacon_data_column_sidecars_blockId", [String(slot)]],
  ]);
  return { blobs: blobs?.result, columns: columns?.result };
}

const custodyOf = async (program: ProgramRun): Promise<string> =>
  (await program.call("get_v1_node_identity")).metadata.custody_group_count;

it("a checkpoint-synced supernode fetches all blobs of a dev chain, including those before fulu", async () => {
  const flags =
    "--validators 8 --slot-seconds 6 --warmup-epochs 2 --fork electra --fork-at fulu=1 --dev-blobs 1 --p2p --p2p-port 0 --rest --rest-port 0";
  const dev = await ProgramHere.dev([...flags.split(" "), "--data-dir", tempDirectory()]);
  const [, rest] = await dev.untilLine(/REST is served at (http:\S+)/);
  const [, network] = await dev.untilLine(/Another node joins with: fanal node --network (\S+) /);
  const state = new URL(`/eth/v2/debug/beacon/states/${CHECKPOINT_SLOT}`, rest).href;
  const nodeFlags = `node --network ${network} --p2p-port 0 --p2p-address 127.0.0.1 --supernode --checkpoint-state ${state}`;
  const node = await ProgramHere.served([...nodeFlags.split(" "), "--data-dir", tempDirectory()]);
  expect(await Promise.all([dev, node].map(custodyOf))).toEqual(["128", "128"]);

  const { head_slot: before } = await dev.call<Head>("getChainHead");
  const { head_slot: newSlot } = await dev.callUntil<Head>("getChainHead", ({ head_slot }) => head_slot !== before);
  for (const slot of [1, FULU_SLOT - 1, FULU_SLOT, Number(newSlot)]) {
    const expected = await dataAt(dev, slot);
    expect(expected.blobs).toHaveLength(1);
    expect(expected.columns).toHaveLength(slot < FULU_SLOT ? 0 : 128);
    // The block or its data may still be in transit.
    const isSame = async () => JSON.stringify(await dataAt(node, slot)) === JSON.stringify(expected);
    await vi.waitUntil(isSame, { timeout: 200_000, interval: 200 });
  }
  for (const program of [node, dev]) {
    expect(await program.stop()).toEqual({ code: EXIT_CODES.ok, signal: null });
    expect(program.output).not.toMatch(/ (ERROR|FATAL) /);
  }
});
