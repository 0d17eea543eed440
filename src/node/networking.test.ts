import { expect, test } from "vitest";
import { openDevChain, QUIET } from "../../test/support/dev-chain.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";

const networking = {
  address: "127.0.0.1",
  port: 0,
  discovery: true,
  bootnodes: [],
  directPeers: [],
  targetPeers: 1,
};
const OPTIONS = { ...QUIET, validators: 8, speed: 1 };

test("a node announces its subnets on a network, and none when it is started again without one", async () => {
  const directory = tempDirectory();
  const { devChain, node, close } = await openDevChain({ ...OPTIONS, networking }, directory);
  await node.networking!.start();
  const before = await node.networking!.view.identity();
  expect(before.metadata.attnets.getTrueBitIndexes().length).toBe(devChain.config.SUBNETS_PER_NODE);
  await close();

  const alone = await openDevChain(OPTIONS, directory);
  const { data } = (await alone.devChain.api.node.getNetworkIdentity()) as { data: typeof before };
  expect(data.peerId).toBe(before.peerId);
  expect(data.metadata.attnets.getTrueBitIndexes()).toEqual([]);
  expect(data.metadata.seqNumber).toBeGreaterThan(before.metadata.seqNumber);
});

test("a network that is closed while it starts leaves nothing running", async () => {
  const { node, complaints } = await openDevChain({ ...OPTIONS, networking });
  const started = node.networking!.start();
  await node.networking!.close();
  await started;
  expect(node.networking!.network.host.status).toBe("stopped");
  expect(complaints).toEqual([]);
});
