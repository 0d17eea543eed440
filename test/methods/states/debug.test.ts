import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { deneb } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import { OpenApi } from "../../conformance/openapi.ts";
import { Caller } from "../../support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../support/api/fake-chain.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { openQuietDevChain } from "../../support/chain/dev-chain.ts";
import { GloasChain } from "../../support/chain/gloas-chain.ts";
import { variants } from "../../support/suite/tier.ts";

const FORK_CHOICE = "get_v1_debug_fork_choice";
const BLOBS = "get_v1_beacon_blobs_blockId";
const SIDECARS = "get_v1_beacon_blob_sidecars_blockId";
const COLUMNS = "get_v1_debug_beacon_data_column_sidecars_blockId";
const GWEI_PER_ETH = 1_000_000_000;

interface ForkChoiceNode {
  block_root: string;
  parent_root: string;
  slot: string;
  weight: string;
  validity: string;
  execution_block_hash: string;
}

describe.each(variants({ fast: [ForkName.fulu], full: [ForkName.phase0] } as const))(
  "the fork choice of %s",
  (fork) => {
    it("shows both branches and their weights", async () => {
      const slots = 4 * SLOTS_PER_EPOCH;
      const forks = fork === ForkName.phase0 ? [] : [{ fork, epoch: 0 } as const];
      const { devChain } = await openQuietDevChain(slots, { validators: 16, forks });
      const { chain } = devChain;
      const caller = new Caller(devChain.api);
      const byHand = new ByHand(devChain);
      const parent = chain.head.root;
      await devChain.clock.advanceTo(slots + 1);
      const left = await byHand.propose(slots + 1, parent, 1);
      const right = await byHand.propose(slots + 1, parent, 2);
      const attesters = await byHand.attest(slots + 1, right.root);
      await devChain.clock.advanceTo(slots + 2);

      const dump = await caller.call(FORK_CHOICE);
      const { data } = new OpenApi("v4.0.0").validator({ verb: "GET", path: "/eth/v1/debug/fork_choice" })!;
      data(dump);
      expect(data.errors ?? []).toEqual([]);

      const checkpoints = await caller.call("get_v1_beacon_states_finality_checkpoints", ["head"]);
      expect(dump.finalized_checkpoint).toEqual(checkpoints.finalized);
      expect(dump.justified_checkpoint).toEqual(checkpoints.current_justified);
      const nodes = new Map<string, ForkChoiceNode>(
        dump.fork_choice_nodes.map((node: ForkChoiceNode) => [node.block_root, node]),
      );
      expect(nodes.get(left.root)).toMatchObject({ parent_root: parent, slot: String(slots + 1), validity: "valid" });
      expect(nodes.get(left.root)!.weight).toBe("0");
      expect(nodes.get(right.root)!.weight).toBe(String(attesters.length * 32 * GWEI_PER_ETH));
      expect(chain.head.root).toBe(right.root);
      const block = await caller.call("get_v2_beacon_blocks_blockId", [right.root]);
      const noHash = `0x${"00".repeat(32)}`;
      const hash = fork === ForkName.phase0 ? noHash : block.message.body.execution_payload.block_hash;
      expect(nodes.get(right.root)!.execution_block_hash).toBe(hash);
    });
  },
);

describe("the fork choice nodes of gloas", () => {
  it("tell blocks with their payload from blocks without it, and count the votes on payloads", async () => {
    const gloas = await GloasChain.open();
    await gloas.run(2);
    const full = gloas.chain.head;
    await gloas.run(1, { payload: "withhold" });
    const empty = gloas.chain.head;
    await gloas.nextSlot();
    await gloas.chain.refreshHead();
    const dump = await new Caller(gloas.opened.devChain.api).call("get_v2_debug_fork_choice");
    const nodesOf = (root: string) =>
      dump.fork_choice_nodes.filter(({ block_root }: { block_root: string }) => block_root === root);

    const votes = { payload_attester_count: "16", payload_availability_yes_count: "16" };
    const ofFull = { ...votes, payload_data_availability_yes_count: "16", validity: "valid", slot: "2" };
    expect(nodesOf(full.root)).toMatchObject([
      { ...ofFull, payload_status: "pending", parent_root: full.parentRoot, parent_payload_status: "full" },
      { ...ofFull, payload_status: "empty", parent_root: full.root, parent_payload_status: "pending", weight: "0" },
      { ...ofFull, payload_status: "full", parent_root: full.root, parent_payload_status: "pending" },
    ]);
    const [pending, , withPayload] = nodesOf(full.root);
    expect(withPayload.execution_block_hash).toBe(full.bid?.blockHash);
    expect(pending.execution_block_hash).toBe(full.bid?.parentBlockHash);
    // Attestations of a slot vote for its block regardless of the payload, and the next block builds on the payload.
    expect(BigInt(pending.weight)).toBeGreaterThan(BigInt(withPayload.weight));
    expect(BigInt(withPayload.weight)).toBeGreaterThan(0n);
    const ofEmpty = { payload_attester_count: "16", payload_availability_yes_count: "0", slot: "3" };
    expect(nodesOf(empty.root)).toMatchObject([
      { ...ofEmpty, payload_status: "pending", parent_root: full.root, parent_payload_status: "full" },
      { ...ofEmpty, payload_status: "empty", parent_root: empty.root, parent_payload_status: "pending" },
    ]);
    expect(dump.extra_data).toMatchObject({ head_root: empty.root, head_payload_status: "empty" });
  });
});

describe("blobs and columns of blocks without any", () => {
  const callerOn = (fork: "capella" | "deneb" | "fulu", edit: (body: deneb.BeaconBlockBody) => void = () => {}) => {
    const chain = createFakeChain([{ fork, epoch: 0 }]);
    const byRoot = chain.blocks.byRoot;
    chain.blocks.byRoot = async (root) => {
      const block = await byRoot(root);
      if (block) edit(block.signed.message.body as deneb.BeaconBlockBody);
      return block;
    };
    const network = fakeNetwork(chain);
    return new Caller(createApi({ chain: asBeaconChain(chain), network, setLogSpec: () => {} }));
  };
  const withBlob = (body: deneb.BeaconBlockBody) => {
    body.blobKzgCommitments = [new Uint8Array(48)];
  };

  it("are an empty list", async () => {
    expect(await callerOn("deneb").call(BLOBS, ["head"])).toEqual([]);
    expect(await callerOn("fulu").call(BLOBS, ["head"])).toEqual([]);
    expect(await callerOn("fulu").call(COLUMNS, ["head", [1]])).toEqual([]);
  });

  it("are empty on chains without them", async () => {
    expect(await callerOn("capella").call(BLOBS, ["head"])).toEqual([]);
    expect(await callerOn("capella").call(SIDECARS, ["head"])).toEqual([]);
    expect(await callerOn("deneb", withBlob).call(COLUMNS, ["head"])).toEqual([]);
  });
});

it("blocks before the fork have no blobs and columns", async () => {
  const forks = [
    { fork: "deneb", epoch: 1 },
    { fork: "electra", epoch: 2 },
    { fork: "fulu", epoch: 3 },
  ] as const;
  const { devChain } = await openQuietDevChain(2, { validators: 8, forks });
  const caller = new Caller(devChain.api);
  for (const method of [BLOBS, SIDECARS, COLUMNS]) expect(await caller.call(method, ["head"])).toEqual([]);
});
