import { type gloas, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import type { ChainBlock } from "../../../src/chain/blocks/block-store.ts";
import { Caller } from "../../support/api/caller.ts";
import {
  asBeaconChain,
  createFakeChain,
  type FakeChain,
  fakeNetwork,
  GENESIS_TIME,
} from "../../support/api/fake-chain.ts";
import { rootOfBranch, rootOfMultiproof } from "../../support/api/merkle-verifier.ts";

const SLOT_SECONDS = 6;

/** Position of an element under a list (ssz/simple-serialize.md, merkleize_progressive). */
function elementIndex(list: bigint, index: number): bigint {
  let [first, size, node] = [0, 1, list * 2n];
  for (; index >= first + size; size *= 4) {
    first += size;
    node = node * 2n + 1n;
  }
  return node * 2n * BigInt(size) + BigInt(index - first);
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of any field
const within = (json: any, path: readonly (string | number)[]): unknown => path.reduce((at, step) => at?.[step], json);

const callerOf = (chain: FakeChain) =>
  new Caller(createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} }));

describe("proofs in gloas", () => {
  let chain: FakeChain;
  let caller: Caller;
  beforeAll(() => {
    chain = createFakeChain([{ fork: "gloas", epoch: 0 }]);
    caller = callerOf(chain);
  });

  it("proves fields and elements of states, against the state root and the block root", async () => {
    const state = await caller.call("get_v1_debug_beacon_states_stateId", [0]);
    for (const [path, gindex] of [
      [["slot"], 41n],
      [["finalized_checkpoint", "root"], 735n],
      [["current_sync_committee", "aggregate_pubkey"], 2945n * 2n + 1n],
      [["validators", 0], elementIndex(358n, 0)],
      [["validators", 1, "withdrawal_credentials"], elementIndex(358n, 1) * 8n + 1n],
      [["validators", 5, "effective_balance"], elementIndex(358n, 5) * 8n + 2n],
      [["validators", 15, "slashed"], elementIndex(358n, 15) * 8n + 3n],
      [["balances", 15], elementIndex(359n, 3)],
      [["inactivity_scores", 9], undefined],
      [["latest_block_hash"], 2947n],
      [["latest_execution_payload_bid", "block_hash"], undefined],
      [["latest_execution_payload_bid", "gas_limit"], undefined],
      [["execution_payload_availability", 3], undefined],
      [["ptc_window", 1, 2], undefined],
      [["builder_pending_payments", 3, "weight"], undefined],
    ] as const) {
      for (const upTo of ["state", "block"]) {
        const proof = await caller.call("getStateProof", [0, path, upTo]);
        const root = upTo === "state" ? toRootHex((await chain.states.genesis())!.hashTreeRoot()) : chain.genesisRoot;
        expect(proof, String(path)).toMatchObject({ root });
        expect(rootOfBranch(proof.leaf, proof.branch, BigInt(proof.gindex)), String(path)).toBe(root);
        if (path[0] !== "execution_payload_availability") expect(proof.value).toEqual(within(state, path));
        if (upTo === "state" && gindex !== undefined) expect(proof.gindex, String(path)).toBe(String(gindex));
      }
    }
    const bit = await caller.call("getStateProof", [0, ["execution_payload_availability", 3]]);
    expect(bit).toMatchObject({ value: true, bit: "3" });
    const several = await caller.call("getStateProof", [
      0,
      [
        ["balances", 5],
        ["validators", "length"],
        ["balances", 6],
      ],
    ]);
    expect(rootOfMultiproof(several)).toBe(several.state_root);
  });

  it("names the fork of a path that only another fork has", async () => {
    const errorOf = async (method: string, path: unknown) => (await caller.error(method, ["head", path])).message;
    expect(await errorOf("getStateProof", ["latest_execution_payload_header"])).toContain(
      'There is no field "latest_execution_payload_header" in gloas states: it exists only from bellatrix to fulu.',
    );
    expect(await errorOf("getBlockProof", ["body", "execution_payload", "block_hash"])).toContain(
      "it exists only from bellatrix to fulu.",
    );
    const earlier = callerOf(createFakeChain([{ fork: "fulu", epoch: 0 }]));
    expect((await earlier.error("getStateProof", ["head", ["builders", 0]])).message).toContain(
      'There is no field "builders" in fulu states: it was introduced in gloas.',
    );
  });

  it("proves bits and bytes of progressive lists in blocks", async () => {
    const head = (await chain.blocks.byRoot(chain.head.root))!;
    const { body } = (head.signed as gloas.SignedBeaconBlock).message;
    const attestation = ssz.gloas.Attestation.defaultValue();
    const { BitArray } = await import("@chainsafe/ssz");
    attestation.aggregationBits = BitArray.fromBoolArray(Array.from({ length: 700 }, (_, index) => index % 3 === 0));
    body.attestations = [attestation];
    const block = { ...head, signed: ssz.gloas.SignedBeaconBlock.clone(head.signed as gloas.SignedBeaconBlock) };
    const changed = { ...chain, blocks: { ...chain.blocks, byRoot: async () => block } };
    const root = toRootHex(ssz.gloas.BeaconBlock.hashTreeRoot(block.signed.message));
    const other = callerOf(changed as FakeChain);
    for (const [index, value] of [
      [0, true],
      [255, true],
      [257, false],
      [699, true],
    ] as const) {
      const path = ["body", "attestations", 0, "aggregation_bits", index];
      const proof = await other.call("getBlockProof", ["head", path]);
      expect(proof.value, String(index)).toBe(value);
      const byte = Buffer.from(proof.leaf.slice(2), "hex")[Number(proof.offset)]!;
      expect((byte >> Number(proof.bit)) & 1).toBe(Number(value));
      expect(rootOfBranch(proof.leaf, proof.branch, BigInt(proof.gindex)), String(index)).toBe(root);
    }
    const length = await other.call("getBlockProof", [
      "head",
      ["body", "attestations", 0, "aggregation_bits", "length"],
    ]);
    expect(length.value).toBe("700");
  });
});

