import { DOMAIN_BEACON_PROPOSER, ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { signedBlindedBlockToFull } from "@lodestar/state-transition";
import { type SignedBeaconBlock, type SignedBlindedBeaconBlock, sszTypesFor } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { produceBlock } from "../../../src/api/methods/validator/block-production.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { type OpenedDevChain, openQuietDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";
import { variants } from "../../support/suite/tier.ts";

const POST = "post_v2_beacon_blocks";
const POST_BLINDED = "post_v2_beacon_blinded_blocks";
const BLOCK = "get_v2_beacon_blocks_blockId";
const BLINDED = "get_v1_beacon_blinded_blocks_blockId";
const INVALID = -32602;
const REJECTED = -32003;
const UNSUPPORTED = -32004;
const UNAVAILABLE = -32002;

/** As submitted: from deneb on with an empty list of blobs. */
function postedForm(fork: ForkName, signed: SignedBeaconBlock): unknown {
  const json = sszTypesFor(fork).SignedBeaconBlock.toJson(signed as never);
  return fork === ForkName.fulu ? { signed_block: json, kzg_proofs: [], blobs: [] } : json;
}

async function atNextSlot(fork: ForkName) {
  const forks = fork === ForkName.phase0 ? [] : [{ fork: ForkName.fulu, epoch: 0 } as const];
  const { devChain } = await openQuietDevChain(4, { validators: 8, forks });
  await devChain.clock.advanceTo(5);
  return { devChain, caller: new Caller(devChain.api), byHand: new ByHand(devChain) };
}

describe.each(variants({ fast: [ForkName.fulu], full: [ForkName.phase0] } as const))(
  "blocks of %s are accepted",
  (fork) => {
    it.each(["gossip", "consensus", "consensus_and_equivocation"])("with validation %s", async (level) => {
      const { devChain, caller, byHand } = await atNextSlot(fork);
      const { signed, root } = byHand.sign(await byHand.produce(5, devChain.chain.head.root));
      expect(await caller.call(POST, [postedForm(fork, signed), level, fork])).toBe(200);
      expect(devChain.chain.head.root).toBe(root);
      // A repeated post gets the same response.
      expect(await caller.call(POST, [postedForm(fork, signed), level])).toBe(200);
    });

    it("unless they only pass gossip validation and more was requested", async () => {
      const { devChain, caller, byHand } = await atNextSlot(fork);
      const block = await byHand.produce(5, devChain.chain.head.root);
      const { signed } = byHand.sign({ ...block, stateRoot: new Uint8Array(32) } as typeof block);
      const posted = postedForm(fork, signed);
      for (const level of ["consensus", "consensus_and_equivocation"]) {
        expect(await caller.error(POST, [posted, level])).toMatchObject({
          code: REJECTED,
          message: expect.stringMatching(/state root/),
        });
      }
      expect(await caller.call(POST, [posted])).toBe(202);
      expect(devChain.chain.head.slot).toBe(4);
    });

    it("after a rejected, unpublished one of the proposer, but not after a published one", async () => {
      const { devChain, caller, byHand } = await atNextSlot(fork);
      const { chain } = devChain;
      const block = await byHand.produce(5, chain.head.root);
      const { signed: bad } = byHand.sign({ ...block, stateRoot: new Uint8Array(32) } as typeof block);
      const gossiped: string[] = [];
      chain.events.on("blockGossip", ({ root }) => gossiped.push(root));
      for (const level of ["consensus", "consensus_and_equivocation"]) {
        expect(await caller.error(POST, [postedForm(fork, bad), level])).toMatchObject({ code: REJECTED });
      }
      const { signed, root } = byHand.sign(block);
      expect(await caller.call(POST, [postedForm(fork, signed), "gossip"])).toBe(200);
      expect([chain.head.root, gossiped]).toEqual([root, [root]]);
      const { signed: second } = byHand.sign(await byHand.produce(5, toHex(block.parentRoot), 2));
      for (const level of ["gossip", "consensus", "consensus_and_equivocation"]) {
        expect(await caller.error(POST, [postedForm(fork, second), level])).toMatchObject({
          code: REJECTED,
          message: expect.stringMatching(/already proposed another block/),
        });
      }
      expect(gossiped).toEqual([root]);
    });

    it("one of two concurrent ones of a proposer", async () => {
      const { devChain, caller, byHand } = await atNextSlot(fork);
      const { chain } = devChain;
      const parent = chain.head.root;
      const gossiped: string[] = [];
      chain.events.on("blockGossip", ({ root }) => gossiped.push(root));
      const blocks = [await byHand.produce(5, parent, 1), await byHand.produce(5, parent, 2)];
      const forms = blocks.map((block) => postedForm(fork, byHand.sign(block).signed));
      const outcomes = await Promise.allSettled(forms.map((form) => caller.call(POST, [form, "consensus"])));
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(gossiped).toHaveLength(1);
    });

    it("unless the proposer has another one, from any source", async () => {
      const { devChain, caller, byHand } = await atNextSlot(fork);
      const parent = devChain.chain.head.root;
      const first = await byHand.propose(5, parent, 1);
      const { signed } = byHand.sign(await byHand.produce(5, parent, 2));
      const isRejected = {
        code: REJECTED,
        message: expect.stringMatching(/already proposed another block/),
      };
      for (const level of [null, "gossip", "consensus", "consensus_and_equivocation"]) {
        expect(await caller.error(POST, [postedForm(fork, signed), level])).toMatchObject(isRejected);
      }
      // With both known, posting one again changes nothing, but it is still an equivocation.
      await devChain.chain.importBlock(signed);
      for (const held of [first.signed, signed]) {
        expect(await caller.call(POST, [postedForm(fork, held), "consensus"])).toBe(200);
        expect(await caller.error(POST, [postedForm(fork, held), "consensus_and_equivocation"])).toMatchObject(
          isRejected,
        );
      }
    });

    it("only with their own fork", async () => {
      const { devChain, caller, byHand } = await atNextSlot(fork);
      const { signed } = byHand.sign(await byHand.produce(5, devChain.chain.head.root));
      expect(await caller.error(POST, [postedForm(fork, signed), null, "capella"])).toMatchObject({ code: INVALID });
      expect(devChain.chain.head.slot).toBe(4);
    });
  },
);

describe("blinded blocks", () => {
  let opened: OpenedDevChain;
  let caller: Caller;
  const HEAD = 2 * SLOTS_PER_EPOCH + 2;
  beforeAll(async () => {
    const forks = [
      { fork: ForkName.bellatrix, epoch: 1 },
      { fork: ForkName.capella, epoch: 2 },
    ] as const;
    opened = await startQuietDevChain(HEAD, { validators: 8, forks });
    await opened.devChain.clock.advanceTo(HEAD + 1);
    caller = new Caller(opened.devChain.api);
  });
  afterAll(() => opened?.close());

  it("equal full blocks before bellatrix", async () => {
    expect(await caller.call(BLINDED, [3])).toEqual(await caller.call(BLOCK, [3]));
    expect(await caller.meta(BLINDED, [3])).toMatchObject({ version: "altair" });
  });

  it.each([
    [ForkName.bellatrix, SLOTS_PER_EPOCH + 1],
    [ForkName.capella, HEAD],
  ] as const)("of %s have the header of the payload, and become whole with it", async (fork, slot) => {
    const blindedJson = await caller.call(BLINDED, [slot]);
    const wholeJson = await caller.call(BLOCK, [slot]);
    expect(blindedJson.message.body.execution_payload).toBeUndefined();
    expect(await caller.meta(BLINDED, [slot])).toMatchObject({ version: fork });

    const { SignedBeaconBlock, SignedBlindedBeaconBlock, BlindedBeaconBlock, BeaconBlock } = sszTypesFor(fork);
    const blinded = SignedBlindedBeaconBlock.fromJson(blindedJson) as SignedBlindedBeaconBlock;
    const whole = SignedBeaconBlock.fromJson(wholeJson);
    expect(BlindedBeaconBlock.hashTreeRoot(blinded.message as never)).toEqual(
      BeaconBlock.hashTreeRoot(whole.message as never),
    );
    const restored = signedBlindedBlockToFull(fork, blinded, whole.message.body.executionPayload);
    expect(SignedBeaconBlock.toJson(restored as never)).toEqual(wholeJson);
  });

  it("can be published if the payload is known", async () => {
    expect(await caller.call(POST_BLINDED, [await caller.call(BLINDED, ["head"])])).toBe(200);
  });

  it("are rejected like full ones if the proposer has another block", async () => {
    const { devChain } = opened;
    const byHand = new ByHand(devChain);
    const parent = devChain.chain.head.root;
    const first = await byHand.produce(HEAD + 1, parent, 1);
    const second = byHand.sign(await byHand.produce(HEAD + 1, parent, 2));
    const { config } = devChain;
    const type = config.getPostBellatrixForkTypes(HEAD + 1);
    const blind = async (root: string) => caller.call(BLINDED, [root]);

    await devChain.chain.importBlock(byHand.sign(first).signed);
    const known = await blind(byHand.sign(first).root);
    const secondJson = sszTypesFor(ForkName.capella).SignedBeaconBlock.toJson(second.signed as never) as {
      message: { body: Record<string, unknown> };
      signature: string;
    };
    const { execution_payload: _payload, ...body } = secondJson.message.body;
    const { execution_payload_header } = known.message.body;
    const blinded = {
      message: { ...secondJson.message, body: { ...body, execution_payload_header } },
      signature: secondJson.signature,
    };
    expect(type.SignedBlindedBeaconBlock.fromJson(blinded)).toBeDefined();
    expect(await caller.error(POST_BLINDED, [blinded])).toMatchObject({
      code: REJECTED,
      message: expect.stringMatching(/already proposed another block/),
    });
    await devChain.chain.importBlock(second.signed);
    expect(await blind(second.root)).toEqual(blinded);
    expect(await caller.call(POST_BLINDED, [blinded])).toBe(200);
  });

  it("are produced for a payload that the node keeps", async () => {
    const { devChain } = opened;
    const byHand = new ByHand(devChain);
    const slot = HEAD + 2;
    await devChain.clock.advanceTo(slot);
    const preState = await devChain.chain.states.afterBlock(devChain.chain.head.root, slot);
    const proposer = preState.epochCtx.getBeaconProposer(slot);
    const params = [slot, toHex(byHand.signer.randaoReveal(proposer, slot))];
    const produced = await caller.call("get_v1_validator_blinded_blocks_slot", params);
    expect(await caller.meta("get_v1_validator_blinded_blocks_slot", params)).toEqual({ version: "capella" });
    const type = devChain.config.getPostBellatrixForkTypes(slot).BlindedBeaconBlock;
    const signingRoot = byHand.signer.signingRoot(type as never, type.fromJson(produced), DOMAIN_BEACON_PROPOSER, slot);
    const signed = { message: produced, signature: toHex(byHand.signer.sign(proposer, signingRoot)) };
    expect(await caller.call(POST_BLINDED, [signed])).toBe(200);
    expect(devChain.chain.head.slot).toBe(slot);
    expect(await caller.call(BLINDED, ["head"])).toEqual(signed);
  });

  it("keep their payload despite requests without a reveal, and are rejected with the reason when it is evicted", async () => {
    const { devChain } = opened;
    const byHand = new ByHand(devChain);
    const slot = devChain.clock.currentSlot + 1;
    await devChain.clock.advanceTo(slot);
    const preState = await devChain.chain.states.afterBlock(devChain.chain.head.root, slot);
    const proposer = preState.epochCtx.getBeaconProposer(slot);
    const reveal = toHex(byHand.signer.randaoReveal(proposer, slot));
    const produced = await caller.call("get_v1_validator_blinded_blocks_slot", [slot, reveal]);
    const type = devChain.config.getPostBellatrixForkTypes(slot).BlindedBeaconBlock;
    const signingRoot = byHand.signer.signingRoot(type as never, type.fromJson(produced), DOMAIN_BEACON_PROPOSER, slot);
    const signed = { message: produced, signature: toHex(byHand.signer.sign(proposer, signingRoot)) };
    const ask = (index: number, randaoReveal: Uint8Array, skipRandaoVerification: boolean) => {
      const feeRecipient = new Uint8Array(20).fill(index);
      return produceBlock(devChain.chain, { slot, randaoReveal, skipRandaoVerification, feeRecipient });
    };
    const isHeld = () =>
      devChain.chain.producer.builtPayload(produced.body.execution_payload_header.block_hash) !== undefined;
    const noReveal = fromHex(`0xc0${"00".repeat(95)}`);
    for (let index = 1; index < 9; index++) await ask(index, noReveal, true);
    expect(isHeld()).toBe(true);
    for (let index = 1; index < 9; index++) await ask(index, fromHex(reveal), false);
    expect(isHeld()).toBe(false);
    expect(await caller.error(POST_BLINDED, [signed])).toMatchObject({
      code: UNAVAILABLE,
      message: expect.stringMatching(/was built by this node, but has been evicted/),
    });
  });

  it("are published as full blocks before bellatrix", async () => {
    expect(await caller.call(POST_BLINDED, [await caller.call(BLINDED, [3])])).toBe(200);
  });

  it("are rejected with an unknown payload", async () => {
    const blinded = await caller.call(BLINDED, ["head"]);
    blinded.message.body.execution_payload_header.block_hash = `0x${"11".repeat(32)}`;
    expect(await caller.error(POST_BLINDED, [blinded])).toMatchObject({
      code: UNSUPPORTED,
      message: expect.stringMatching(/no builder/),
    });
  });

  it("and attestations return their fork", async () => {
    const attestations = "get_v2_beacon_blocks_blockId_attestations";
    expect(await caller.call(attestations, [HEAD])).toEqual(
      (await caller.call(BLOCK, [HEAD])).message.body.attestations,
    );
    expect(await caller.meta(attestations, [HEAD])).toMatchObject({ version: "capella" });
  });
});
