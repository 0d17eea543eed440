import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { BeaconBlock } from "@lodestar/types";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevFork } from "../../../src/dev/forks.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../../support/api/caller.ts";
import {
  advance,
  type OpenedDevChain,
  openDevChain,
  openQuietDevChain,
  startQuietDevChain,
} from "../../support/chain/dev-chain.ts";
import { variants } from "../../support/suite/tier.ts";
import { atSlot, type BlockSetting } from "./block-setting.ts";

const POST = "post_v1_beacon_blocks";
const POST_2020 = "post_v1_validator_block";
const HISTORY = 5;
const SLOT = HISTORY + 1;

// biome-ignore lint/suspicious/noExplicitAny: tests change payloads in ways that no type allows
type Json = any;

const chainOf = (fork: DevFork): Partial<DevNodeOptions> => ({ validators: 8, forks: [{ fork, epoch: 0 }] });

async function open(fork: DevFork): Promise<BlockSetting> {
  return atSlot((await openQuietDevChain(HISTORY, chainOf(fork))).devChain, SLOT);
}

const signedIn = (json: Json): Json => json.signed_block ?? json;

describe.each(
  variants({ fast: ["phase0", "fulu"], full: ["altair", "bellatrix", "capella", "deneb", "electra"] } as const),
)("a block of %s", (fork) => {
  it("is imported, found by its root and becomes the head", async () => {
    const { caller, makeBlock } = await open(fork);
    const { root, json } = await makeBlock();
    expect(await caller.call(POST, [json])).toBe(200);
    expect(await caller.call("get_v1_beacon_headers_blockId", [root])).toMatchObject({ root, canonical: true });
    expect(await caller.call("get_v1_beacon_blocks_blockId", [root])).toEqual(signedIn(json));
    expect(await caller.call("get_v1_beacon_blocks_blockId_root", ["head"])).toEqual({ root });
    expect(await caller.call("getBeaconHead")).toBe(String(SLOT));
    // Again, as it was sent and as it is returned.
    expect(await caller.call(POST, [json])).toBe(200);
    expect(await caller.call(POST, { signed_block: signedIn(json) })).toBe(200);
    expect(await caller.call(POST_2020, [json])).toBe(true);
  });
});

describe("invalid blocks", () => {
  let setting: BlockSetting;
  beforeEach(async () => {
    setting = await open("phase0");
  });

  const expectUnmoved = async (root: string) => {
    const { caller } = setting;
    expect(await caller.call("getBeaconHead")).toBe(String(HISTORY));
    expect(await caller.error("get_v1_beacon_blocks_blockId_root", [root])).toMatchObject({ code: -32001 });
  };

  it("are rejected with another validator's signature", async () => {
    const { caller, byHand, devChain, toJson } = setting;
    const block = await byHand.produce(SLOT, devChain.chain.head.root);
    const { root, signed } = byHand.sign(block, (block.proposerIndex + 1) % 8);
    for (const method of [POST, POST_2020]) {
      const { code, data } = await caller.error(method, [toJson(signed)]);
      expect(code).toBe(-32003);
      expect(data.detail).toContain("not signed by validator");
    }
    await expectUnmoved(root);
    // Malformed signatures are handled too.
    for (const signature of [`0x${"00".repeat(96)}`, `0x${"ff".repeat(96)}`]) {
      expect(await caller.error(POST, [{ ...toJson(signed), signature }])).toMatchObject({ code: -32003 });
    }
    expect(await caller.call(POST, [toJson(byHand.sign(block).signed)])).toBe(200);
  });

  it("are rejected from a wrong proposer", async () => {
    const { caller, byHand, devChain, toJson } = setting;
    const block = await byHand.produce(SLOT, devChain.chain.head.root);
    block.proposerIndex = (block.proposerIndex + 1) % 8;
    const error = await caller.error(POST, [toJson(byHand.sign(block).signed)]);
    expect(error).toMatchObject({ code: -32003, data: { detail: expect.stringContaining("has proposer") } });
  });

  it("are broadcast but not imported with a wrong state root", async () => {
    const { caller, makeBlock } = setting;
    const { root, json } = await makeBlock((block) => ({ ...block, stateRoot: new Uint8Array(32) }) as BeaconBlock);
    expect(await caller.call(POST, [json])).toBe(202);
    expect(await caller.call(POST, [json])).toBe(202);
    expect(await caller.error(POST_2020, [json])).toMatchObject({ code: -32003 });
    const forged = { ...json, signature: `0xc0${"00".repeat(95)}` };
    expect(await caller.error(POST, [forged])).toMatchObject({ code: -32003 });
    await expectUnmoved(root);
  });

  it("are broadcast but not imported with a wrong signature inside", async () => {
    const { caller, byHand, devChain, toJson } = setting;
    const type = devChain.config.getForkTypes(SLOT).BeaconBlock;
    // A copy, because a produced block caches its roots.
    const block = type.clone((await byHand.produce(SLOT, devChain.chain.head.root)) as never) as BeaconBlock;
    block.body.randaoReveal = byHand.signer.randaoReveal(block.proposerIndex, SLOT + SLOTS_PER_EPOCH);
    const { root, signed } = byHand.sign(block);
    expect(await caller.call(POST, [toJson(signed)])).toBe(202);
    expect(await caller.call(POST, [toJson(signed)])).toBe(202);
    await expectUnmoved(root);
  });

  it("are rejected if the proposer has another block in the slot", async () => {
    const { caller, byHand, devChain, toJson } = setting;
    const parent = devChain.chain.head.root;
    const [first, second] = [1, 2].map(async (mark) => byHand.sign(await byHand.produce(SLOT, parent, mark)));
    const [{ signed }, other] = [await first!, await second!];
    expect(await caller.call(POST, [toJson(signed)])).toBe(200);
    const error = await caller.error(POST, [toJson(other.signed)]);
    expect(error).toMatchObject({ code: -32003, data: { detail: expect.stringContaining("another block") } });
    expect(await caller.error("get_v1_beacon_headers_blockId", [other.root])).toMatchObject({ code: -32001 });
  });

  it("are rejected if their signature differs from the known block's", async () => {
    const { caller } = setting;
    for (const id of ["head", "genesis", 2]) {
      const held = await caller.call("get_v1_beacon_blocks_blockId", [id]);
      expect(await caller.call(POST, [held])).toBe(200);
      const error = await caller.error(POST, [{ ...held, signature: `0xc0${"00".repeat(95)}` }]);
      expect(error).toMatchObject({ code: -32003, data: { detail: expect.stringContaining("not signed") } });
    }
  });
});

