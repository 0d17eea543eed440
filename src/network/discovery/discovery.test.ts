import { createSocket } from "node:dgram";
import { ENR } from "@chainsafe/enr";
import { BitArray } from "@chainsafe/ssz";
import { type BeaconConfig, createBeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { LocalNode } from "../local-node.ts";
import type { DiscoveredPeer } from "../peers/connector.ts";
import { Discovery } from "./discovery.ts";

const CONFIG = configWithGenesis(1);

function configWithGenesis(byte: number): BeaconConfig {
  const forks = [{ fork: "altair" as const, epoch: 1 }];
  const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime: 1_700_000_000 });
  return createBeaconConfig(chainConfig, new Uint8Array(32).fill(byte));
}

class TestClock {
  currentSlot = 0;
  readonly #listeners = new Set<(slot: number) => void | Promise<void>>();

  get currentEpoch(): number {
    return Math.floor(this.currentSlot / SLOTS_PER_EPOCH);
  }

  onSlot(listener: (slot: number) => void | Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async advanceTo(slot: number): Promise<void> {
    this.currentSlot = slot;
    await Promise.all([...this.#listeners].map((listener) => listener(slot)));
  }
}

interface TestNode {
  discovery: Discovery;
  node: LocalNode;
  clock: TestClock;
  udp: number;
}

let keys = 0;

async function startNode(
  bootnodes: string[] = [],
  config = CONFIG,
  address = "127.0.0.1",
  readBootnodes?: () => readonly string[],
): Promise<TestNode> {
  const key = new Uint8Array(32).fill(++keys);
  const clock = new TestClock();
  const node = new LocalNode({ key, config, clock });
  const bind = { address, port: 0 };
  const logger = createRecordingLogger();
  const discovery = new Discovery({
    key,
    node,
    bind,
    bootnodes,
    readBootnodes,
    config,
    clock,
    logger,
    betweenLookupsMs: 20,
  });
  const udp = await discovery.start();
  onTestFinished(() => discovery.close());
  node.setAddresses({ ip: bind.address, tcp: 9000 + keys, udp, p2pAddresses: [], discoveryAddresses: [] });
  await node.enrText();
  return { discovery, node, clock, udp };
}

/** Runs lookups until the expected peer has been discovered. Returns all discovered peers. */
function searchUntil(
  { discovery }: TestNode,
  isAwaited: (found: DiscoveredPeer) => boolean,
): Promise<DiscoveredPeer[]> {
  const all: DiscoveredPeer[] = [];
  return new Promise((resolve) => {
    const again = setInterval(() => discovery.search(), 20);
    const end = discovery.onDiscovered((found) => {
      all.push(found);
      if (!isAwaited(found)) return;
      clearInterval(again);
      end();
      resolve(all);
    });
    discovery.search();
  });
}

describe("discovery", () => {
  it("drops private addresses on a public network, except those of bootnodes", async () => {
    const first = await startNode();
    const bootnode = await first.node.enrText();
    const second = await startNode([bootnode]);
    const third = await startNode([bootnode]);
    await searchUntil(second, () => true);
    const [firstId, secondId] = await Promise.all([first.node.peerId(), second.node.peerId()]);
    await searchUntil(third, ({ peerId }) => peerId === secondId);
    // This is the external address that other nodes report.
    third.node.setAddresses({ ...third.node.addresses!, ip: "8.8.8.8" });
    const found = new Set<string>();
    third.discovery.onDiscovered(({ peerId }) => found.add(peerId));
    // Nodes that are already known are reported again by each lookup.
    for (let search = 0; search < 3; search++) await searchUntil(third, ({ peerId }) => peerId === firstId);
    expect([...found]).toEqual([firstId]);
  });

  it("finds a node with its newest ENR through another one, and no node of another chain", async () => {
    const first = await startNode();
    const bootnode = await first.node.enrText();
    const second = await startNode([bootnode]);
    const stranger = await startNode([bootnode], configWithGenesis(2));
    const third = await startNode([bootnode]);
    // The first node has both in its routing table before it returns them.
    await searchUntil(second, () => true);
    await searchUntil(third, () => true);

    const secondId = await second.node.peerId();
    const found = (await searchUntil(third, ({ peerId }) => peerId === secondId)).at(-1)!;
    expect(found.address).toBe(`/ip4/127.0.0.1/tcp/${ENR.decodeTxt(found.enr).tcp}/p2p/${secondId}`);
    expect(found.enr).toBe(await second.node.enrText());
    expect(found.attnets?.getTrueBitIndexes()).toEqual([]);

    second.node.announce({ attnets: BitArray.fromSingleBit(64, 5) });
    const all = await searchUntil(third, ({ attnets }) => attnets?.get(5) === true);
    expect(all.at(-1)!.enr).toBe(await second.node.enrText());

    // At a fork, every node signs a new ENR. Old ENRs, which announce the fork, remain valid.
    for (const { clock } of [first, second, third]) await clock.advanceTo(SLOTS_PER_EPOCH);
    const afterFork = await searchUntil(third, ({ syncnets }) => syncnets !== undefined);
    const strangerId = await stranger.node.peerId();
    expect([...all, ...afterFork].map(({ peerId }) => peerId)).not.toContain(strangerId);
  });

  it("finds nodes on unspecified addresses, which learn their address from others", async () => {
    const first = await startNode();
    const bootnode = await first.node.enrText();
    const second = await startNode([bootnode], CONFIG, "0.0.0.0");
    const third = await startNode([bootnode], CONFIG, "0.0.0.0");
    const numberBefore = ENR.decodeTxt(await second.node.enrText()).seq;
    const secondId = await second.node.peerId();
    await searchUntil(second, () => true);
    const found = (await searchUntil(third, ({ peerId }) => peerId === secondId)).at(-1)!;
    const record = ENR.decodeTxt(found.enr);
    expect(record).toMatchObject({ ip: "127.0.0.1", udp: second.udp, tcp: second.node.addresses!.tcp });
    // Nothing but the node itself has increased the sequence number.
    expect(record.seq - numberBefore).toBeLessThanOrEqual(1n);
    expect(await second.node.enrText()).toBe(found.enr);
  });

  it("finds a bootnode that is added after the start", async () => {
    const first = await startNode();
    const record = await first.node.enrText();
    let times = 0;
    const late = await startNode([], CONFIG, "127.0.0.1", () => (++times > 2 ? [record] : []));
    const firstId = await first.node.peerId();
    await searchUntil(late, ({ peerId }) => peerId === firstId);
    // Once a node is known, bootnodes are not read again.
    await searchUntil(late, ({ peerId }) => peerId === firstId);
    expect(times).toBe(3);
  });

  it("rejects with the port if it is in use", async () => {
    const { udp, node, clock } = await startNode();
    const bind = { address: "127.0.0.1", port: udp };
    const logger = createRecordingLogger();
    const key = new Uint8Array(32).fill(200);
    const other = new Discovery({
      key,
      node: new LocalNode({ key, config: CONFIG, clock }),
      bind,
      bootnodes: [],
      config: CONFIG,
      clock,
      logger,
    });
    await expect(other.start()).rejects.toThrow(`UDP port ${udp}`);
    await other.close();
    expect(await node.enrText()).toMatch(/^enr:/);
  });

  it("survives invalid packets", async () => {
    const first = await startNode();
    const socket = createSocket("udp4");
    onTestFinished(() => void socket.close());
    for (const size of [0, 1, 62, 63, 200, 1280, 1281, 9000]) {
      await new Promise((resolve) => socket.send(Buffer.alloc(size, size), first.udp, "127.0.0.1", resolve));
    }
    const firstId = await first.node.peerId();
    const second = await startNode(["enr:nonsense", await first.node.enrText()]);
    await searchUntil(second, ({ peerId }) => peerId === firstId);
    const secondId = await second.node.peerId();
    await searchUntil(first, ({ peerId }) => peerId === secondId);
  });
});
