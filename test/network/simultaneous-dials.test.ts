import { multiaddr } from "@multiformats/multiaddr";
import { expect, it } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const connections = ({ networking }: TestNode) => networking.network.host.getConnections();
const dial = (from: TestNode, to: TestNode) =>
  from.networking.network.host.dial(multiaddr(to.address), { force: true });

it("nodes that dial each other simultaneously count as one peer and build a chain", {
  timeout: 60_000,
}, async () => {
  const network = new TestNetwork({ validators: 16 });
  const one = await network.add(range(0, 8));
  const other = await network.add(range(8, 16));
  await Promise.all([dial(one, other), dial(other, one)]);
  await network.untilConnected();
  await network.runTo(8);
  await network.untilSameHead();
  expect(one.chain.head.slot).toBeGreaterThan(4);
  expect([one, other].map((node) => connections(node).length)).toEqual([2, 2]);
  for (const { networking } of [one, other]) expect(networking.view.peerCounts().connected).toBe(1);
});
