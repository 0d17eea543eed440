import { createBeaconConfig } from "@lodestar/config";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { ScheduledFork } from "../../dev/forks.ts";
import { activeForkBoundaries, GossipTopics, type TopicKind } from "./topics.ts";

const ROOT = new Uint8Array(32).fill(7);

function configOf(forks: readonly ScheduledFork[]) {
  return createBeaconConfig(devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 }), ROOT);
}

/** `compute_fork_digest` from phase0/p2p-interface.md, as before fulu. */
function digestOf(version: Uint8Array): string {
  const root = ssz.phase0.ForkData.hashTreeRoot({ currentVersion: version, genesisValidatorsRoot: ROOT });
  return Buffer.from(root.subarray(0, 4)).toString("hex");
}

const CONFIG = configOf([
  { fork: "altair", epoch: 4 },
  { fork: "bellatrix", epoch: 8 },
  { fork: "capella", epoch: 9 },
]);

describe("topics", () => {
  const topics = new GossipTopics(CONFIG);

  it("are named by their fork digest", () => {
    const phase0 = digestOf(CONFIG.GENESIS_FORK_VERSION);
    const altair = digestOf(CONFIG.ALTAIR_FORK_VERSION);
    expect(topics.at(3, "beacon_block")?.name).toBe(`/eth2/${phase0}/beacon_block/ssz_snappy`);
    expect(topics.at(4, "beacon_block")?.name).toBe(`/eth2/${altair}/beacon_block/ssz_snappy`);
    expect(topics.at(4, "beacon_attestation", 63)?.name).toBe(`/eth2/${altair}/beacon_attestation_63/ssz_snappy`);
    expect(topics.at(4, "sync_committee", 3)?.name).toBe(`/eth2/${altair}/sync_committee_3/ssz_snappy`);
  });

  it("are parsed only in their canonical form", () => {
    const name = topics.at(4, "beacon_attestation", 5)!.name;
    expect(topics.get(name)).toMatchObject({ kind: "beacon_attestation", subnet: 5, boundary: { fork: "altair" } });
    for (const wrong of [name.replace("_5/", "_05/"), name.replace("_5/", "_64/"), name.toUpperCase(), `${name}/`]) {
      expect(topics.get(wrong)).toBeUndefined();
    }
  });

  it.each<[TopicKind, number | undefined]>([
    ["voluntary_exit", 0],
    ["sync_committee_contribution_and_proof", 4],
    ["bls_to_execution_change", 9],
  ])("of %s exist from epoch %i on", (kind, epoch) => {
    expect([0, 3, 4, 8, 9].find((at) => topics.at(at, kind) !== undefined)).toBe(epoch);
  });

  it("of a new fork are joined one epoch before it, and those of the old fork left two epochs after it", () => {
    const inForce = (epoch: number) => activeForkBoundaries(CONFIG, epoch).map(({ fork }) => fork);
    expect(inForce(2)).toEqual(["phase0"]);
    expect(inForce(3)).toEqual(["phase0", "altair"]);
    expect(inForce(5)).toEqual(["phase0", "altair"]);
    expect(inForce(6)).toEqual(["altair"]);
    expect(inForce(9)).toEqual(["altair", "bellatrix", "capella"]);
    expect(inForce(11)).toEqual(["capella"]);
  });

  it("change with the blob parameters within a fork", () => {
    const BLOB_SCHEDULE = [{ EPOCH: 5, MAX_BLOBS_PER_BLOCK: 12 }];
    const fulu = devChainConfig({ forks: [{ fork: "fulu", epoch: 0 }], slotSeconds: 2, genesisTime: 0 });
    const config = createBeaconConfig({ ...fulu, BLOB_SCHEDULE }, ROOT);
    const ofBlocks = (epoch: number) => new GossipTopics(config).at(epoch, "beacon_block")!;
    expect(ofBlocks(5).name).not.toBe(ofBlocks(4).name);
    expect(ofBlocks(5).boundary).toEqual({ fork: "fulu", epoch: 5 });
    expect(activeForkBoundaries(config, 4).map(({ epoch }) => epoch)).toEqual([0, 5]);
    expect(activeForkBoundaries(config, 7).map(({ epoch }) => epoch)).toEqual([5]);
  });

  it("of blobs exist in deneb and electra, and of columns since fulu", () => {
    const config = configOf([
      { fork: "deneb", epoch: 1 },
      { fork: "electra", epoch: 2 },
      { fork: "fulu", epoch: 3 },
    ]);
    const topics = new GossipTopics(config);
    const counts = (kind: TopicKind) => [0, 1, 2, 3].map((epoch) => topics.allAt(epoch, kind).length);
    expect(counts("blob_sidecar")).toEqual([0, 6, 9, 0]);
    expect(counts("data_column_sidecar")).toEqual([0, 0, 0, 128]);
    expect(counts("beacon_block")).toEqual([1, 1, 1, 1]);
    expect(topics.at(1, "blob_sidecar", 6)).toBeUndefined();
    expect(topics.at(2, "blob_sidecar", 6)?.name).toMatch(/\/blob_sidecar_6\/ssz_snappy$/);
    expect(topics.at(3, "data_column_sidecar", 127)?.name).toMatch(/\/data_column_sidecar_127\/ssz_snappy$/);
  });

  it("are those of the last fork if all start at genesis", () => {
    const config = configOf([{ fork: "deneb", epoch: 0 }]);
    expect(activeForkBoundaries(config, 0).map(({ fork }) => fork)).toEqual(["deneb"]);
    const digests = new Set([...new GossipTopics(config).all()].map(({ name }) => name.split("/")[2]));
    expect([...digests]).toEqual([digestOf(config.DENEB_FORK_VERSION)]);
  });
});
