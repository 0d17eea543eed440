import { ENR, SignableENR } from "@chainsafe/enr";
import { BitArray } from "@chainsafe/ssz";
import { type ChainConfig, createBeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { ScheduledFork } from "../../dev/forks.ts";
import { LocalNode } from "../local-node.ts";
import { toDiscoveredPeer } from "./discovered-peer.ts";

const KEY = new Uint8Array(32).fill(3);
const FORKS: ScheduledFork[] = [
  { fork: "altair", epoch: 2 },
  { fork: "bellatrix", epoch: 6 },
];

function configOf(forks: ScheduledFork[], genesis = 1, overrides: Partial<ChainConfig> = {}) {
  const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime: 0 });
  return createBeaconConfig({ ...chainConfig, ...overrides }, new Uint8Array(32).fill(genesis));
}

/** Returns the ENR that a different node signs in an epoch. */
async function recordAt(epoch: number, config = configOf(FORKS)): Promise<ENR> {
  const node = new LocalNode({ key: KEY, config, clock: { currentSlot: epoch * SLOTS_PER_EPOCH } });
  node.announce({ attnets: BitArray.fromSingleBit(64, 7) });
  node.setAddresses({ ip: "10.0.0.9", tcp: 9000, udp: 9001, p2pAddresses: [], discoveryAddresses: [] });
  return ENR.decodeTxt(await node.enrText());
}

describe("toDiscoveredPeer", () => {
  const config = configOf(FORKS);
  const isForUs = async (record: Promise<ENR>, epoch: number) => toDiscoveredPeer(await record, config, epoch) !== null;

  it("returns the address and the subnets", async () => {
    const record = await recordAt(2);
    const found = toDiscoveredPeer(record, config, 2)!;
    expect(found.address).toBe(`/ip4/10.0.0.9/tcp/9000/p2p/${record.peerId}`);
    expect(found.attnets?.getTrueBitIndexes()).toEqual([7]);
    expect(found.syncnets?.getTrueBitIndexes()).toEqual([]);
    expect(found.enr).toBe(record.encodeTxt());
  });

  it("accepts our fork, a previous fork that announces ours, and the next fork shortly before it starts", async () => {
    expect(await isForUs(recordAt(0), 1)).toBe(true);
    expect(await isForUs(recordAt(1), 2)).toBe(true);
    expect(await isForUs(recordAt(1), 7)).toBe(true);
    expect(await isForUs(recordAt(6), 5)).toBe(true);
    expect(await isForUs(recordAt(6), 4)).toBe(false);
  });

  it("rejects other chains and chains with other forks", async () => {
    expect(await isForUs(recordAt(0, configOf(FORKS, 2)), 0)).toBe(false);
    const elsewhere = configOf([{ fork: "altair", epoch: 3 }]);
    expect(await isForUs(recordAt(0, elsewhere), 1)).toBe(true);
    expect(await isForUs(recordAt(0, elsewhere), 2)).toBe(false);
    expect(await isForUs(recordAt(0, elsewhere), 4)).toBe(false);
  });

  it("reads the custody group count and checks the next fork digest since fulu", async () => {
    const withBlobs = (MAX_BLOBS_PER_BLOCK: number) =>
      configOf([{ fork: "fulu", epoch: 1 }], 1, { BLOB_SCHEDULE: [{ EPOCH: 3, MAX_BLOBS_PER_BLOCK }] });
    const config = withBlobs(12);
    const same = await recordAt(2, config);
    expect(toDiscoveredPeer(same, config, 2)?.custodyGroupCount).toBe(config.CUSTODY_REQUIREMENT);
    expect(toDiscoveredPeer(same, config, 3)).not.toBeNull();
    const other = await recordAt(2, withBlobs(15));
    expect(toDiscoveredPeer(other, config, 2)).not.toBeNull();
    expect(toDiscoveredPeer(other, config, 3)).toBeNull();
  });

  it.each<[string, Record<string, Uint8Array>]>([
    ["no fork", { eth2: new Uint8Array() }],
    ["a fork of a wrong length", { eth2: new Uint8Array(15) }],
    ["subnets of a wrong length", { attnets: new Uint8Array(9) }],
    ["an address of a wrong length", { ip: new Uint8Array(5).fill(9) }],
    ["an unspecified address", { ip: new Uint8Array(4) }],
    ["a multicast address", { ip: Uint8Array.of(224, 0, 0, 1) }],
    ["port 0", { tcp: new Uint8Array(2) }],
    ["a port of three bytes", { tcp: Uint8Array.of(0, 1, 2) }],
  ])("is not for us with %s", async (_, nonsense) => {
    const { kvs } = await recordAt(2);
    const record = new SignableENR(new Map([...kvs, ...Object.entries(nonsense)]), 1n, KEY).toENR();
    expect(toDiscoveredPeer(record, config, 2)).toBeNull();
  });

  it.each(["10.0.0.9", "127.0.0.1", "169.254.169.254", "192.168.0.1"])(
    "drops the address %s on a public network, unless there is a global one too",
    async (ip) => {
      const { kvs } = await recordAt(2);
      const record = new SignableENR(kvs, 1n, KEY);
      record.ip = ip;
      const found = () => toDiscoveredPeer(record.toENR(), config, 2, { onlyGlobal: true });
      expect(found()).toBeNull();
      expect(toDiscoveredPeer(record.toENR(), config, 2)).not.toBeNull();
      record.ip6 = "2a00::1";
      record.tcp6 = 9000;
      expect(found()?.address).toMatch(/^\/ip6\/2a00:0:0:0:0:0:0:1\/tcp\/9000\//);
      record.ip = "8.8.8.8";
      expect(found()?.address).toMatch(/^\/ip4\/8\.8\.8\.8\//);
    },
  );

  it("accepts an IPv6 address", () => {
    const eth2 = ssz.phase0.ENRForkID.serialize({
      forkDigest: config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(2)),
      nextForkVersion: config.BELLATRIX_FORK_VERSION,
      nextForkEpoch: 6,
    });
    const record = SignableENR.createV4(KEY, { eth2 });
    expect(toDiscoveredPeer(record.toENR(), config, 2)).toBeNull();
    record.ip6 = "fd00::1:2";
    record.tcp6 = 80;
    expect(toDiscoveredPeer(record.toENR(), config, 2)?.address).toMatch(
      /^\/ip6\/fd00:0:0:0:0:0:1:2\/tcp\/80\/p2p\/16U/,
    );
  });
});
