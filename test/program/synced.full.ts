import { expect, it, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

// Starts several programs, each of which may take long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

interface Syncing {
  head_slot: string;
  sync_distance: string;
  is_syncing: boolean;
}

const isSynced = ({ is_syncing }: Syncing) => !is_syncing;
const isFarBehind = ({ sync_distance }: Syncing) => Number(sync_distance) >= 3;

it("a node without its only peer reports syncing and serves no duties, until the peer returns", async () => {
  const dataDir = tempDirectory();
  const flags = "--validators 8 --slot-seconds 1 --warmup-epochs 1 --p2p --p2p-port 0".split(" ");
  const startDev = (...more: string[]) => ProgramHere.dev([...flags, "--data-dir", dataDir, ...more]);
  const first = await startDev();
  const [, network] = await first.untilLine(/Another node joins with: fanal node --network (\S+) /);
  const nodeFlags = "--p2p-port 0 --p2p-address 127.0.0.1".split(" ");
  const node = await ProgramHere.served(["node", "--network", network!, "--data-dir", tempDirectory(), ...nodeFlags]);
  const [, address] = await node.untilLine(/Listening for peers\s+address=(\S+)/);
  await node.callUntil<Syncing>("get_v1_node_syncing", isSynced);
  expect(await node.call("get_v1_node_health")).toEqual({ health: 200 });

  expect(await first.stop()).toEqual({ code: EXIT_CODES.ok, signal: null });
  const lost = await node.callUntil<Syncing>("get_v1_node_syncing", isFarBehind);
  expect(lost.is_syncing).toBe(true);
  expect(await node.call("getSyncing")).toBe(true);
  expect(await node.call("get_v1_node_health")).toEqual({ health: 206 });
  const { error } = await node.reply("get_v1_validator_duties_proposer", [0]);
  expect(error).toMatchObject({
    code: -32002,
    message: expect.stringMatching(/syncing: its head is \d+ slots behind/),
  });

  const second = await startDev("--peer", address!);
  const found = await node.callUntil<Syncing>("get_v1_node_syncing", isSynced);
  expect(Number(found.head_slot)).toBeGreaterThan(Number(lost.head_slot));
  expect(found.sync_distance).toBe("0");
  for (const { output } of [first, second, node]) expect(output).not.toMatch(/ (ERROR|FATAL) /);
});
