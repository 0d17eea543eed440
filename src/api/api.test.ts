import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { processSlots } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toHex, toRootHex } from "@lodestar/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { LogSpecError } from "../log/log-spec.ts";
import type { Answer } from "../server/method-table.ts";
import { type Api, createApi } from "./api.ts";
import {
  asBeaconChain,
  createFakeChain,
  type FakeChain,
  fakeNetwork,
  GENESIS_TIME,
  HEAD_SLOT,
} from "./fake-chain.test-support.ts";

async function jsonOf({ body }: Answer) {
  if (Buffer.isBuffer(body)) return JSON.parse(String(body));
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(String(Buffer.concat(chunks)));
}

let chain: FakeChain;
let api: Api;
let logSpecs: string[];

beforeEach(() => {
  chain = createFakeChain();
  logSpecs = [];
  const setLogSpec = (spec: string) => {
    if (spec === "LOUD") throw new LogSpecError("LOUD is no level.");
    logSpecs.push(spec);
  };
  api = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec });
});

describe("beacon", () => {
  it("tells the genesis, with the version of the first fork", async () => {
    expect(await jsonOf(await api.operations.beacon.getGenesis())).toEqual({
      genesis_time: String(GENESIS_TIME),
      genesis_validators_root: toRootHex(chain.genesis.validatorsRoot),
      genesis_fork_version: toHex(chain.config.GENESIS_FORK_VERSION),
    });
  });

  it("tells the root, fork and checkpoints of a state", async () => {
    const { beacon } = api.operations;
    expect(await jsonOf(await beacon.getStateRoot({ stateId: "head" }))).toEqual({
      root: toRootHex(chain.headState.hashTreeRoot()),
    });
    const version = toHex(chain.config.FULU_FORK_VERSION);
    expect(await jsonOf(await beacon.getStateFork({ stateId: "head" }))).toEqual({
      previous_version: version,
      current_version: version,
      epoch: "0",
    });
    const none = { epoch: "0", root: `0x${"00".repeat(32)}` };
    const answer = await beacon.getStateFinalityCheckpoints({ stateId: "head" });
    expect(await jsonOf(answer)).toEqual({ previous_justified: none, current_justified: none, finalized: none });
    expect(answer.meta).toEqual({ execution_optimistic: false, finalized: false });
  });

  it("tells a block, its root and its attestations", async () => {
    const { beacon } = api.operations;
    const block = await beacon.getBlockV2({ blockId: "head" });
    const json = await jsonOf(block);
    expect(toRootHex(ssz.fulu.BeaconBlock.hashTreeRoot(ssz.fulu.BeaconBlock.fromJson(json.message)))).toBe(
      chain.head.root,
    );
    expect(block.meta).toEqual({ version: "fulu", execution_optimistic: false, finalized: false });
    expect(await jsonOf(await beacon.getBlockRoot({ blockId: HEAD_SLOT }))).toEqual({ root: chain.head.root });

    const attestations = await beacon.getBlockAttestations({ blockId: "head" });
    expect(await jsonOf(attestations)).toEqual(json.message.body.attestations);
    expect(attestations.meta).toEqual({ execution_optimistic: false, finalized: false });
    expect((await beacon.getBlockAttestationsV2({ blockId: "head" })).meta).toHaveProperty("version", "fulu");
  });

  it("tells a header whose root is the block's, with the real signature", async () => {
    const { root, canonical, header } = await jsonOf(
      await api.operations.beacon.getBlockHeader({ blockId: chain.sideRoot }),
    );
    expect([root, canonical]).toEqual([chain.sideRoot, false]);
    const message = ssz.phase0.BeaconBlockHeader.fromJson(header.message);
    expect(toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(message))).toBe(root);
    expect(header.signature).toBe(`0x${"05".repeat(96)}`);
  });

  describe("lists headers", () => {
    const rootsOf = async (filter: { slot?: number; parentRoot?: string }) => {
      const headers = await jsonOf(await api.operations.beacon.getBlockHeaders(filter));
      return headers.map(({ root }: { root: string }) => root);
    };

    it("of the head's slot by default, canonical first", async () => {
      expect(await rootsOf({})).toEqual([chain.head.root, chain.sideRoot]);
    });

    it("of a slot", async () => {
      expect(await rootsOf({ slot: 0 })).toEqual([chain.genesisRoot]);
      expect(await rootsOf({ slot: 2 })).toEqual([]);
      expect(await rootsOf({ slot: Number.POSITIVE_INFINITY })).toEqual([]);
    });

    it("of children, canonical first", async () => {
      expect(await rootsOf({ parentRoot: chain.genesisRoot })).toEqual([chain.head.root, chain.sideRoot]);
      expect(await rootsOf({ parentRoot: chain.head.root })).toEqual([]);
    });

    it("by both filters at once", async () => {
      expect(await rootsOf({ parentRoot: chain.genesisRoot, slot: 3 })).toEqual([]);
      expect(await rootsOf({ parentRoot: chain.genesisRoot, slot: HEAD_SLOT })).toHaveLength(2);
    });

    it("with metadata that holds for all of them", async () => {
      expect((await api.operations.beacon.getBlockHeaders({ slot: 0 })).meta).toHaveProperty("finalized", true);
      expect((await api.operations.beacon.getBlockHeaders({ slot: 2 })).meta).toHaveProperty("finalized", false);
    });
  });
});

