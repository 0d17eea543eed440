import { createBeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH, SYNC_COMMITTEE_SUBNET_SIZE } from "@lodestar/params";
import { describe, expect, it, onTestFinished } from "vitest";
import { VirtualClock } from "../../chain/clock/virtual-clock.ts";
import { Custody } from "../../chain/data/custody.ts";
import { CommitteeSubscriptions } from "../../chain/subscriptions/committee-subscriptions.ts";
import { SyncSubscriptions } from "../../chain/subscriptions/sync-subscriptions.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { LocalNode } from "../local-node.ts";
import { SubnetManager } from "./subnet-manager.ts";
import { computeSubscribedSubnets } from "./subscribed-subnets.ts";

const FORKS = [
  { fork: "electra" as const, epoch: 0 },
  { fork: "fulu" as const, epoch: 3 },
];
const config = createBeaconConfig(devChainConfig({ forks: FORKS, slotSeconds: 6, genesisTime: 0 }), new Uint8Array(32));
const nodeId = new Uint8Array(32).fill(0x5a);
const longLived = computeSubscribedSubnets(config, nodeId, 0);

/** With one committee per slot, a slot's subnet equals the slot's position in the epoch. */
const interest = (slot: number, isAggregator: boolean) => ({
  slot,
  committeeIndex: 0,
  committeesAtSlot: 1,
  isAggregator,
});

function setUp() {
  const clock = new VirtualClock({
    genesisTime: 0,
    secondsPerSlot: 6,
    startSlot: 0,
    speed: 1,
    onListenerError: (error) => {
      throw error;
    },
  });
  const subscriptions = new CommitteeSubscriptions();
  const syncSubscriptions = new SyncSubscriptions();
  const node = new LocalNode({ key: new Uint8Array(32).fill(9), config, clock });
  const custody = new Custody(config, { nodeId });
  const joined = { attestation: [] as number[][], sync: [] as number[][], columns: [] as number[][] };
  const topics = {
    setAttestationSubnets: (subnets: ReadonlySet<number>) =>
      void joined.attestation.push([...subnets].sort(numerically)),
    setSyncSubnets: (subnets: ReadonlySet<number>) => void joined.sync.push([...subnets].sort(numerically)),
    setColumnSubnets: (subnets: ReadonlySet<number>) => void joined.columns.push([...subnets]),
  };
  const manager = new SubnetManager({
    chain: { config, clock, subscriptions, syncSubscriptions, data: { custody } },
    node,
    nodeId,
    topics,
  });
  manager.start();
  onTestFinished(() => manager.close());
  onTestFinished(() => clock.stop());
  return { clock, subscriptions, syncSubscriptions, custody, node, joined, manager };
}

const numerically = (a: number, b: number) => a - b;
const withLasting = (...subnets: number[]) => [...new Set([...longLived, ...subnets])].sort(numerically);

describe("SubnetManager", () => {
  it("joins and announces the long-lived subnets of the node id", () => {
    const { node, joined, manager } = setUp();
    expect(joined).toMatchObject({ attestation: [withLasting()], sync: [] });
    expect(node.metadata.attnets.getTrueBitIndexes()).toEqual(withLasting());
    expect(manager.wantedAttestation()).toEqual(new Set(longLived));
  });

  it("joins subnets of aggregators until their slot has passed, without announcing them", async () => {
    const { clock, subscriptions, node, joined } = setUp();
    const before = node.metadata;
    subscriptions.add(interest(3, true));
    subscriptions.add(interest(4, true));
    subscriptions.add(interest(5, false));
    await Promise.resolve();
    expect(joined.attestation).toEqual([withLasting(), withLasting(3, 4)]);
    await clock.advanceTo(3);
    expect(joined.attestation.length).toBe(2);
    await clock.advanceTo(4);
    expect(joined.attestation.at(-1)).toEqual(withLasting(4));
    await clock.advanceTo(5);
    expect(joined.attestation.at(-1)).toEqual(withLasting());
    expect(node.metadata).toEqual(before);
  });

  it("wants peers on subnets where an attestation is published soon", async () => {
    const { clock, subscriptions, manager } = setUp();
    subscriptions.add(interest(5, false));
    expect(manager.wantedAttestation().has(5)).toBe(false);
    await clock.advanceTo(4);
    expect(manager.wantedAttestation()).toEqual(new Set(withLasting(5)));
    await clock.advanceTo(6);
    expect(manager.wantedAttestation()).toEqual(new Set(longLived));
  });

  it("joins and announces sync committee subnets until their epoch", async () => {
    const { clock, syncSubscriptions, node, joined, manager } = setUp();
    syncSubscriptions.add([0, 2 * SYNC_COMMITTEE_SUBNET_SIZE], 1);
    syncSubscriptions.add([1], 2);
    await Promise.resolve();
    expect(joined.sync).toEqual([[0, 2]]);
    expect(node.metadata.syncnets.getTrueBitIndexes()).toEqual([0, 2]);
    expect(manager.wantedSync()).toEqual(new Set([0, 2]));
    await clock.advanceTo(SLOTS_PER_EPOCH);
    expect(joined.sync.at(-1)).toEqual([0]);
    await clock.advanceTo(2 * SLOTS_PER_EPOCH);
    expect(joined.sync).toEqual([[0, 2], [0], []]);
    expect(node.metadata.syncnets.getTrueBitIndexes()).toEqual([]);
  });

  it("joins the subnets of sampled columns, and wants peers shortly before fulu", async () => {
    const { clock, custody, joined, manager } = setUp();
    expect(joined.columns).toEqual([custody.sampled]);
    expect(custody.sampled).toHaveLength(8);
    custody.raiseTo(20);
    await Promise.resolve();
    expect(joined.columns[1]).toHaveLength(20);
    await clock.advanceTo(2 * SLOTS_PER_EPOCH - 1);
    expect(manager.wantedColumns().size).toBe(0);
    await clock.advanceTo(2 * SLOTS_PER_EPOCH);
    expect(manager.wantedColumns()).toEqual(new Set(custody.sampled));
  });

  it("stops updating after close", async () => {
    const { subscriptions, joined, manager } = setUp();
    subscriptions.add(interest(3, true));
    manager.close();
    subscriptions.add(interest(4, true));
    await Promise.resolve();
    expect(joined.attestation).toEqual([withLasting()]);
  });
});
