import { ENR } from "@chainsafe/enr";
import { expect, it } from "vitest";
import { openDevChain, QUIET } from "../../test/support/chain/dev-chain.ts";
import { tempDirectory } from "../../test/support/directories/temp-directory.ts";
import type { DevNodeOptions } from "./dev-node.ts";

const networking = {
  address: "127.0.0.1",
  port: 0,
  discovery: true,
  bootnodes: [],
  directPeers: [],
  targetPeers: 1,
  supernode: false,
};
const OPTIONS = { ...QUIET, validators: 8, speed: 1 };

it("announces subnets with a network, and none after a restart without one", async () => {
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

it("announces the custody of its validators, all groups as a supernode, and never fewer later", async () => {
  const directory = tempDirectory();
  const start = async (changes: Partial<DevNodeOptions> = {}) => {
    const options = { ...OPTIONS, forks: [{ fork: "fulu", epoch: 0 } as const], networking, ...changes };
    const { node, close } = await openDevChain(options, directory);
    const announced = async () => {
      const { metadata, enr } = await node.api.context.network.identity();
      return [metadata.custodyGroupCount, ...ENR.decodeTxt(enr).kvs.get("cgc")!];
    };
    return { ...node.chain, announced, close };
  };
  const first = await start();
  expect(await first.announced()).toEqual([4, 4]);
  expect([first.data.custody.columns.length, first.data.custody.sampled.length]).toEqual([4, 8]);
  const raised = new Promise((resolve) => first.data.custody.onRaised(resolve));
  first.preparations.prepare(3, new Uint8Array(20), 0);
  expect(await raised).toBe(8);
  expect(await first.announced()).toEqual([8, 8]);
  await first.close();

  const second = await start();
  expect(await second.announced()).toEqual([8, 8]);
  await second.close();
  const third = await start({ networking: { ...networking, supernode: true } });
  expect(await third.announced()).toEqual([128, 128]);
  expect(third.data.custody.columns).toHaveLength(128);
  await third.close();
  const fourth = await start();
  expect(fourth.data.custody.groupCount).toBe(128);
});

it("stops everything when it is closed while starting", async () => {
  const { node, complaints } = await openDevChain({ ...OPTIONS, networking });
  const started = node.networking!.start();
  await node.networking!.close();
  await started;
  expect(node.networking!.network.host.status).toBe("stopped");
  expect(complaints).toEqual([]);
});