describe("node", () => {
  it("has no peers without a network", async () => {
    expect(await jsonOf(await api.operations.node.getPeerCount())).toEqual({
      disconnected: "0",
      connecting: "0",
      connected: "0",
      disconnecting: "0",
    });
  });

  it("tells the same version in both shapes", async () => {
    const { version } = await jsonOf(await api.operations.node.getNodeVersion());
    expect(version).toMatch(/^Fanal\/v\d+\.\d+\.\d+\/\w+-\w+$/);
    expect(await jsonOf(await api.operations.extensions.getNodeVersion())).toBe(version);
  });

  it("tells how far it is behind only while it syncs", async () => {
    const synced = { head_slot: "4", sync_distance: "0", is_syncing: false, is_optimistic: false, el_offline: false };
    expect(await jsonOf(await api.operations.node.getSyncingStatus())).toEqual(synced);
    chain.status.isSyncing = true;
    chain.status.syncDistance = 90;
    const syncing = { ...synced, sync_distance: "90", is_syncing: true };
    expect(await jsonOf(await api.operations.node.getSyncingStatus())).toEqual(syncing);
    expect(await jsonOf(await api.operations.extensions.getSyncing())).toBe(true);
  });

  it("tells whether it catches up with its peers, which is not what duties depend on", async () => {
    const sync = { isSyncing: true, syncDistance: 3 };
    const setLogSpec = () => {};
    const onNetwork = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), sync, setLogSpec });
    const { node, extensions } = onNetwork.operations;
    const attestationDataRoot = new Uint8Array(32);
    const aggregate = () =>
      onNetwork.validator.getAggregatedAttestationV2({ attestationDataRoot, slot: 4, committeeIndex: 0 });
    expect(await jsonOf(await node.getSyncingStatus())).toMatchObject({ is_syncing: true, sync_distance: "3" });
    expect(await jsonOf(await node.getHealth({}))).toEqual({ health: 206 });
    expect(await jsonOf(await extensions.getSyncing())).toBe(true);
    await expect(aggregate()).rejects.toThrow("No attestation of slot 4");

    Object.assign(sync, { isSyncing: false, syncDistance: 0 });
    Object.assign(chain.status, { isSyncing: true, syncDistance: 90 });
    expect(await jsonOf(await node.getSyncingStatus())).toMatchObject({ is_syncing: false, sync_distance: "0" });
    expect(await jsonOf(await node.getHealth({}))).toEqual({ health: 200 });
    expect(await jsonOf(await extensions.getSyncing())).toBe(false);
    await expect(aggregate()).rejects.toThrow("90 slots behind");
  });

  it.each([
    [{}, undefined, 200],
    [{}, 299, 200],
    [{ isSyncing: true }, undefined, 206],
    [{ isOptimistic: true }, undefined, 206],
    [{ executionOffline: true }, undefined, 206],
    [{ isSyncing: true }, 599, 599],
  ])("with the status %j and syncing_status %s it has the health %i", async (status, syncingStatus, health) => {
    Object.assign(chain.status, status);
    expect(await jsonOf(await api.operations.node.getHealth({ syncingStatus }))).toEqual({ health });
  });
});

