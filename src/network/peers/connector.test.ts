import { expect, it, onTestFinished } from "vitest";
import { PeerNetwork, type TestPeer } from "../../../test/support/network/peers/peer-network.ts";

const MINUTE_MS = 60_000;

async function searchesWithin(peer: TestPeer, ms: number): Promise<number> {
  const before = peer.searches;
  await peer.timers.advance(ms);
  return peer.searches - before;
}

it("lookups slow down without new peers, and speed up with a new or lost peer", async () => {
  const network = new PeerNetwork();
  onTestFinished(() => network.close());
  const node = await network.add();
  const alone = await searchesWithin(node, 5 * MINUTE_MS);

  const other = await network.add();
  node.discover({ peerId: other.id, enr: "", address: other.address });
  await node.until(() => node.manager.list().length === 1);
  await node.timers.advance(5 * MINUTE_MS);
  const inSmallNetwork = await searchesWithin(node, 5 * MINUTE_MS);
  expect(alone).toBeGreaterThan(5 * inSmallNetwork);
  expect(inSmallNetwork).toBeGreaterThan(0);

  const stranger = await network.add();
  await stranger.close();
  node.discover({ peerId: stranger.id, enr: "", address: stranger.address });
  expect(await searchesWithin(node, MINUTE_MS)).toBeGreaterThan(1);

  await node.timers.advance(5 * MINUTE_MS);
  await other.close();
  await node.until(() => node.manager.list().length === 0);
  expect(await searchesWithin(node, MINUTE_MS)).toBeGreaterThan(2);
});
