import type { fulu, RootHex, Slot } from "@lodestar/types";
import { expect, it } from "vitest";
import type { BlockWithSidecars } from "../../../test/support/chain/by-hand.ts";
import { sharedKzg } from "../../../test/support/data/kzg/shared-kzg.ts";
import {
  eventually,
  type GossipNode,
  invalidFrom,
  openLine,
  whenMeshed,
} from "../../../test/support/network/gossip/gossip.ts";
import { ALL_COLUMNS } from "../../data/column-sidecars.ts";
import type { DevNodeOptions } from "../../node/dev-node.ts";

const FULU_SLOT = 8;
/** Too few columns for reconstructing the others. */
const SOME_COLUMNS = 60;
const OPTIONS: Partial<DevNodeOptions> = {
  forks: [
    { fork: "electra", epoch: 0 },
    { fork: "fulu", epoch: 1 },
  ],
  validators: 8,
  devBlobs: { min: 2, max: 2 },
  chainTuning: { kzg: sharedKzg },
};

/** Produces a block with blobs on top of the producer's head. */
const propose = ({ byHand, devChain }: GossipNode, slot: Slot) =>
  byHand.proposeWithBlobs(slot, devChain.chain.head.root);

const pooled = ({ devChain }: GossipNode, root: RootHex) => devChain.chain.data.pool.count(root);

async function untilAwaited({ devChain }: GossipNode, { root }: BlockWithSidecars): Promise<void> {
  await eventually(() => expect(devChain.chain.data.awaited().map((block) => block.root)).toEqual([root]));
}

async function untilImported({ devChain, node }: GossipNode, { root, sidecars }: BlockWithSidecars): Promise<void> {
  await eventually(() => expect(devChain.chain.head.root).toBe(root));
  expect(await node.db.data.indices(root)).toEqual(sidecars.map(({ index }) => index));
}

it("a block with its blobs or columns reaches another node in any order", async () => {
  const nodes = await openLine(2, 1, OPTIONS);
  const [a, b] = nodes as [GossipNode, GossipNode];
  const goTo = async (slot: Slot) => {
    for (const { devChain } of nodes) await devChain.clock.advanceTo(slot);
  };
  await Promise.all(nodes.map((node) => whenMeshed(node, node.topic("blob_sidecar", 1))));
  await Promise.all(nodes.map((node) => whenMeshed(node, node.topic("beacon_block"))));

  await goTo(2);
  const first = await propose(a, 2);
  expect(first.sidecars).toHaveLength(2);
  a.gossip.sidecars(first.sidecars);
  await eventually(() => expect(pooled(b, first.root)).toBe(2));
  a.gossip.block(first.signed);
  await untilImported(b, first);

  await goTo(3);
  const second = await propose(a, 3);
  a.gossip.block(second.signed);
  await untilAwaited(b, second);
  a.gossip.sidecars(second.sidecars);
  await untilImported(b, second);

  // Since fulu, the data consists of columns. The producer does not have to be subscribed to their subnets.
  await goTo(FULU_SLOT);
  b.gossip.setColumnSubnets(new Set(ALL_COLUMNS));
  const columnTopics = ALL_COLUMNS.map((subnet) => b.topic("data_column_sidecar", subnet));
  await eventually(() => {
    const known = columnTopics.filter((topic) => a.pubsub.getSubscribers(topic).length > 0);
    expect(known).toHaveLength(ALL_COLUMNS.length);
  });
  await whenMeshed(a, a.topic("beacon_block"));
  const third = await propose(a, FULU_SLOT);
  expect(third.sidecars).toHaveLength(ALL_COLUMNS.length);
  a.gossip.sidecars(third.sidecars.slice(0, SOME_COLUMNS));
  await eventually(() => expect(pooled(b, third.root)).toBe(SOME_COLUMNS));
  a.gossip.block(third.signed);
  await untilAwaited(b, third);
  a.devChain.chain.events.publish("sidecarsCreated", { sidecars: third.sidecars.slice(SOME_COLUMNS) });
  await untilImported(b, third);

  // A peer that sends a column that does not match its block is penalized.
  await goTo(FULU_SLOT + 1);
  const fourth = await propose(a, FULU_SLOT + 1);
  const [column, other] = fourth.sidecars as [fulu.DataColumnSidecar, fulu.DataColumnSidecar];
  a.gossip.sidecars([{ ...column, column: other.column }]);
  await eventually(() => expect(invalidFrom(b, a, b.topic("data_column_sidecar", 0))).toBe(1));
  expect(pooled(b, fourth.root)).toBe(0);
  expect([...a.complaints, ...b.complaints]).toEqual([]);
});