describe("rejected blocks without an effect", () => {
  let opened: OpenedDevChain;
  let setting: BlockSetting;
  beforeAll(async () => {
    opened = await startQuietDevChain(HISTORY, chainOf("phase0"));
    setting = await atSlot(opened.devChain, SLOT);
  });
  afterAll(() => opened.close());

  it.each([
    ["a future slot", { slot: String(SLOT + 1) }, "slot"],
    ["a slot of the far future", { slot: "18446744073709551615" }, "message.slot is 18446744073709551615."],
    ["the slot of its parent", { slot: HISTORY }, "slot"],
    ["a proposer beyond all", { proposer_index: "9007199254740993" }, "message.proposer_index is 9007199254740993."],
    ["an unknown proposer", { proposer_index: "9007199254740991" }, "not a validator"],
  ])("are refused with %s", async (_what, changes, reason) => {
    const { caller, makeBlock, devChain } = setting;
    const { json } = await makeBlock();
    Object.assign(json.message, changes);
    const error = await caller.error(POST, [json]);
    expect(error.code).toBe(-32003);
    expect(error.data.detail).toContain(reason);
    expect(devChain.chain.head.slot).toBe(HISTORY);
  });

  it("have an unknown parent", async () => {
    const { caller, makeBlock, devChain } = setting;
    const { json } = await makeBlock(
      (block) => ({ ...block, parentRoot: new Uint8Array(32).fill(0xab) }) as BeaconBlock,
    );
    const error = await caller.error(POST, [json]);
    expect(error).toMatchObject({ code: -32003, data: { detail: expect.stringContaining("parent") } });
    expect(devChain.chain.head.slot).toBe(HISTORY);
  });

  it.each<[string, (block: Json) => void, string]>([
    ["message", (block) => delete block.message, "is missing the member message."],
    ["slot", (block) => delete block.message.slot, "is missing the member message.slot."],
    ["a form of slot", (block) => (block.message.slot = "07"), "is invalid at message.slot: it must be"],
    ["signature", (block) => delete block.signature, "is missing the member signature."],
    ["graffiti", (block) => delete block.message.body.graffiti, "is missing the member message.body.graffiti."],
    [
      "a short graffiti",
      (block) => (block.message.body.graffiti = "x".repeat(33)),
      "is invalid at message.body.graffiti: it must be graffiti of at most 32 bytes",
    ],
    [
      "a form of root",
      (block) => (block.message.parent_root = block.message.parent_root.slice(2)),
      "is invalid at message.parent_root: it must be 32 bytes: 0x followed by 64 hex digits",
    ],
    [
      "a limit",
      (block) => (block.message.body.attestations = Array(129).fill(block.message.body.attestations[0])),
      "is invalid at message.body.attestations: it must contain at most 128 elements, but it contains 129.",
    ],
    [
      "a nested slot",
      (block) => (block.message.body.attestations[0].data.slot = -1),
      "is invalid at message.body.attestations[0].data.slot: it must be an integer from 0 to 2^64-1",
    ],
    [
      "a delimiter",
      (block) => (block.message.body.attestations[0].aggregation_bits = "0x00"),
      "is invalid at message.body.attestations[0].aggregation_bits: it must be a bit list",
    ],
    [
      "its fork",
      (block) => (block.message.body.sync_aggregate = {}),
      "is invalid at message.body.sync_aggregate: blocks of phase0, the fork of its slot",
    ],
    ["an object", (block) => (block.message.body = []), "is invalid at message.body: it must be a JSON object"],
  ])("are not decoded without %s", async (_what, spoil, message) => {
    const { caller, makeBlock } = setting;
    const { json } = await makeBlock();
    spoil(json);
    const error = await caller.error(POST, [json]);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(`The parameter "signed_block" ${message}`);
  });

  it.each([[[]], [[null]], [["0x00"]], [[[]]], [[{}]], [[{ signed_block: 5 }]], [[{}, {}]], [{ block: {} }]])(
    "cannot be %j",
    async (params) => {
      for (const method of [POST, POST_2020]) {
        expect(await setting.caller.error(method, params)).toMatchObject({ code: -32602 });
      }
    },
  );

  it("are not wrapped before Deneb", async () => {
    const { caller, makeBlock } = setting;
    const { json } = await makeBlock();
    const error = await caller.error(POST, [{ signed_block: json, kzg_proofs: [], blobs: [] }]);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("phase0 blocks are not wrapped") });
  });
});

