import { expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { type Head, slotOf, untilAgreed } from "../support/program/agreement.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

/** Of epoch 1, three slots before the next. */
const MIDDLE_SLOT = 13;

interface Syncing {
  head_slot: string;
  sync_distance: string;
}

const slotNow = ({ head_slot, sync_distance }: Syncing) => Number(head_slot) + Number(sync_distance);

it("a node started from a state in the middle of an epoch syncs, and reconnects to its peer", async () => {
  const flags =
    "--validators 8 --slot-seconds 1 --warmup-epochs 6 --fork capella --p2p --p2p-port 0 --rest --rest-port 0";
  // In a separate process, like two nodes. Preparation for blobs is not tested here.
  const dev = await Program.dev([...flags.split(" "), "--data-dir", tempDirectory()]);
  const [, rest] = await dev.untilLine(/REST is served at (http:\S+)/);
  const [, network] = await dev.untilLine(/Another node joins with: fanal node --network (\S+) /);
  const state = new URL(`/eth/v2/debug/beacon/states/${MIDDLE_SLOT}`, rest).href;
  const nodeFlags =
    `node --network ${network} --data-dir ${tempDirectory()} --p2p-port 0 --p2p-address 127.0.0.1`.split(" ");
  const node = await ProgramHere.served([...nodeFlags, "--checkpoint-state", state]);
  const blockRoot = ["get_v1_beacon_blocks_blockId_root", [String(MIDDLE_SLOT)]] as const;
  expect(await node.call(...blockRoot)).toEqual(await dev.call(...blockRoot));
  await untilAgreed(dev, node);
  await node.callUntil<{ is_syncing: boolean }>("get_v1_node_syncing", ({ is_syncing }) => !is_syncing);
  expect((await node.call("get_v1_node_peers")).map(({ state }: { state: string }) => state)).toEqual(["connected"]);
  expect(await node.stop()).toEqual({ code: EXIT_CODES.ok, signal: null });

  const again = await ProgramHere.served([...nodeFlags, "--no-discovery"]);
  await untilAgreed(dev, again);
  expect(await again.call("get_v1_node_peer_count")).toMatchObject({ connected: "1" });
  for (const { output } of [dev, node, again]) expect(output).not.toMatch(/ (ERROR|FATAL) /);
  expect(again.output).not.toMatch(/No bootnodes or peers known/);
});

it("a suspended dev chain signs nothing for past slots, and continues with the others", async () => {
  const flags =
    "--validators 8 --slot-seconds 1 --warmup-epochs 1 --fork capella --p2p --p2p-port 0 --dev-validators 0-5";
  const dev = await Program.dev([...flags.split(" "), "--data-dir", tempDirectory()]);
  const [, network] = await dev.untilLine(/Another node joins with: fanal node --network (\S+) /);
  const nodeFlags = "--p2p-port 0 --p2p-address 127.0.0.1 --dev-validators 6-7".split(" ");
  const node = await ProgramHere.served(["node", "--network", network!, "--data-dir", tempDirectory(), ...nodeFlags]);
  await node.untilLine(/Validators active/);
  await untilAgreed(dev, node);

  const stopped = slotOf(await node.call("getChainHead"));
  dev.child.kill("SIGSTOP");
  const clock = await node.callUntil<Syncing>("get_v1_node_syncing", (status) => slotNow(status) >= stopped + 12);
  dev.child.kill("SIGCONT");
  await dev.untilLine(/Process was suspended +seconds=\d+/);
  await dev.callUntil<Head>("getChainHead", (head) => slotOf(head) > slotNow(clock) + 2);
  await untilAgreed(dev, node);
  for (let slot = stopped + 2; slot < slotNow(clock); slot++) {
    const block = await dev.reply("get_v1_beacon_blocks_blockId", [slot]);
    if (block.result) expect(Number(block.result.message.proposer_index), `slot ${slot}`).toBeGreaterThanOrEqual(6);
  }
  expect(dev.output).not.toMatch(/Chain time falls behind|Catching up/);
  for (const { output } of [dev, node]) expect(output).not.toMatch(/ (ERROR|FATAL) /);
});
