import type { ForkName } from "@lodestar/params";
import { signedBlindedBlockToFull } from "@lodestar/state-transition";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { validateGossipBlock } from "../../src/chain/validation/block.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { ALWAYS_BUILDER, BLOCK, ChainWithBuilder, HEAD } from "./chain-with-builder.ts";
import { builderFault } from "./mock-builder.ts";

const PUBLISH = "post_v2_beacon_blinded_blocks";
const UNAVAILABLE = -32002;
const REJECTED = -32003;

describe.each(["electra", "fulu"] as const)("a builder of %s", (fork) => {
  let withBuilder: ChainWithBuilder;
  beforeEach(async () => {
    withBuilder = await ChainWithBuilder.open(fork);
    await withBuilder.nextSlot();
    await withBuilder.register();
  });
  afterEach(() => withBuilder?.close());

  const produceBlinded = async () =>
    withBuilder.caller.call(BLOCK, await withBuilder.params("", false, ALWAYS_BUILDER));
  const rejected = (message: RegExp) => ({ code: REJECTED, message: expect.stringMatching(message) });

  it("receives no block that fails the requested validation", async () => {
    const { builder, caller, chain } = withBuilder;
    const block = await produceBlinded();
    const other = new Uint8Array(32).fill(9);
    const otherProposer = (Number(block.proposer_index) + 1) % withBuilder.devChain.keys.count;
    const { execution_payload_header: header } = block.body;
    const wrong: [changes: object, level: string | null, complaint: RegExp][] = [
      [{ slot: String(HEAD + 4) }, null, /slot 7 is in the future/],
      [{ parent_root: toHex(other) }, null, /parent 0x09.* is unknown/],
      [{ proposer_index: String(otherProposer) }, null, /has proposer \d+, expected/],
      [
        { body: { ...block.body, execution_payload_header: { ...header, timestamp: "1" } } },
        "gossip",
        /payload's timestamp is 1, but slot 4 starts at/,
      ],
      [{ state_root: toHex(other) }, "consensus", /Wrong state root: the block has 0x09/],
      [{ state_root: toHex(other) }, "consensus_and_equivocation", /Wrong state root: the block has 0x09/],
      [{ body: { ...block.body, randao_reveal: `0xc0${"00".repeat(95)}` } }, "consensus", /Invalid signature/],
    ];
    for (const [changes, level, complaint] of wrong) {
      const { json } = withBuilder.sign({ ...block, ...changes });
      expect(await caller.error(PUBLISH, [json, level])).toMatchObject(rejected(complaint));
    }
    expect(builder.blindedBlocks).toEqual([]);
    expect(chain.pools.seen.blockProposers.root(HEAD + 1, Number(block.proposer_index))).toBeUndefined();
  });

  it("receives one block per proposer and slot, which may be resubmitted and return from the network", async () => {
    const { builder, caller, chain, devChain } = withBuilder;
    const gossiped: unknown[] = [];
    chain.events.on("blockGossip", ({ root }) => gossiped.push(root));
    const { signed, json } = withBuilder.sign(await produceBlinded());
    const other = withBuilder.sign({ ...(await produceBlinded()), state_root: `0x${"09".repeat(32)}` });
    const own = new ByHand(devChain).sign(await new ByHand(devChain).produce(HEAD + 1, chain.head.root));
    const ownContents = {
      signed_block: ssz[fork].SignedBeaconBlock.toJson(own.signed as never),
      kzg_proofs: [],
      blobs: [],
    };
    builder.behaviour.beforeReveal = () => {
      throw builderFault(400, "No payload for you.");
    };
    expect(await caller.error(PUBLISH, [json, "consensus_and_equivocation"])).toMatchObject({ code: UNAVAILABLE });
    for (const level of ["gossip", "consensus", "consensus_and_equivocation"]) {
      for (const [method, block] of [
        [PUBLISH, other.json],
        ["post_v2_beacon_blocks", ownContents],
      ] as const) {
        expect(await caller.error(method, [block, level])).toMatchObject(rejected(/already proposed another block/));
      }
    }
    expect(chain.head.slot).toBe(HEAD);
    expect(gossiped).toEqual([]);

    builder.behaviour.beforeReveal = () => {};
    expect(await caller.call(PUBLISH, [json, "consensus"])).toBe(fork === "fulu" ? 202 : 200);
    expect(builder.blindedBlocks.map(({ signature }) => signature)).toEqual([signed.signature, signed.signature]);
    if (fork === "fulu") {
      const whole = signedBlindedBlockToFull(
        fork as ForkName.fulu,
        signed,
        builder.payloadOf(signed),
      ) as SignedBeaconBlock;
      await validateGossipBlock(chain.validation, whole);
      await chain.importBlock(whole);
    } else {
      expect(gossiped).toEqual([chain.head.root]);
    }
    expect(chain.head.slot).toBe(HEAD + 1);
    // The node now has the payload.
    expect(await caller.call(PUBLISH, [json, "consensus_and_equivocation"])).toBe(200);
    expect(builder.blindedBlocks).toHaveLength(2);
  });
});
