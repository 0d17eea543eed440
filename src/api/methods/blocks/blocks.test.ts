import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { beforeEach, describe, expect, it } from "vitest";
import { Caller } from "../../../../test/support/api/caller.ts";
import {
  asBeaconChain,
  createFakeChain,
  type FakeChain,
  fakeNetwork,
  HEAD_SLOT,
} from "../../../../test/support/api/fake-chain.ts";
import { createApi } from "../../api.ts";
import { createMethodTable } from "../../bound-methods.ts";

const BLOCK = "get_v1_beacon_blocks_blockId";
const HEADER = "get_v1_beacon_headers_blockId";
const HEADERS = "get_v1_beacon_headers";

let chain: FakeChain;
let caller: Caller;

beforeEach(() => {
  chain = createFakeChain();
  caller = new Caller(createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} }));
});

it("returns a block, its root and its attestations", async () => {
  const block = await caller.call(BLOCK, ["head"]);
  const message = ssz.fulu.BeaconBlock.fromJson(block.message);
  expect(toRootHex(ssz.fulu.BeaconBlock.hashTreeRoot(message))).toBe(chain.head.root);
  expect(await caller.meta(BLOCK, ["head"])).toEqual({
    version: "fulu",
    execution_optimistic: false,
    finalized: false,
  });
  expect(await caller.call(`${BLOCK}_root`, [HEAD_SLOT])).toEqual({ root: chain.head.root });
  expect(await caller.call(`${BLOCK}_attestations`, ["head"])).toEqual(block.message.body.attestations);
});

it("returns a block with its current metadata on each call", async () => {
  const api = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} });
  const ask = () => createMethodTable(api).find(BLOCK)!.call(["head"]);
  const first = await ask();
  const block = await chain.blocks.byRoot(chain.head.root);
  Object.assign(block!, { executionOptimistic: true });
  const second = await ask();
  expect(second.body).toEqual(first.body);
  expect(second.meta).toEqual({ ...first.meta, execution_optimistic: true });
});

it("returns the fork of attestations only in the second version", async () => {
  const meta = { execution_optimistic: false, finalized: false };
  expect(await caller.meta(`${BLOCK}_attestations`, ["head"])).toEqual(meta);
  const second = "get_v2_beacon_blocks_blockId_attestations";
  expect(await caller.meta(second, ["head"])).toEqual({ ...meta, version: "fulu" });
});

it("returns a header with the root and signature of its block", async () => {
  const { root, canonical, header } = await caller.call(HEADER, [chain.sideRoot]);
  expect([root, canonical]).toEqual([chain.sideRoot, false]);
  const message = ssz.phase0.BeaconBlockHeader.fromJson(header.message);
  expect(toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(message))).toBe(root);
  expect(header.signature).toBe(`0x${"05".repeat(96)}`);
});

it("returns whether the block of a header is currently canonical", async () => {
  expect(await caller.call(HEADER, ["head"])).toHaveProperty("canonical", true);
  const block = await chain.blocks.byRoot(chain.head.root);
  Object.assign(block!, { canonical: false });
  expect(await caller.call(HEADER, ["head"])).toMatchObject({ root: chain.head.root, canonical: false });
});

describe("lists headers", () => {
  const rootsOf = async (filter: { slot?: number | string; parent_root?: string }) => {
    const headers: { root: string }[] = await caller.call(HEADERS, filter);
    return headers.map(({ root }) => root);
  };

  it("of the head's slot by default, canonical first", async () => {
    expect(await rootsOf({})).toEqual([chain.head.root, chain.sideRoot]);
  });

  it("of a slot", async () => {
    expect(await rootsOf({ slot: 0 })).toEqual([chain.genesisRoot]);
    expect(await rootsOf({ slot: 2 })).toEqual([]);
    expect(await rootsOf({ slot: "18446744073709551615" })).toEqual([]);
  });

  it("of children, canonical first", async () => {
    expect(await rootsOf({ parent_root: chain.genesisRoot })).toEqual([chain.head.root, chain.sideRoot]);
    expect(await rootsOf({ parent_root: chain.head.root })).toEqual([]);
  });

  it("by both filters at once", async () => {
    expect(await rootsOf({ parent_root: chain.genesisRoot, slot: 3 })).toEqual([]);
    expect(await rootsOf({ parent_root: chain.genesisRoot, slot: HEAD_SLOT })).toHaveLength(2);
  });

  it("with metadata of all blocks combined", async () => {
    expect(await caller.meta(HEADERS, { slot: 0 })).toHaveProperty("finalized", true);
    expect(await caller.meta(HEADERS, { slot: 2 })).toHaveProperty("finalized", false);
  });
});

describe("getBeaconBlock", () => {
  it("finds a block by slot, root and identifier, and returns null if there is none", async () => {
    const block = await caller.call(BLOCK, ["head"]);
    for (const params of [{ slot: HEAD_SLOT }, { root: chain.head.root }, { slot: "head" }]) {
      expect(await caller.call("getBeaconBlock", params)).toEqual(block);
      expect(await caller.meta("getBeaconBlock", params)).toHaveProperty("version", "fulu");
    }
    expect(await caller.call("getBeaconBlock", { slot: 2 })).toBeNull();
  });

  it.each([{}, { slot: 1, root: `0x${"00".repeat(32)}` }])("rejects %j instead of a slot or root", async (params) => {
    expect(await caller.error("getBeaconBlock", params)).toHaveProperty("code", -32602);
  });
});
