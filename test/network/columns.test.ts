import type { RootHex } from "@lodestar/types";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ALL_COLUMNS } from "../../src/data/column-sidecars.ts";
import type { DataSidecar } from "../../src/data/sidecar.ts";
import { type BlockWithSidecars, ByHand } from "../support/chain/by-hand.ts";
import { isFullTier } from "../support/suite/tier.ts";
import { Adversary } from "./adversary/support/adversary.ts";
import { eventually, statusOf } from "./adversary/support/scenario.ts";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const VALIDATORS = 8;
/** Slots with validator duties. Afterwards only the test proposes. */
const SHARED_SLOTS = 2;
const HALF = ALL_COLUMNS.length / 2;
const ends: (() => Promise<void>)[] = [];

let network: TestNetwork;
/** The block-producing node. */
let maker: TestNode;
let light: TestNode;
let attached: TestNode;
let full: TestNode;
let followers: TestNode[];
beforeAll(async () => {
  network = new TestNetwork({
    validators: VALIDATORS,
    forks: [{ fork: "fulu", epoch: 0 }],
    cleanUp: (end) => ends.push(end),
  });
  maker = await network.add(range(0, VALIDATORS), [], {
    supernode: true,
    blobs: { min: 1, max: 1 },
    timing: "lockstep",
    restsAt: range(SHARED_SLOTS + 1, 100),
  });
  full = await network.add([], [maker], { supernode: true });
  light = await network.add([], [maker, full]);
  attached = await network.add([], [maker, full, light]);
  attached.chain.preparations.prepare(0, new Uint8Array(20), 0);
  followers = [light, attached, full];
  await network.untilConnected(3);
});
afterAll(async () => {
  for (const end of ends) await end();
});

it("nodes with minimal, partial and full custody follow a chain with blobs", async () => {
  for (let slot = 1; slot <= SHARED_SLOTS; slot++) {
    await network.clock.advanceTo(slot);
    await network.untilSameHead();
    expect(light.chain.head.slot).toBe(slot);
  }
  const kept = ({ chain }: TestNode) => chain.data.custody.columns.length;
  expect(network.nodes.map(kept)).toEqual([128, 128, 4, 8]);
  for (const { chain } of network.nodes) {
    const sidecars = await chain.data.sidecars(chain.head);
    expect(sidecars.map(({ index }) => index)).toEqual([...chain.data.custody.sampled]);
  }
  // The custody of a peer is known from its metadata.
  const ofPeers = light.networking.network.peers.list().map(({ columns }) => columns.length);
  expect(ofPeers.sort((a, b) => a - b)).toEqual([8, 128, 128]);
});

if (isFullTier) {
  it("withheld columns are reconstructed from half of them; with less, the chain continues without the block", async () => {
    await network.divide([maker]);
    const adversary = await Adversary.open({ status: () => statusOf(maker) });
    ends.unshift(() => adversary.close());
    await adversary.dial(full.address);
    await adversary.introduce();
    const byHand = new ByHand(maker);
    let slot = SHARED_SLOTS;
    const propose = async (parent: RootHex) => {
      await network.clock.advanceTo(++slot);
      return byHand.proposeWithBlobs(slot, parent);
    };
    const publish = async ({ signed, sidecars }: BlockWithSidecars, isGiven: (sidecar: DataSidecar) => boolean) => {
      await adversary.publishBlock(network.config, signed);
      await adversary.publishSidecars(network.config, sidecars.filter(isGiven));
    };

    const halved = await propose(maker.chain.head.root);
    const withheld = withheldColumns(HALF);
    const told = followers.map(columnsToldTo);
    await publish(halved, ({ index }) => !withheld.has(index));
    await eventually(() => expect(full.chain.data.pool.count(halved.root)).toBe(HALF));
    await Promise.all(followers.map((node) => untilAwaited(node, halved.root)));
    // The supernode waits for the others, then reconstructs the missing columns.
    await network.clock.advanceTo(++slot);
    await untilHead(halved.root);
    // They received it by gossip, not only by requests.
    await eventually(() => {
      for (const [i, { chain }] of followers.entries()) {
        expect([...told[i]!].sort((a, b) => a - b)).toEqual([...chain.data.custody.sampled]);
      }
    });

    const lost = await propose(halved.root);
    const tooMany = withheldColumns(HALF + 1);
    await publish(lost, ({ index }) => !tooMany.has(index));
    await eventually(() => expect(full.chain.data.pool.count(lost.root)).toBe(HALF - 1));
    await Promise.all(followers.map((node) => untilAwaited(node, lost.root)));

    const next = await propose(halved.root);
    await publish(next, () => true);
    await eventually(() => expect(full.chain.head.root).toBe(next.root));
    // Gossip forgets a message after some seconds. Columns that were verified later are not forwarded, but fetched by
    // root.
    await network.clock.advanceTo(++slot);
    await untilHead(next.root);
    expect(followers.map(({ chain }) => chain.forkChoice.has(lost.root))).toEqual([false, false, false]);
    expect(followers.map(({ chain }) => chain.isWaitingForData(lost.root))).toEqual([true, true, true]);
  });
}

/** This many columns, including all that the smaller nodes need. */
function withheldColumns(count: number): Set<number> {
  const needed = [light, attached].flatMap(({ chain }) => chain.data.custody.sampled);
  return new Set([...new Set([...needed, ...ALL_COLUMNS])].slice(0, count));
}

/** Columns that the node receives by gossip or reconstructs from now on. */
function columnsToldTo({ chain }: TestNode): Set<number> {
  const columns = new Set<number>();
  chain.events.on("columnSidecar", ({ sidecar }) => columns.add(sidecar.index));
  return columns;
}

const untilHead = (root: RootHex) =>
  eventually(() => expect(followers.map(({ chain }) => chain.head.root)).toEqual([root, root, root]));

const untilAwaited = ({ chain }: TestNode, root: RootHex) =>
  eventually(() => expect(chain.data.awaited().map((block) => block.root)).toContain(root));

/** A node with minimal custody has produced blocks with blobs while it was alone. */
async function madeAlone(slots: number) {
  const network = new TestNetwork({ validators: VALIDATORS, forks: [{ fork: "fulu", epoch: 0 }] });
  const alone = await network.add(range(0, VALIDATORS), [], {
    blobs: { min: 1, max: 1 },
    timing: "lockstep",
    restsAt: range(slots + 1, 100),
  });
  await network.clock.advanceTo(slots);
  expect(alone.chain.head.slot).toBe(slots);
  expect(alone.chain.data.custody.columns.length).toBeLessThan(HALF);
  const late = await network.add([], [alone], { supernode: true });
  await network.untilConnected();
  return { network, alone, late };
}

async function expectAllColumns({ chain }: TestNode): Promise<void> {
  const sidecars = await chain.data.sidecars(chain.head);
  expect(sidecars.map(({ index }) => index)).toEqual([...ALL_COLUMNS]);
}

it("all columns of an otherwise unknown block are fetched by root from its producer, which has minimal custody", async () => {
  const { network, alone, late } = await madeAlone(1);
  await network.clock.advanceTo(2);
  await untilAwaited(late, alone.chain.head.root);
  await network.clock.advanceTo(3);
  await network.untilSameHead();
  await expectAllColumns(late);
});

if (isFullTier) {
  it("all columns of otherwise unknown blocks are fetched by range from their producer, which has minimal custody", async () => {
    const { network, late } = await madeAlone(4);
    await network.untilSameHead();
    await expectAllColumns(late);
  });
}
