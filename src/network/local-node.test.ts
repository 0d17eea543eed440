import { ENR } from "@chainsafe/enr";
import { BitArray } from "@chainsafe/ssz";
import { type BeaconConfig, type ChainConfig, createBeaconConfig } from "@lodestar/config";
import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../dev/chain-config.ts";
import type { ScheduledFork } from "../dev/forks.ts";
import { LocalNode } from "./local-node.ts";

const KEY = new Uint8Array(32).fill(7);
const LADDER: ScheduledFork[] = [
  { fork: "altair", epoch: 1 },
  { fork: "bellatrix", epoch: 2 },
  { fork: "capella", epoch: 3 },
  { fork: "deneb", epoch: 4 },
  { fork: "electra", epoch: 5 },
  { fork: "fulu", epoch: 6 },
];

function configOf(forks: ScheduledFork[], overrides: Partial<ChainConfig>): BeaconConfig {
  const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime: 1_700_000_000 });
  return createBeaconConfig({ ...chainConfig, ...overrides }, new Uint8Array(32).fill(3));
}

function nodeAt(epoch: number, forks: ScheduledFork[], overrides: Partial<ChainConfig> = {}) {
  const clock = { currentSlot: epoch * SLOTS_PER_EPOCH };
  const config = configOf(forks, overrides);
  return { config, clock, node: new LocalNode({ key: KEY, config, clock }) };
}

async function recordOf(node: LocalNode): Promise<ENR> {
  return ENR.decodeTxt((await node.identity()).enr);
}

const eth2Of = (record: ENR) => ssz.phase0.ENRForkID.deserialize(record.kvs.get("eth2")!);

describe("a local node", () => {
  it("has the same id by its key and by its record, and is found nowhere", async () => {
    const { node } = nodeAt(0, []);
    const { peerId, p2pAddresses, discoveryAddresses } = await node.identity();
    const record = await recordOf(node);
    expect(peerId).toMatch(/^16Uiu2/);
    expect(record.peerId.toString()).toBe(peerId);
    expect([record.ip, record.ip6, record.tcp, record.udp]).toEqual([undefined, undefined, undefined, undefined]);
    expect([...p2pAddresses, ...discoveryAddresses]).toEqual([]);
  });

  it("announces the fork in force and the next one, of several in one epoch the last", async () => {
    const { config, node } = nodeAt(1, LADDER, { BELLATRIX_FORK_EPOCH: 3 });
    const { forkDigest, nextForkVersion, nextForkEpoch } = eth2Of(await recordOf(node));
    expect(toHex(forkDigest)).toBe(toHex(config.forkBoundary2ForkDigest({ fork: ForkName.altair, epoch: 1 })));
    expect(toHex(nextForkVersion)).toBe(toHex(config.CAPELLA_FORK_VERSION));
    expect(nextForkEpoch).toBe(3);
  });

  it("announces a change of blob parameters as the next fork, with the version in force", async () => {
    const change = { EPOCH: 8, MAX_BLOBS_PER_BLOCK: 12 };
    const { config, node } = nodeAt(6, LADDER, { BLOB_SCHEDULE: [change] });
    const record = await recordOf(node);
    expect(eth2Of(record).nextForkEpoch).toBe(8);
    expect(toHex(eth2Of(record).nextForkVersion)).toBe(toHex(config.FULU_FORK_VERSION));
    const digest = config.forkBoundary2ForkDigest({ fork: ForkName.fulu, epoch: 8 });
    expect(toHex(record.kvs.get("nfd")!)).toBe(toHex(digest));
    expect(toHex(digest)).not.toBe(toHex(eth2Of(record).forkDigest));
  });

  it("says that no fork is planned by the version in force", async () => {
    const { config, node } = nodeAt(9, LADDER);
    const record = await recordOf(node);
    expect(toHex(record.kvs.get("eth2")!.subarray(8))).toBe("0xffffffffffffffff");
    expect(toHex(eth2Of(record).nextForkVersion)).toBe(toHex(config.FULU_FORK_VERSION));
    expect(toHex(record.kvs.get("nfd")!)).toBe("0x00000000");
  });

  it("has the entries of its fork, and those of fulu as soon as that is planned", async () => {
    const keysAt = async (epoch: number, forks: ScheduledFork[]) => [
      ...(await recordOf(nodeAt(epoch, forks).node)).kvs.keys(),
    ];
    expect(await keysAt(0, [])).toEqual(["attnets", "eth2", "id", "secp256k1"]);
    expect(await keysAt(1, LADDER.slice(0, 1))).toEqual(["attnets", "eth2", "id", "secp256k1", "syncnets"]);
    expect(await keysAt(0, LADDER)).toEqual(["attnets", "cgc", "eth2", "id", "nfd", "secp256k1"]);
    const fulu = await recordOf(nodeAt(6, LADDER).node);
    expect(fulu.kvs.get("cgc")).toEqual(Uint8Array.of(4));
    expect(fulu.kvs.get("attnets")).toEqual(new Uint8Array(8));
    expect(fulu.kvs.get("syncnets")).toEqual(new Uint8Array(1));
  });

  it("signs a new record with a higher number when a fork comes", async () => {
    const { clock, node } = nodeAt(0, LADDER);
    const before = await recordOf(node);
    clock.currentSlot = SLOTS_PER_EPOCH - 1;
    expect((await node.identity()).enr).toBe(before.encodeTxt());
    clock.currentSlot = SLOTS_PER_EPOCH;
    const after = await recordOf(node);
    expect(after.seq).toBe(before.seq + 1n);
    expect(eth2Of(after).forkDigest).not.toEqual(eth2Of(before).forkDigest);
    expect(after.nodeId).toBe(before.nodeId);
  });

  it("raises the number of its metadata and its record when its subnets change, and only then", async () => {
    const { node } = nodeAt(6, LADDER);
    const before = { ...(await node.identity()), record: await recordOf(node) };
    expect(before.metadata.seqNumber).toBe(0n);

    node.announce({ attnets: BitArray.fromBitLen(64) });
    expect((await node.identity()).enr).toBe(before.enr);

    const attnets = BitArray.fromSingleBit(64, 9);
    node.announce({ attnets });
    const { metadata } = await node.identity();
    expect(metadata.seqNumber).toBe(1n);
    expect(metadata.attnets.get(9)).toBe(true);
    const record = await recordOf(node);
    expect(record.seq).toBe(before.record.seq + 1n);
    expect(record.kvs.get("attnets")).toEqual(attnets.uint8Array);

    node.announce({ custodyGroupCount: 0 });
    expect((await recordOf(node)).kvs.get("cgc")).toEqual(new Uint8Array());
    node.announce({ custodyGroupCount: 300 });
    expect((await recordOf(node)).kvs.get("cgc")).toEqual(Uint8Array.of(1, 44));
  });
});
