import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toHex, toRootHex } from "@lodestar/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { Caller } from "../../test/support/api/caller.ts";
import {
  asBeaconChain,
  createFakeChain,
  type FakeChain,
  fakeNetwork,
  GENESIS_TIME,
} from "../../test/support/api/fake-chain.ts";
import { FAILURES } from "../errors/failure.ts";
import { LogSpecError } from "../log/log-spec.ts";
import { type Api, createApi } from "./api.ts";
import { createMethodTable } from "./bound-methods.ts";

let chain: FakeChain;
let api: Api;
let caller: Caller;
let logSpecs: string[];

beforeEach(() => {
  chain = createFakeChain();
  logSpecs = [];
  const setLogSpec = (spec: string) => {
    if (spec === "LOUD") throw new LogSpecError("LOUD is no level.");
    logSpecs.push(spec);
  };
  api = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec });
  caller = new Caller(api);
});

describe("beacon", () => {
  it("returns the genesis with the version of the first fork", async () => {
    expect(await caller.call("get_v1_beacon_genesis")).toEqual({
      genesis_time: String(GENESIS_TIME),
      genesis_validators_root: toRootHex(chain.genesis.validatorsRoot),
      genesis_fork_version: toHex(chain.config.GENESIS_FORK_VERSION),
    });
  });

  it("returns the root, fork and checkpoints of a state", async () => {
    expect(await caller.call("get_v1_beacon_states_root", ["head"])).toEqual({
      root: toRootHex(chain.headState.hashTreeRoot()),
    });
    const version = toHex(chain.config.FULU_FORK_VERSION);
    expect(await caller.call("get_v1_beacon_states_fork", ["head"])).toEqual({
      previous_version: version,
      current_version: version,
      epoch: "0",
    });
    const none = { epoch: "0", root: `0x${"00".repeat(32)}` };
    const checkpoints = "get_v1_beacon_states_finality_checkpoints";
    expect(await caller.call(checkpoints, ["head"])).toEqual({
      previous_justified: none,
      current_justified: none,
      finalized: none,
    });
    expect(await caller.meta(checkpoints, ["head"])).toEqual({ execution_optimistic: false, finalized: false });
  });
});

describe("node", () => {
  it("has no peers without a network", async () => {
    expect(await caller.call("get_v1_node_peer_count")).toEqual({
      disconnected: "0",
      connecting: "0",
      connected: "0",
      disconnecting: "0",
    });
  });

  it("returns the same version in both formats", async () => {
    const { version } = await caller.call("get_v1_node_version");
    expect(version).toMatch(/^Fanal\/v\d+\.\d+\.\d+(-rc\.\d+)?\/\w+-\w+$/);
    expect(await caller.call("getNodeVersion")).toBe(version);
  });

  it("reports its sync distance and rejects duties only while syncing", async () => {
    const synced = { head_slot: "4", sync_distance: "0", is_syncing: false, is_optimistic: false, el_offline: false };
    const aggregate = () => caller.error("get_v2_validator_aggregate_attestation", [4, `0x${"00".repeat(32)}`, 0]);
    expect(await caller.call("get_v1_node_syncing")).toEqual(synced);
    chain.status.syncDistance = 90;
    expect(await caller.call("get_v1_node_syncing")).toEqual(synced);
    expect(await caller.call("getSyncing")).toBe(false);
    expect((await aggregate()).message).toContain("No attestation of slot 4");
    chain.status.isSyncing = true;
    expect(await caller.call("get_v1_node_syncing")).toEqual({ ...synced, sync_distance: "90", is_syncing: true });
    expect(await caller.call("getSyncing")).toBe(true);
    expect((await aggregate()).message).toContain("90 slots behind");
  });

  it.each([
    [{}, null, 200],
    [{}, 299, 200],
    [{ isSyncing: true }, null, 206],
    [{ isOptimistic: true }, null, 206],
    [{ executionOffline: true }, null, 206],
    [{ isSyncing: true }, 599, 599],
  ])("with status %j and syncing_status %s, health is %i", async (status, syncingStatus, health) => {
    Object.assign(chain.status, status);
    expect(await caller.call("get_v1_node_health", [syncingStatus])).toEqual({ health });
  });
});

describe("debug", () => {
  it("lists the leaves of fork choice in both versions", async () => {
    chain.execution = { status: "optimistic", blockHash: chain.genesisRoot, blockNumber: 1 };
    const heads = [chain.head.root, chain.sideRoot].map((root) => ({ root, slot: "4" }));
    expect(await caller.call("get_v1_debug_beacon_heads")).toEqual(heads);
    expect(await caller.call("get_v2_debug_beacon_heads")).toEqual(
      heads.map((head) => ({ ...head, execution_optimistic: true })),
    );
  });

  it("streams a state", async () => {
    const method = createMethodTable(api).find("get_v1_debug_beacon_states_stateId")!;
    const answer = await method.call(["head"]);
    expect(Buffer.isBuffer(answer.body)).toBe(false);
    expect(answer.meta).toEqual({ version: "fulu", execution_optimistic: false, finalized: false });
    const json = await caller.call("get_v1_debug_beacon_states_stateId", ["head"]);
    const root = chain.headState.hashTreeRoot();
    expect(ssz.fulu.BeaconState.hashTreeRoot(ssz.fulu.BeaconState.fromJson(json))).toEqual(root);
  });
});

describe("extensions", () => {
  it("return the head", async () => {
    expect(await caller.call("getBeaconHead")).toBe("4");
    const zero = `0x${"00".repeat(32)}`;
    expect(await caller.call("getChainHead")).toEqual({
      head_slot: "4",
      head_block_root: chain.head.root,
      finalized_slot: "0",
      finalized_block_root: zero,
      justified_slot: "0",
      justified_block_root: zero,
    });
  });

  it("return the first slot of a checkpoint, not its epoch", async () => {
    const root = `0x${"09".repeat(32)}`;
    const later = createApi({
      chain: asBeaconChain({ ...createFakeChain(), justifiedCheckpoint: { epoch: 3, root } }),
      network: fakeNetwork(chain),
      setLogSpec: () => {},
    });
    expect(await new Caller(later).call("getChainHead")).toMatchObject({
      justified_slot: String(3 * SLOTS_PER_EPOCH),
      justified_block_root: root,
    });
  });

  it("find a state by slot and root, and return null if there is none", async () => {
    expect(await caller.call("getBeaconState", [2])).toHaveProperty("slot", "2");
    const root = toRootHex(chain.headState.hashTreeRoot());
    expect(await caller.call("getBeaconState", { root })).toHaveProperty("slot", "4");
    expect(await caller.call("getBeaconState", [7])).toBeNull();
  });

  it.each([{}, { slot: 1, root: `0x${"00".repeat(32)}` }])("reject %j instead of one slot or root", async (args) => {
    const { code } = FAILURES["invalid-params"];
    expect(await caller.error("getBeaconState", args)).toMatchObject({ code });
  });

  it("set the log specification and reject an invalid one", async () => {
    expect(await caller.call("setLogLevel", ["DEBUG"])).toBe(true);
    expect(await caller.error("setLogLevel", ["LOUD"])).toMatchObject({
      code: FAILURES["invalid-params"].code,
      message: "LOUD is no level.",
    });
    expect(logSpecs).toEqual(["DEBUG"]);
  });

  it("set the graffiti", async () => {
    expect(await caller.call("setGraffiti", [`0x${"07".repeat(32)}`])).toBe(true);
    expect(chain.graffiti.get()).toEqual(new Uint8Array(32).fill(7));
  });
});