it("returns gloas blocks as they are, blinded ones too", async () => {
  const chain = createFakeChain([{ fork: "gloas", epoch: 0 }]);
  const caller = callerOf(chain);
  const block = await caller.call("get_v2_beacon_blocks_blockId", ["head"]);
  expect(block.message.body.signed_execution_payload_bid.message.builder_index).toBe("0");
  expect(await caller.call("get_v1_beacon_blinded_blocks_blockId", ["head"])).toEqual(block);
});

describe("the EIP-4788 timestamp in gloas", () => {
  function block(slot: number, bid: { parent: number; own: number }, finalized: boolean): ChainBlock {
    const signed = ssz.gloas.SignedBeaconBlock.defaultValue();
    signed.message.slot = slot;
    const { message } = signed.message.body.signedExecutionPayloadBid;
    message.parentBlockHash = new Uint8Array(32).fill(bid.parent);
    message.blockHash = new Uint8Array(32).fill(bid.own);
    return { root: `0x${slot}`, slot, signed, canonical: true, finalized, executionOptimistic: false };
  }

  /** Asks for the timestamp of the genesis block, whose descendants are these. */
  async function timestampWith(payload: "empty" | "full", ...blocks: ChainBlock[]) {
    const chain = createFakeChain([{ fork: "gloas", epoch: 0 }]);
    chain.blocks.childrenOf = async (root) => {
      const position = root === chain.genesisRoot ? -1 : blocks.findIndex((each) => each.root === root);
      return blocks.slice(position + 1, position + 2);
    };
    Object.assign(chain.forkChoice, { payloadStatusOf: () => payload });
    const caller = callerOf(chain);
    const { timestamp } = await caller.call("getBlockProof", [0, ["slot"]]);
    const meta = await caller.meta("getBlockProof", [0, ["slot"]]);
    return { timestamp, finalized: meta?.finalized };
  }

  it("is that of the child's payload once a block builds on it", async () => {
    const child = block(2, { parent: 1, own: 2 }, true);
    const timestamp = String(GENESIS_TIME + 2 * SLOT_SECONDS);
    expect(await timestampWith("empty", child)).toEqual({ timestamp: null, finalized: false });
    expect(await timestampWith("full", child)).toEqual({ timestamp, finalized: false });
    expect(await timestampWith("empty", child, block(3, { parent: 2, own: 3 }, false))).toEqual({
      timestamp,
      finalized: false,
    });
    expect(await timestampWith("empty", child, block(3, { parent: 2, own: 3 }, true))).toEqual({
      timestamp,
      finalized: true,
    });
  });

  it("is null if the child's payload is withheld", async () => {
    const child = block(2, { parent: 1, own: 2 }, true);
    expect(await timestampWith("full", child, block(3, { parent: 1, own: 3 }, true))).toEqual({
      timestamp: null,
      finalized: true,
    });
  });
});
