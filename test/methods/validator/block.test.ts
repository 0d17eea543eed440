import { DOMAIN_BEACON_PROPOSER, ForkName, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BeaconBlock, type ssz, sszTypesFor } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { produceBlock } from "../../../src/api/methods/validator/block-production.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import type { DevFork } from "../../../src/dev/forks.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { type OpenedDevChain, openQuietDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";
import { SignedOperations } from "../../support/chain/signed-operations.ts";
import { variants } from "../../support/suite/tier.ts";

const BLOCK = "get_v1_validator_block";
const HEAD = 3;
const SLOT = HEAD + 1;
const POINT_AT_INFINITY = `0xc0${"00".repeat(95)}`;

let opened: OpenedDevChain;
let caller: Caller;
let reveal: string;
beforeAll(async () => {
  opened = await startQuietDevChain(HEAD);
  await opened.devChain.clock.advanceTo(SLOT);
  caller = new Caller(opened.devChain.api);
  reveal = await revealAt(opened, SLOT);
});
afterAll(() => opened.close());

async function revealAt({ devChain }: OpenedDevChain, slot: number): Promise<string> {
  const proposers = await new Caller(devChain.api).call("get_v1_validator_duties_proposer", [
    Math.floor(slot / SLOTS_PER_EPOCH),
  ]);
  const proposer = Number(proposers[slot % SLOTS_PER_EPOCH].validator_index);
  return toHex(new ByHand(devChain).signer.randaoReveal(proposer, slot));
}

const hexOf = (text: string) => `0x${Buffer.from(text).toString("hex").padEnd(64, "0")}`;

describe.each(
  variants({ fast: ["phase0", "fulu"], full: ["altair", "bellatrix", "capella", "deneb", "electra"] } as const),
)("on %s", (fork: DevFork) => {
  it("a block is produced on the head for the slot's proposer, and imported after signing", async () => {
    const forks = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    const chainOfFork = await openQuietDevChain(2, { forks });
    const { devChain } = chainOfFork;
    const caller = new Caller(devChain.api);
    await devChain.clock.advanceTo(3);
    const head = devChain.chain.head.root;
    const params = [3, await revealAt(chainOfFork, 3), "mine"];

    const result = await caller.call(BLOCK, params);

    expect(await caller.meta(BLOCK, params)).toEqual({ version: fork, block_value: "0" });
    const isWrapped = ForkSeq[fork] >= ForkSeq.deneb;
    if (isWrapped) expect(result).toMatchObject({ kzg_proofs: [], blobs: [] });
    const json = isWrapped ? result.block : result;
    const proposers = await caller.call("get_v1_validator_duties_proposer", [0]);
    expect(json.parent_root).toBe(head);
    expect(json.proposer_index).toBe(proposers[3].validator_index);
    expect(json.body.graffiti).toBe(hexOf("mine"));
    // The attestations of slot 2 were pooled.
    expect(json.body.attestations).not.toEqual([]);

    const { signer } = new ByHand(devChain);
    const type = sszTypesFor(ForkName[fork]).BeaconBlock;
    const block = type.fromJson(json) as BeaconBlock;
    const signingRoot = signer.signingRoot(
      type as typeof ssz.phase0.BeaconBlock,
      block as never,
      DOMAIN_BEACON_PROPOSER,
      3,
    );
    const signed = { message: json, signature: toHex(signer.sign(block.proposerIndex, signingRoot)) };
    const submission = isWrapped ? { ...result, signed_block: signed } : signed;
    expect(await caller.call("post_v1_beacon_blocks", [submission])).toBe(200);
    expect(devChain.chain.head.root).toBe(toHex(type.hashTreeRoot(block as never)));
  });
});

describe("the graffiti of a block", () => {
  const graffitiOf = async (params: unknown[] | Record<string, unknown>) =>
    (await caller.call(BLOCK, params)).body.graffiti;

  it.each([
    ["text", "lighthouse", hexOf("lighthouse")],
    ["short hex", "0xFF00aa", `0x${"ff00aa".padEnd(64, "0")}`],
    ["32 bytes that are no text", `0x${"ff80".repeat(16)}`, `0x${"ff80".repeat(16)}`],
    ["32 bytes of text", "é".repeat(16), hexOf("é".repeat(16))],
    ["nothing", "", `0x${"00".repeat(32)}`],
  ])("is taken as it is given: %s", async (_what, given, expected) => {
    expect(await graffitiOf([SLOT, reveal, given])).toBe(expected);
    expect(await graffitiOf([SLOT, given, reveal])).toBe(expected);
    expect(await graffitiOf({ slot: SLOT, graffiti: given, randao_reveal: reveal })).toBe(expected);
  });

  it("defaults to setGraffiti", async () => {
    await caller.call("setGraffiti", ["0xff01"]);
    expect(await graffitiOf([SLOT, reveal])).toBe(`0x${"ff01".padEnd(64, "0")}`);
    expect(await graffitiOf([SLOT, reveal, null])).toBe(`0x${"ff01".padEnd(64, "0")}`);
    expect(await graffitiOf([SLOT, reveal, "mine"])).toBe(hexOf("mine"));
  });
});

it("works under all names", async () => {
  const block = await caller.call(BLOCK, [SLOT, reveal]);
  expect(await caller.call("get_v2_validator_blocks_slot", [String(SLOT), reveal])).toEqual(block);
  expect(await caller.call("get_v1_validator_blocks_slot", { slot: SLOT, randao_reveal: reveal })).toEqual(block);
});

it("includes pooled operations without removing them", async () => {
  const { devChain } = opened;
  const operations = new SignedOperations(devChain);
  await devChain.api.beacon.submitPoolProposerSlashings({ proposerSlashing: operations.doubleProposal(9, 1) });
  const block = await caller.call(BLOCK, [SLOT, reveal]);
  expect(block.body.attestations).not.toEqual([]);
  expect(block.body.proposer_slashings[0].signed_header_1.message.proposer_index).toBe("9");
  expect(await caller.call(BLOCK, [SLOT, reveal])).toEqual(block);
});

it("needs no reveal if verification is skipped", async () => {
  const { body } = await caller.call(BLOCK, [SLOT, POINT_AT_INFINITY, null, true]);
  expect(body.randao_reveal).toBe(POINT_AT_INFINITY);
  for (const params of [
    [SLOT, reveal, null, true],
    [SLOT, POINT_AT_INFINITY],
    [SLOT, POINT_AT_INFINITY, null, false],
    [SLOT, reveal, null, "true"],
  ]) {
    expect(await caller.error(BLOCK, params)).toMatchObject({ code: -32602 });
  }
});

it("is rejected with the reason", async () => {
  const { devChain } = opened;
  const somebody = new ByHand(devChain).signer;
  const other = [0, 1].map((index) => toHex(somebody.randaoReveal(index, SLOT))).find((each) => each !== reveal);
  for (const params of [
    [],
    [SLOT],
    [SLOT, reveal.slice(0, -2)],
    [SLOT, reveal.slice(2)],
    [SLOT, null],
    [SLOT, `0x${"11".repeat(96)}`],
    [SLOT, other],
    [HEAD, reveal],
    [0, reveal],
    [HEAD + 2 * SLOTS_PER_EPOCH + 1, reveal],
    ["18446744073709551615", reveal],
    ["next", reveal],
    [SLOT, reveal, "a".repeat(33)],
    [SLOT, reveal, "0xabc"],
    [SLOT, reveal, 5],
    [SLOT, reveal, "mine", false, 1],
  ]) {
    expect(await caller.error(BLOCK, params), JSON.stringify(params)).toMatchObject({ code: -32602 });
  }
});

it("cannot be produced while required deposits are unknown", async () => {
  const waiting = await openQuietDevChain(HEAD);
  const { chain } = waiting.devChain;
  const state = (await chain.states.afterBlock(chain.head.root, SLOT)).clone();
  state.eth1Data.depositCount += 1n;
  state.commit();
  chain.states.holdAdvanced(chain.head.root, state);
  const params = [SLOT, await revealAt(waiting, SLOT)];
  expect(await new Caller(waiting.devChain.api).error(BLOCK, params)).toMatchObject({
    code: -32002,
    message: expect.stringContaining("1 deposits"),
  });
});

it("blocks of gloas are unsupported by this method", async () => {
  const config = { getForkSeq: () => ForkSeq.gloas, getForkName: () => "gloas" };
  const chain = { status: { isSyncing: false }, config } as unknown as BeaconChain;
  await expect(produceBlock(chain, { slot: 1, randaoReveal: new Uint8Array(96) })).rejects.toMatchObject({
    kind: "unsupported",
    message: expect.stringContaining("use get_v4_validator_blocks_slot"),
  });
});

it.each(["altair", "electra"] as const)(
  "the consensus value of a block of %s is what its proposer earns, slashings included",
  async (fork) => {
    const chainOfFork = await openQuietDevChain(2, { forks: [{ fork, epoch: 0 }] });
    const { devChain } = chainOfFork;
    const { chain, api } = devChain;
    const caller = new Caller(api);
    const byHand = new ByHand(devChain);
    const operations = new SignedOperations(devChain);
    await devChain.clock.advanceTo(3);
    const proposer = chain.headState.epochCtx.getBeaconProposer(3);
    const [first, second] = [(proposer + 1) % 8, (proposer + 2) % 8] as const;
    chain.pools.operations.addProposerSlashing(operations.doubleProposal(first, 1));
    chain.pools.operations.addAttesterSlashing(operations.doubleVote([second], 0), ForkName[fork]);

    const randaoReveal = byHand.signer.randaoReveal(proposer, 3);
    const produced = await api.validator.produceBlockV3({ slot: 3, randaoReveal });
    const block = ("block" in produced.data ? produced.data.block : produced.data) as BeaconBlock;
    expect([block.body.proposerSlashings, block.body.attesterSlashings].map(({ length }) => length)).toEqual([1, 1]);
    const { signed } = byHand.sign(block);
    await chain.importBlock(signed);

    const rewards = await caller.call("get_v1_beacon_rewards_blocks_blockId", [3]);
    expect(Number(rewards.proposer_slashings)).toBeGreaterThan(0);
    expect(Number(rewards.attester_slashings)).toBeGreaterThan(0);
    expect(produced.meta.consensusBlockValue).toBe(BigInt(rewards.total) * 1_000_000_000n);
  },
);