it("a block may have JSON integers, text as graffiti and unknown members", async () => {
  const { devChain, caller, byHand, toJson } = await open("phase0");
  const { root, signed } = byHand.sign(await byHand.produce(SLOT, devChain.chain.head.root, 0x41));
  const json = toJson(signed);
  json.message.body.graffiti = "A".repeat(32);
  json.message.slot = SLOT;
  json.message.proposer_index = Number(json.message.proposer_index);
  json.note = "not part of a block";
  json.message.body.weather = { rain: true };
  expect(await caller.call(POST, [json])).toBe(200);
  const stored = await caller.call("get_v1_beacon_blocks_blockId", [root]);
  expect(stored.message.body.graffiti).toBe(`0x${"41".repeat(32)}`);
  expect(stored.message.slot).toBe(String(SLOT));
});

it("a body that does not fit the fork of its slot is not decoded", async () => {
  const { caller, makeBlock } = await open("capella");
  const { json } = await makeBlock();
  const { bls_to_execution_changes: _changes, ...ofBellatrix } = json.message.body;
  expect(await caller.error(POST, [{ ...json, message: { ...json.message, body: ofBellatrix } }])).toMatchObject({
    code: -32602,
    message: expect.stringContaining("is missing the member message.body.bls_to_execution_changes."),
  });
  const ofDeneb = { ...json.message.body, blob_kzg_commitments: [] };
  expect(await caller.error(POST, [{ ...json, message: { ...json.message, body: ofDeneb } }])).toMatchObject({
    code: -32602,
    message: expect.stringContaining("message.body.blob_kzg_commitments"),
  });
});

it("a block with blobs must include them", async () => {
  const { caller, makeBlock } = await open("deneb");
  const { json } = await makeBlock();
  const commitments = [`0xc0${"00".repeat(47)}`];
  json.signed_block.message.body.blob_kzg_commitments = commitments;
  expect(await caller.error(POST, [json.signed_block])).toMatchObject({
    code: -32602,
    message: expect.stringContaining("{signed_block, kzg_proofs, blobs}"),
  });
  const { blobs: _blobs, ...lacking } = json;
  expect(await caller.error(POST, [lacking])).toMatchObject({ code: -32602 });
  expect(await caller.error(POST, [{ ...json, blobs: ["0x00"] }])).toMatchObject({
    code: -32602,
    message: expect.stringContaining("is invalid at blobs[0]: it must be 131072 bytes"),
  });
  expect(await caller.error(POST, [json])).toMatchObject({
    code: -32003,
    data: { detail: expect.stringContaining("blobs") },
  });
});

it("blocks of the finalized chain are accepted again", async () => {
  const { devChain } = await openDevChain({ validators: 8 });
  await advance(devChain, 5 * SLOTS_PER_EPOCH);
  const caller = new Caller(devChain.api);
  expect(devChain.chain.forkChoice.finalized.epoch).toBeGreaterThan(1);
  for (const id of ["head", "finalized", "genesis", 1, SLOTS_PER_EPOCH]) {
    const block = await caller.call("get_v1_beacon_blocks_blockId", [id]);
    expect(await caller.call(POST, [block])).toBe(200);
    const forged = { ...block, message: { ...block.message, state_root: `0x${"ab".repeat(32)}` } };
    expect(await caller.error(POST, [forged])).toMatchObject({ code: -32003 });
  }
});

it("no block is accepted while the node is syncing", async () => {
  const { devChain, caller, makeBlock } = await open("phase0");
  const { json } = await makeBlock();
  devChain.chain.status.setSource({ isSyncing: true });
  for (const method of [POST, POST_2020]) {
    expect(await caller.error(method, [json])).toMatchObject({ code: -32002 });
    expect(await caller.error(method, [{}])).toMatchObject({ code: -32602 });
  }
});
