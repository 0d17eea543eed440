import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const finalizedEpochs = (nodes: readonly TestNode[]) => nodes.map(({ chain }) => chain.forkChoice.finalized.epoch);
const headRoots = (nodes: readonly TestNode[]) => new Set(nodes.map(({ chain }) => chain.head.root));

it("a node that was cut off for two epochs rejoins, and agrees with the others", { timeout: 120_000 }, async () => {
  const network = new TestNetwork({ validators: 12 });
  const first = await network.add(range(0, 6));
  const second = await network.add(range(6, 9), [first]);
  const lost = await network.add(range(9, 12), [first, second]);
  await network.untilConnected();
  await network.runTo(2 * SLOTS_PER_EPOCH);

  await network.divide([first, second], [lost]);
  await network.runTo(4 * SLOTS_PER_EPOCH);
  expect(lost.networking.view.peerCounts().connected).toBe(0);
  expect(lost.chain.head.root).not.toBe(first.chain.head.root);

  network.heal();
  await network.runUntil(() => headRoots(network.nodes).size === 1);
  const [finalized] = finalizedEpochs([first]);
  await network.runUntil(() => finalizedEpochs(network.nodes).every((epoch) => epoch > finalized!));
  await network.untilSameHead();
  expect(new Set(network.nodes.map(({ chain }) => chain.forkChoice.finalized.root)).size).toBe(1);
});
