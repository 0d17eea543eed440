import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { sharedKzg } from "../support/data/kzg/shared-kzg.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { type Head, slotOf, untilAgreed } from "../support/program/agreement.ts";
import { ProgramHere } from "../support/program/program-here.ts";

// Starts several programs, each of which may take long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

it("a node joins a dev chain by its network directory, runs some of its validators, and follows it", async () => {
  const dataDir = tempDirectory();
  const flags = `--validators 8 --slot-seconds 1 --warmup-epochs 1 --fork electra --p2p --p2p-port 0 --dev-validators 0-3`;
  const kzg = { ...sharedKzg, prepare: vi.fn(sharedKzg.prepare) };
  const dev = await ProgramHere.dev([...flags.split(" "), "--data-dir", dataDir], { kzg });
  const [, peerId] = await dev.untilLine(/Listening for peers\s+address=\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/(\w+)/);
  const [, network] = await dev.untilLine(
    /Another node joins with: fanal node --network (\S+) --data-dir DIR --p2p-port 0 --p2p-address 127\.0\.0\.1$/,
  );
  expect(network).toBe(join(dataDir, "network"));
  expect(readFileSync(join(network!, "boot_enr.yaml"), "utf8")).toMatch(/^- "enr:-\S+"\n$/);

  const nodeFlags = "--p2p-port 0 --p2p-address 127.0.0.1 --dev-validators 4-7 --dev-blobs 1".split(" ");
  const node = await ProgramHere.served(["node", "--network", network!, "--data-dir", tempDirectory(), ...nodeFlags]);
  await node.untilLine(/Validators active/);
  // Either node may have dialed first.
  const [peer] = await node.call("get_v1_node_peers");
  expect(peer).toMatchObject({ peer_id: peerId, state: "connected" });

  // The other node creates the first blobs. The dev chain accepts them in time because it has loaded the trusted setup.
  expect(kzg.prepare).toHaveBeenCalled();
  // Blocks of both nodes: some proposers run in the other process.
  const start = slotOf(await node.call("getChainHead"));
  const proposers = new Set<number>();
  const hasAnyOf = (indices: number[]) => indices.some((index) => proposers.has(index));
  for (let slot = start; !(hasAnyOf([0, 1, 2, 3]) && hasAnyOf([4, 5, 6, 7])); ) {
    await node.callUntil<Head>("getChainHead", (head) => slotOf(head) > slot);
    const block = await node.reply("get_v1_beacon_blocks_blockId", [++slot]);
    if (!block.result) continue;
    const { proposer_index, body } = block.result.message;
    const proposer = Number(proposer_index);
    proposers.add(proposer);
    expect(body.blob_kzg_commitments).toHaveLength(proposer < 4 ? 0 : 1);
  }
  await untilAgreed(dev, node);

  expect(await node.stop()).toEqual({ code: EXIT_CODES.ok, signal: null });
  expect(await dev.stop()).toEqual({ code: EXIT_CODES.ok, signal: null });
  for (const { output } of [dev, node]) expect(output).not.toMatch(/ (ERROR|FATAL) /);
});

it("a peer-to-peer port in use", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const port = String((server.address() as AddressInfo).port);
  const flags = ["--validators", "8", "--warmup-epochs", "0", "--data-dir", tempDirectory()];
  const program = new ProgramHere(["dev", ...flags, "--p2p", "--p2p-port", port]);
  expect(await program.exited).toEqual({ code: EXIT_CODES.listen, signal: null });
  expect(program.errors).toEqual([
    `fanal: Port ${port} of 127.0.0.1 is in use by another process; stop that one, or give another --p2p-port.`,
  ]);
});
