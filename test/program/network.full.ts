import { expect, test } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { untilAgreed } from "../support/agreement.ts";
import { Program } from "../support/program.ts";
import { ProgramHere } from "../support/program-here.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Of epoch 1, three slots before the next. */
const MIDDLE_SLOT = 13;

test("a node that starts from a state in the middle of an epoch syncs, and finds its peer again by itself", async () => {
  const flags =
    "--validators 8 --slot-seconds 1 --warmup-epochs 6 --fork capella --p2p --p2p-port 0 --rest --rest-port 0";
  // In a process of its own, as two nodes are; that it would make itself ready for blobs is not what this is about.
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
  expect(again.output).not.toMatch(/No other node is known/);
});
