import { ENR } from "@chainsafe/enr";
import { BitArray } from "@chainsafe/ssz";
import { type BeaconConfig, type ChainConfig, createBeaconConfig } from "@lodestar/config";
import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { describe, expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../test/support/directories/removable-directory.ts";
import { Custody } from "../chain/data/custody.ts";
import { openDatabase } from "../db/open-database.ts";
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

describe("LocalNode", () => {
  it("derives the same id from its key and its ENR, and has no addresses before it listens", async () => {
    const { node } = nodeAt(0, []);
    const { peerId, p2pAddresses, discoveryAddresses } = await node.identity();
    const record = await recordOf(node);
    expect(peerId).toMatch(/^16Uiu2/);
    expect(record.peerId.toString()).toBe(peerId);
    expect([record.ip, record.ip6, record.tcp, record.udp]).toEqual([undefined, undefined, undefined, undefined]);
    expect([...p2pAddresses, ...discoveryAddresses]).toEqual([]);
  });

  it("announces the current fork and the next one, the last of several in one epoch", async () => {
    const { config, node } = nodeAt(1, LADDER, { BELLATRIX_FORK_EPOCH: 3 });
    const { forkDigest, nextForkVersion, nextForkEpoch } = eth2Of(await recordOf(node));
    expect(toHex(forkDigest)).toBe(toHex(config.forkBoundary2ForkDigest({ fork: ForkName.altair, epoch: 1 })));
    expect(toHex(nextForkVersion)).toBe(toHex(config.CAPELLA_FORK_VERSION));
    expect(nextForkEpoch).toBe(3);
  });

  it("announces a change of blob parameters as the next fork with the current version", async () => {
    const change = { EPOCH: 8, MAX_BLOBS_PER_BLOCK: 12 };
    const { config, node } = nodeAt(6, LADDER, { BLOB_SCHEDULE: [change] });
    const record = await recordOf(node);
    expect(eth2Of(record).nextForkEpoch).toBe(8);
    expect(toHex(eth2Of(record).nextForkVersion)).toBe(toHex(config.FULU_FORK_VERSION));
    const digest = config.forkBoundary2ForkDigest({ fork: ForkName.fulu, epoch: 8 });
    expect(toHex(record.kvs.get("nfd")!)).toBe(toHex(digest));
    expect(toHex(digest)).not.toBe(toHex(eth2Of(record).forkDigest));
  });

  it("announces the current version as next if no fork is scheduled", async () => {
    const { config, node } = nodeAt(9, LADDER);
    const record = await recordOf(node);
    expect(toHex(record.kvs.get("eth2")!.subarray(8))).toBe("0xffffffffffffffff");
    expect(toHex(eth2Of(record).nextForkVersion)).toBe(toHex(config.FULU_FORK_VERSION));
    expect(toHex(record.kvs.get("nfd")!)).toBe("0x00000000");
  });

  it("has the ENR entries of its fork, and those of fulu once it is scheduled", async () => {
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

  it("signs an ENR with a higher sequence number at a fork", async () => {
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

  it("increases the sequence numbers only when its subnets change", async () => {
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

  it("announces its custody group count and its increases", async () => {
    const { config, node } = nodeAt(6, LADDER);
    const custody = new Custody(config, { nodeId: await node.nodeId(), groupCount: 8 });
    node.followCustody(custody);
    expect(node.metadata.custodyGroupCount).toBe(8);
    custody.raiseTo(128);
    expect(node.metadata).toMatchObject({ custodyGroupCount: 128, seqNumber: 2n });
    expect((await recordOf(node)).kvs.get("cgc")).toEqual(Uint8Array.of(128));
  });

  it("has its listening addresses in its ENR and identity, except unspecified ones", async () => {
    const { node } = nodeAt(0, []);
    const lists = {
      p2pAddresses: ["/ip4/10.1.2.3/tcp/9000/p2p/x"],
      discoveryAddresses: ["/ip4/10.1.2.3/udp/9001/p2p/x"],
    };
    node.setAddresses({ ip: "10.1.2.3", tcp: 9000, udp: 9001, ...lists });
    expect(await node.identity()).toMatchObject(lists);
    const locationOf = ({ ip, tcp, udp, ip6, tcp6, udp6 }: ENR) => [ip, tcp, udp, ip6, tcp6, udp6];
    expect(locationOf(await recordOf(node))).toEqual(["10.1.2.3", 9000, 9001, undefined, undefined, undefined]);
    node.setAddresses({ ip: "fd00::7", tcp: 1, ...lists });
    expect(locationOf(await recordOf(node))).toEqual([undefined, undefined, undefined, "fd00::7", 1, undefined]);
    node.setAddresses({ ip: "0.0.0.0", tcp: 1, udp: 2, ...lists });
    expect(locationOf(await recordOf(node))).toEqual([undefined, 1, 2, undefined, undefined, undefined]);
    node.setAddresses({ ip: "::", tcp: 1, udp: 2, ...lists });
    expect(locationOf(await recordOf(node))).toEqual([undefined, undefined, undefined, undefined, 1, 2]);
  });

  it("notifies of each new ENR once, after its sequence number is stored", async () => {
    const { node } = nodeAt(0, []);
    const received: string[] = [];
    const end = node.onEnrChange((text) => received.push(text));
    const first = await node.enrText();
    node.announce({ attnets: BitArray.fromSingleBit(64, 1) });
    node.announce({ attnets: BitArray.fromSingleBit(64, 1) });
    const second = await node.enrText();
    expect(received).toEqual([first, second]);
    end();
    node.announce({ attnets: BitArray.fromSingleBit(64, 2) });
    await node.enrText();
    expect(received.length).toBe(2);
  });
});

describe("LocalNode after a restart", () => {
  const attnets = BitArray.fromSingleBit(64, 9);

  async function setUp() {
    const { path, remove } = removableDirectory();
    onTestFinished(remove);
    const { config, clock } = nodeAt(0, LADDER);
    return async (work: (node: LocalNode, clock: { currentSlot: number }) => void | Promise<void> = () => {}) => {
      const db = await openDatabase(path, { sync: false });
      try {
        const node = await LocalNode.open({ key: KEY, config, clock, db });
        await work(node, clock);
        const { enr, metadata } = await node.identity();
        return { enr, metadata, seq: ENR.decodeTxt(enr).seq };
      } finally {
        await db.close();
      }
    };
  }

  it("restores its ENR and metadata", async () => {
    const run = await setUp();
    const before = await run((node) => node.announce({ attnets }));
    const after = await run();
    expect(after).toEqual(before);
    expect(after.metadata.attnets.get(9)).toBe(true);
    expect(await run((node) => node.announce({ attnets }))).toEqual(before);
  });

  it("clears its announced subnets when it joins none", async () => {
    const run = await setUp();
    const before = await run((node) => node.announce({ attnets, syncnets: BitArray.fromSingleBit(4, 1) }));
    const { metadata, enr, seq } = await run((node) => node.leaveSubnets());
    expect([...metadata.attnets.getTrueBitIndexes(), ...metadata.syncnets.getTrueBitIndexes()]).toEqual([]);
    expect(metadata.seqNumber).toBe(before.metadata.seqNumber + 1n);
    expect(seq).toBe(before.seq + 1n);
    expect(ENR.decodeTxt(enr).kvs.get("attnets")).toEqual(new Uint8Array(8));
  });

  it("never announces less custody than before", async () => {
    const run = await setUp();
    const before = await run((node) => node.announce({ custodyGroupCount: 17 }));
    expect(await run()).toEqual(before);
    expect(before.metadata.custodyGroupCount).toBe(17);
  });

  it("never reuses a sequence number for another ENR", async () => {
    const run = await setUp();
    const records = [
      await run(),
      await run((node) => node.setAddresses({ ip: "10.0.0.1", tcp: 1, p2pAddresses: [], discoveryAddresses: [] })),
      await run((node) => node.announce({ attnets })),
      await run((_, clock) => {
        clock.currentSlot = SLOTS_PER_EPOCH;
      }),
      await run((node) => node.announce({ attnets: BitArray.fromBitLen(64) })),
      await run(async (node) => {
        node.announce({ attnets });
        await node.enrText();
        node.announce({ syncnets: BitArray.fromSingleBit(4, 1) });
      }),
    ];
    const numbers = records.map(({ seq }) => seq);
    expect(new Set(records.map(({ enr }) => enr)).size).toBe(records.length);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => Number(a - b)));
    expect(records.map(({ metadata }) => metadata.seqNumber)).toEqual([0n, 0n, 1n, 1n, 2n, 4n]);
  });
});
