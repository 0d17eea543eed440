import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const finalizedEpochs = (nodes: readonly TestNode[]) => nodes.map(({ chain }) => chain.forkChoice.finalized.epoch);
const headRoots = (nodes: readonly TestNode[]) => new Set(nodes.map(({ chain }) => chain.head.root));

it("a node that was cut off for two epochs rejoins, and agrees with the others", async () => {
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

it("two halves of a partition merge into one finalizing chain", async () => {
  const network = new TestNetwork({ validators: 8 });
  const left = await network.add(range(0, 4));
  const right = await network.add(range(4, 8), [left]);
  await network.untilConnected();
  await network.runTo(SLOTS_PER_EPOCH);

  await network.divide([left], [right]);
  await network.runTo(4 * SLOTS_PER_EPOCH);
  const headsApart = network.nodes.map(({ chain }) => chain.head.root);
  expect(new Set(headsApart).size).toBe(2);
  expect(finalizedEpochs(network.nodes)).toEqual([0, 0]);

  network.heal();
  await network.runUntil(() => finalizedEpochs(network.nodes).every((epoch) => epoch >= 4));
  await network.untilSameHead();
  // The half that reorged has both branches; the other may never have seen the abandoned one.
  const holdsBoth = network.nodes.map(async ({ chain }) => {
    const blocks = await Promise.all(headsApart.map((root) => chain.blocks.signedByRoot(root)));
    return blocks.every((block) => block !== null);
  });
  expect(await Promise.all(holdsBoth)).toContain(true);
});