describe("debug", () => {
  it("lists the leaves of fork choice in both versions", async () => {
    chain.execution = { status: "optimistic", blockHash: chain.genesisRoot, blockNumber: 1 };
    const heads = [chain.head.root, chain.sideRoot].map((root) => ({ root, slot: "4" }));
    expect(await jsonOf(await api.operations.debug.getDebugChainHeads())).toEqual(heads);
    expect(await jsonOf(await api.operations.debug.getDebugChainHeadsV2())).toEqual(
      heads.map((head) => ({ ...head, execution_optimistic: true })),
    );
  });

  it("streams a state that equals what its handler gives", async () => {
    const answer = await api.operations.debug.getStateV2({ stateId: "head" });
    expect(Buffer.isBuffer(answer.body)).toBe(false);
    expect(answer.meta).toEqual({ version: "fulu", execution_optimistic: false, finalized: false });
    const json = await jsonOf(answer);
    expect(ssz.fulu.BeaconState.hashTreeRoot(ssz.fulu.BeaconState.fromJson(json))).toEqual(
      chain.headState.hashTreeRoot(),
    );
    const { data } = await api.debug.getStateV2({ stateId: "head" }, { returnBytes: true });
    expect(ssz.fulu.BeaconState.deserializeToViewDU(data as Uint8Array).hashTreeRoot()).toEqual(
      chain.headState.hashTreeRoot(),
    );
  });
});

describe("extensions", () => {
  it("tell the head", async () => {
    const { extensions } = api.operations;
    expect(await jsonOf(await extensions.getBeaconHead())).toBe("4");
    const zero = `0x${"00".repeat(32)}`;
    expect(await jsonOf(await extensions.getChainHead())).toEqual({
      head_slot: "4",
      head_block_root: chain.head.root,
      finalized_slot: "0",
      finalized_block_root: zero,
      justified_slot: "0",
      justified_block_root: zero,
    });
  });

  it("tell the first slot of a checkpoint, not its epoch", () => {
    const state = processSlots(chain.headState, SLOTS_PER_EPOCH);
    state.currentJustifiedCheckpoint = ssz.phase0.Checkpoint.toViewDU({ epoch: 3, root: new Uint8Array(32).fill(9) });
    const head = createApi({
      chain: asBeaconChain(Object.defineProperty(createFakeChain(), "headState", { value: state })),
      network: fakeNetwork(chain),
      setLogSpec: () => {},
    }).extensions.getChainHead();
    expect(head.justified_slot).toBe(String(3 * SLOTS_PER_EPOCH));
    expect(head.justified_block_root).toBe(`0x${"09".repeat(32)}`);
  });

  it("find a block by slot, by root and by identifier, and answer null for none", async () => {
    const { getBeaconBlock } = api.operations.extensions;
    const block = await jsonOf(await api.operations.beacon.getBlockV2({ blockId: "head" }));
    for (const args of [{ slot: HEAD_SLOT }, { root: chain.head.root }, { slot: "head" }]) {
      const answer = await getBeaconBlock(args);
      expect(await jsonOf(answer)).toEqual(block);
      expect(answer.meta).toHaveProperty("version", "fulu");
    }
    expect(await jsonOf(await getBeaconBlock({ slot: 2 }))).toBeNull();
  });

  it("find a state by slot and by root, and answer null for none", async () => {
    const { getBeaconState } = api.operations.extensions;
    expect(await jsonOf(await getBeaconState({ slot: 2 }))).toHaveProperty("slot", "2");
    const root = toRootHex(chain.headState.hashTreeRoot());
    expect(await jsonOf(await getBeaconState({ root }))).toHaveProperty("slot", "4");
    expect(await jsonOf(await getBeaconState({ slot: 7 }))).toBeNull();
  });

  it.each([{}, { slot: 1, root: `0x${"00".repeat(32)}` }])("refuse %j in place of one slot or root", async (args) => {
    await expect(api.operations.extensions.getBeaconBlock(args)).rejects.toMatchObject({ kind: "invalid-params" });
    await expect(api.operations.extensions.getBeaconState(args)).rejects.toMatchObject({ kind: "invalid-params" });
  });

  it("set the log specification, and say what is wrong with one", async () => {
    const { setLogLevel } = api.operations.extensions;
    expect(await jsonOf(await setLogLevel({ logSpec: "DEBUG" }))).toBe(true);
    await expect(setLogLevel({ logSpec: "LOUD" })).rejects.toMatchObject({
      kind: "invalid-params",
      message: "LOUD is no level.",
    });
    expect(logSpecs).toEqual(["DEBUG"]);
  });

  it("set the graffiti", async () => {
    const graffiti = new Uint8Array(32).fill(7);
    expect(await jsonOf(await api.operations.extensions.setGraffiti({ graffiti }))).toBe(true);
    expect(chain.graffiti.get()).toEqual(graffiti);
  });
});
