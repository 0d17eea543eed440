import type { Type } from "@chainsafe/ssz";
import type { BeaconBlock } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { ByHand } from "../../../test/support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../../../test/support/chain/dev-chain.ts";
import { InvalidBlockRoots } from "./invalid-block-roots.ts";

/** A chain with a block at slot 1, and a function that produces blocks at slot 2 with votes for it. */
async function setUp() {
  const options = { ...QUIET, genesisTime: 1_700_000_000, forks: [{ fork: "electra" as const, epoch: 0 }] };
  const { devChain: maker } = await openDevChain(options);
  const { devChain: taker } = await openDevChain(options);
  const byHand = new ByHand(maker);
  await maker.clock.advanceTo(1);
  const parent = await byHand.propose(1, maker.chain.head.root);
  await byHand.attest(1, parent.root);
  await maker.clock.advanceTo(2);
  const produced = await byHand.produce(2, parent.root);
  const type = maker.config.getForkTypes(2).BeaconBlock as Type<BeaconBlock>;
  const changed = (change: (block: BeaconBlock) => void) => {
    const block = type.deserialize(type.serialize(produced));
    change(block);
    return byHand.sign(block);
  };
  const { chain, clock } = taker;
  await clock.advanceTo(2);
  await chain.importBlock(parent.signed);
  return { chain, genuine: byHand.sign(produced), changed, invalidBlocks: chain.validation.invalidBlocks };
}

describe("a rejected block", () => {
  it("is remembered for its state root, imported alone or in a segment", async () => {
    const { chain, changed, invalidBlocks } = await setUp();
    const alone = changed((block) => block.stateRoot.fill(7));
    await expect(chain.importBlock(alone.signed)).rejects.toMatchObject({ reason: "wrong-state-root" });
    expect(invalidBlocks.has(alone.root)).toBe(true);
    const last = changed((block) => block.stateRoot.fill(8));
    await expect(chain.importSegment([last.signed])).rejects.toMatchObject({ reason: "wrong-state-root" });
    expect(invalidBlocks.has(last.root)).toBe(true);
  });

  it("is remembered for a signature in its body, but not for the proposer's signature", async () => {
    const { chain, genuine, changed, invalidBlocks } = await setUp();
    const inside = changed(({ body }) => body.randaoReveal.set(genuine.signed.signature));
    await expect(chain.importBlock(inside.signed)).rejects.toMatchObject({ reason: "invalid-signature" });
    expect(invalidBlocks.has(inside.root)).toBe(true);

    const forged = { ...genuine.signed, signature: inside.signed.signature };
    await expect(chain.importBlock(forged)).rejects.toMatchObject({ reason: "invalid-signature" });
    expect(invalidBlocks.has(genuine.root)).toBe(false);
    await chain.importBlock(genuine.signed);
    expect(chain.head.root).toBe(genuine.root);
  });

  it("is not remembered for a number that is hashed as another one", async () => {
    const { chain, genuine, changed, invalidBlocks } = await setUp();
    const twin = changed(({ body }) => {
      body.attestations[0]!.data.index = 2 ** 64;
    });
    expect(twin.root).toBe(genuine.root);
    await expect(chain.importBlock(twin.signed)).rejects.toMatchObject({ reason: "invalid-transition" });
    expect(invalidBlocks.has(genuine.root)).toBe(false);
    await chain.importBlock(genuine.signed);
    expect(chain.head.root).toBe(genuine.root);
  });
});

it("evicts the oldest roots", () => {
  const blocks = new InvalidBlockRoots();
  for (let mark = 0; mark <= 1024; mark++) blocks.add(`0x${mark}`);
  expect([0, 1, 1024].map((mark) => blocks.has(`0x${mark}`))).toEqual([false, true, true]);
});
