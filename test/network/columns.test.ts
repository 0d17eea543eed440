import { expect, test } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const VALIDATORS = 8;
const SLOTS = 6;

test("nodes that keep few columns, some and all of them follow a chain with blobs", async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: [{ fork: "fulu", epoch: 0 }], slotMs: 2_000 });
  const maker = await network.add(range(0, VALIDATORS), [], { supernode: true, blobs: { least: 1, most: 2 } });
  const light = await network.add([], [maker]);
  const attached = await network.add([], [maker, light]);
  attached.chain.preparations.prepare(0, new Uint8Array(20), 0);
  await network.untilConnected(2);

  await network.runTo(SLOTS);
  await network.untilSameHead();

  const { head } = maker.chain;
  expect(head.slot).toBeGreaterThan(0);
  const kept = ({ chain }: TestNode) => chain.data.custody.columns.length;
  expect([light, attached, maker].map(kept)).toEqual([4, 8, 128]);
  for (const { chain } of network.nodes) {
    const sidecars = await chain.data.sidecars(head);
    expect(sidecars.map(({ index }) => index)).toEqual([...chain.data.custody.sampled]);
  }
  // What a peer keeps is known by what it tells.
  const ofPeers = light.networking.network.peers.list().map(({ columns }) => columns.length);
  expect(ofPeers.sort((a, b) => a - b)).toEqual([8, 128]);
});
