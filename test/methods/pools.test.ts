import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type AttesterSlashing, type phase0, ssz } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { DevChain, DevChainOptions } from "../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { ByHand } from "../support/by-hand.ts";
import { Caller } from "../support/caller.ts";
import { type OpenedDevChain, openDevChain, openQuietDevChain, startQuietDevChain } from "../support/dev-chain.ts";
import { SignedOperations } from "../support/signed-operations.ts";

const ATTESTATIONS = "get_v1_beacon_pool_attestations";
const POST_ATTESTATIONS = "post_v1_beacon_pool_attestations";
const ATTESTER_SLASHINGS = "get_v1_beacon_pool_attester_slashings";
const POST_ATTESTER_SLASHING = "post_v1_beacon_pool_attester_slashings";
const PROPOSER_SLASHINGS = "get_v1_beacon_pool_proposer_slashings";
const POST_PROPOSER_SLASHING = "post_v1_beacon_pool_proposer_slashings";
const EXITS = "get_v1_beacon_pool_voluntary_exits";
const POST_EXIT = "post_v1_beacon_pool_voluntary_exits";
const VALIDATOR = "get_v1_beacon_states_stateId_validators_validatorId";
const MAX_UINT64 = "18446744073709551615";

// biome-ignore lint/suspicious/noExplicitAny: tests change payloads in ways that no type allows
type Json = any;

const exitJson = (exit: phase0.SignedVoluntaryExit): Json => ssz.phase0.SignedVoluntaryExit.toJson(exit);
const proposerJson = (slashing: phase0.ProposerSlashing): Json => ssz.phase0.ProposerSlashing.toJson(slashing);
const attesterJson = (slashing: AttesterSlashing): Json => ssz.electra.AttesterSlashing.toJson(slashing);

const WRONG_BITS: [string, (vote: Json) => void][] = [
  ["with two bits", (vote) => (vote.aggregation_bits = "0x13")],
  ["with no bit", (vote) => (vote.aggregation_bits = "0x10")],
  ["with too many bits", (vote) => (vote.aggregation_bits = "0x21")],
];
const WRONG_ATTESTERS: [string, (vote: Json) => void][] = [
  ["with an unknown committee", (vote) => (vote.committee_index = MAX_UINT64)],
  ["with an unknown attester", (vote) => (vote.attester_index = MAX_UINT64)],
  [
    "with an attester that signed something else",
    (vote) => (vote.attester_index = vote.attester_index === "0" ? 1 : 0),
  ],
];

describe.each(["phase0", "fulu"] as const)("attestations of %s", (fork) => {
  const SLOT = 4;
  const OPTIONS: Partial<DevChainOptions> = { validators: 32, forks: [{ fork, epoch: 0 }] };

  /** Makes the block of the slot, and the votes for it in the form in which they are submitted. */
  async function prepare(devChain: DevChain) {
    await devChain.clock.advanceTo(SLOT);
    const byHand = new ByHand(devChain);
    const { root } = await byHand.propose(SLOT, devChain.chain.head.root);
    const type: { toJson(vote: never): unknown } =
      devChain.config.getForkSeq(SLOT) >= ForkSeq.electra ? ssz.electra.SingleAttestation : ssz.phase0.Attestation;
    const votes: Json[] = (await byHand.votesFor(SLOT, root)).map(({ vote }) => type.toJson(vote as never));
    return { devChain, byHand, caller: new Caller(devChain.api), votes };
  }
  const open = async () => prepare((await openQuietDevChain(SLOT - 1, OPTIONS)).devChain);
  const ofSlot = { slot: SLOT };

  it("show in the pool, added up, and end in a block", async () => {
    const { devChain, byHand, caller, votes } = await open();
    const [first, second, third, fourth] = votes;
    expect(votes).toHaveLength(4);
    expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([]);
    expect(await caller.call(POST_ATTESTATIONS, [first])).toBe(true);
    const [alone, ...others] = await caller.call(ATTESTATIONS, ofSlot);
    expect(others).toEqual([]);
    expect(alone).toMatchObject({ data: first.data, signature: first.signature });
    expect(Object.keys(alone).includes("committee_bits")).toBe(fork === "fulu");
    // A second copy is as good as the first.
    expect(await caller.call(POST_ATTESTATIONS, [first, first])).toBe(true);
    expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([alone]);

    expect(await caller.call(POST_ATTESTATIONS, [second, [third]])).toBe(true);
    expect(await caller.call(POST_ATTESTATIONS, { attestations: [first, fourth] })).toBe(true);
    const [all] = await caller.call(ATTESTATIONS, [SLOT, 0]);
    expect(all.aggregation_bits).toBe("0x1f");
    expect(await caller.call(ATTESTATIONS, [SLOT, "1"])).toEqual([]);
    expect(await caller.call(ATTESTATIONS, [SLOT + 1])).toEqual([]);
    expect(await caller.call(ATTESTATIONS, [null, 0])).toContainEqual(all);
    expect(await caller.call(ATTESTATIONS)).toContainEqual(all);

    await devChain.clock.advanceTo(SLOT + 1);
    const { root } = await byHand.propose(SLOT + 1, devChain.chain.head.root);
    expect(await caller.call("get_v1_beacon_blocks_blockId_attestations", [root])).toContainEqual(all);
    expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([all]);
  });

  it("are judged one by one", async () => {
    const { caller, votes } = await open();
    const [good, unknownBlock, other, badSignature] = votes;
    unknownBlock.data.beacon_block_root = `0x${"ab".repeat(32)}`;
    badSignature.signature = good.signature;
    const { code, data } = await caller.error(POST_ATTESTATIONS, [[good, unknownBlock], badSignature, other]);
    expect(code).toBe(-32003);
    expect(data.failures?.map(({ index }) => index)).toEqual([1, 2]);
    expect(data.failures?.[0]?.message).toContain("not known");
    expect(data.failures?.[1]?.message).toContain("not signed");
    const [pooled] = await caller.call(ATTESTATIONS, ofSlot);
    // The first and the third of the four, and the bit that ends the list.
    expect(pooled.aggregation_bits).toBe("0x15");
  });

  describe("that change nothing", () => {
    let opened: OpenedDevChain;
    let caller: Caller;
    let votes: Json[];
    beforeAll(async () => {
      opened = await startQuietDevChain(SLOT - 1, OPTIONS);
      ({ caller, votes } = await prepare(opened.devChain));
    });
    afterAll(() => opened.close());

    const unknownRoot = `0x${"ab".repeat(32)}`;
    it.each<[string, (vote: Json) => void]>([
      ["of a slot to come", (vote) => (vote.data.slot = "6")],
      ["of the last slot of all", (vote) => (vote.data.slot = MAX_UINT64)],
      ["with another target epoch", (vote) => (vote.data.target.epoch = "1")],
      ["with the last target epoch of all", (vote) => (vote.data.target.epoch = MAX_UINT64)],
      ["with an unknown target", (vote) => (vote.data.target.root = unknownRoot)],
      ["with an unknown block", (vote) => (vote.data.beacon_block_root = unknownRoot)],
      ["with the last source epoch of all", (vote) => (vote.data.source.epoch = MAX_UINT64)],
      ["with an unknown data index", (vote) => (vote.data.index = "1")],
      ["with the last data index of all", (vote) => (vote.data.index = MAX_UINT64)],
      ["without a signature", (vote) => (vote.signature = `0x${"00".repeat(96)}`)],
      ...(fork === "phase0" ? WRONG_BITS : WRONG_ATTESTERS),
    ])("%s are rejected", async (_what, spoil) => {
      const vote = structuredClone(votes[0]);
      spoil(vote);
      const error = await caller.error(POST_ATTESTATIONS, [vote]);
      expect(error).toMatchObject({ code: -32003, data: { failures: [{ index: 0, message: error.data.detail }] } });
      expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([]);
    });

    it("because one cannot be decoded", async () => {
      const [good, bad] = votes;
      const wrong: [Json, string][] = [
        [{ ...bad, data: { ...bad.data, slot: "x" } }, "is wrong at data.slot: it must be a slot."],
        [{ ...bad, data: { ...bad.data, index: 1.5 } }, "is wrong at data.index: it must be an integer"],
        [{ ...bad, data: null }, "is wrong at data: it must be a JSON object, but null was given."],
        [{ ...bad, signature: "0x" }, "is wrong at signature: it must be 96 bytes"],
        [{ data: bad.data, signature: bad.signature }, "lacks the member "],
        [5, "must be a JSON object, but the number 5 was given."],
        [null, "must be a JSON object, but null was given."],
      ];
      for (const [payload, message] of wrong) {
        const error = await caller.error(POST_ATTESTATIONS, [good, payload]);
        expect(error.code).toBe(-32602);
        expect(error.message).toContain(`Item 1 of the parameter "attestations" ${message}`);
      }
      for (const params of [[], [[]], { attestations: [] }, {}, { attestation: good }]) {
        expect(await caller.error(POST_ATTESTATIONS, params)).toMatchObject({ code: -32602 });
      }
      for (const filter of [["x"], [null, -1], [null, null, null], { index: 1 }]) {
        expect(await caller.error(ATTESTATIONS, filter)).toMatchObject({ code: -32602 });
      }
      expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([]);
    });
  });
});

test("the attestation pool shows each attestation in the form of its fork", async () => {
  const forks: ScheduledFork[] = [
    { fork: "deneb", epoch: 0 },
    { fork: "electra", epoch: 1 },
  ];
  const { devChain } = await openDevChain({ validators: 8, forks });
  await devChain.clock.advanceTo(SLOTS_PER_EPOCH + 2);
  const caller = new Caller(devChain.api);
  const list: Json[] = await caller.call(ATTESTATIONS);
  const isElectra = (attestation: Json) => Number(attestation.data.slot) >= SLOTS_PER_EPOCH;
  expect(new Set(list.map(isElectra))).toEqual(new Set([true, false]));
  for (const attestation of list) expect("committee_bits" in attestation).toBe(isElectra(attestation));
  const { data } = await devChain.api.beacon.getPoolAttestationsV2({});
  expect(data).toHaveLength(list.filter(isElectra).length);
});

/** The statuses that a validator goes through while time passes, each once. */
async function statusesUntil(devChain: DevChain, caller: Caller, validators: number[], epoch: number) {
  const seen = validators.map((): string[] => []);
  for (;;) {
    for (const [position, validator] of validators.entries()) {
      const { status } = await caller.call(VALIDATOR, ["head", validator]);
      if (seen[position]!.at(-1) !== status) seen[position]!.push(status);
    }
    if (devChain.clock.currentSlot >= epoch * SLOTS_PER_EPOCH) return seen;
    await devChain.clock.advanceTo(devChain.clock.currentSlot + 1);
  }
}

describe.each(["phase0", "fulu"] as const)("operations of %s", (fork) => {
  it("take validators off the chain", async () => {
    const { devChain } = await openDevChain({ validators: 16, forks: [{ fork, epoch: 0 }] });
    const caller = new Caller(devChain.api);
    const operations = new SignedOperations(devChain);
    for (const pool of [ATTESTER_SLASHINGS, PROPOSER_SLASHINGS, EXITS]) expect(await caller.call(pool)).toEqual([]);
    // The validators have served long enough to leave.
    await devChain.clock.advanceTo(4 * SLOTS_PER_EPOCH);

    const proposer = proposerJson(operations.doubleProposal(1, 5));
    const attester = attesterJson(operations.doubleVote([2, 3], 1));
    const exit = exitJson(operations.exit(4));
    const submissions = [
      [POST_PROPOSER_SLASHING, PROPOSER_SLASHINGS, proposer],
      [POST_ATTESTER_SLASHING, ATTESTER_SLASHINGS, attester],
      [POST_EXIT, EXITS, exit],
    ] as const;
    for (const [submit, list, payload] of submissions) {
      expect(await caller.call(submit, [payload])).toBe(true);
      expect(await caller.call(list)).toEqual([payload]);
      expect(await caller.call(submit, [payload])).toBe(true);
      expect(await caller.call(list)).toEqual([payload]);
    }
    const headBefore = devChain.chain.head.slot;
    await devChain.clock.advanceTo(4 * SLOTS_PER_EPOCH + 4);
    const bodies = [];
    for (let slot = headBefore + 1; slot <= devChain.chain.head.slot; slot++) {
      const block = await caller.call("getBeaconBlock", [slot]);
      if (block !== null) bodies.push(block.message.body);
    }
    expect(bodies.flatMap((body) => body.proposer_slashings)).toEqual([proposer]);
    expect(bodies.flatMap((body) => body.attester_slashings)).toEqual([attester]);
    expect(bodies.flatMap((body) => body.voluntary_exits)).toEqual([exit]);
    // Included is not final yet.
    for (const [, list, payload] of submissions) expect(await caller.call(list)).toEqual([payload]);

    const [byProposal, byVote, alsoByVote, byExit] = await statusesUntil(devChain, caller, [1, 2, 3, 4], 11);
    expect(byProposal).toEqual(["active_slashed", "exited_slashed"]);
    expect(byVote).toEqual(["active_slashed", "exited_slashed"]);
    expect(alsoByVote).toEqual(["active_slashed", "exited_slashed"]);
    expect(byExit).toEqual(["active_exiting", "exited_unslashed"]);
    // What happened for good waits no longer.
    expect(Number((await caller.call("getChainHead")).finalized_slot)).toBeGreaterThan(5 * SLOTS_PER_EPOCH);
    for (const [, list] of submissions) expect(await caller.call(list)).toEqual([]);
    // And cannot happen again.
    for (const [submit, , payload] of submissions) {
      expect(await caller.error(submit, [payload])).toMatchObject({ code: -32003 });
    }
    expect(await caller.error(POST_PROPOSER_SLASHING, [proposerJson(operations.doubleProposal(2, 6))])).toMatchObject({
      code: -32003,
      data: { detail: expect.stringContaining("cannot be slashed") },
    });
    expect(await caller.error(POST_ATTESTER_SLASHING, [attesterJson(operations.doubleVote([1], 1))])).toMatchObject({
      code: -32003,
    });
  });
});

describe("operations that are not good", () => {
  async function open(historySlots: number) {
    const { devChain } = await openQuietDevChain(historySlots, { validators: 16 });
    return { caller: new Caller(devChain.api), operations: new SignedOperations(devChain) };
  }

  it("are rejected with their reasons", async () => {
    const { caller, operations } = await open(4 * SLOTS_PER_EPOCH);
    const exit = exitJson(operations.exit(4));
    const vote = attesterJson(operations.doubleVote([2, 3], 1));
    const proposal = proposerJson(operations.doubleProposal(1, 5));
    const exitOf = (message: object) => ({ ...exit, message: { ...exit.message, ...message } });
    const voteOf = (changes: object) => ({ ...vote, attestation_1: { ...vote.attestation_1, ...changes } });
    const unknownProposer = structuredClone(proposal);
    unknownProposer.signed_header_1.message.proposer_index = "16";
    const lastSlot = structuredClone(proposal);
    lastSlot.signed_header_1.message.slot = MAX_UINT64;
    lastSlot.signed_header_2.message.slot = MAX_UINT64;
    const rejections: [string, Json, string][] = [
      [POST_EXIT, exitJson(operations.exit(4, { epoch: 5 })), "epoch 5"],
      [POST_EXIT, exitOf({ epoch: MAX_UINT64 }), "is for epoch"],
      [POST_EXIT, exitJson(operations.exit(4, { by: 5 })), "not signed"],
      [POST_EXIT, exitOf({ validator_index: "16" }), "no validator 16"],
      [POST_EXIT, exitOf({ validator_index: MAX_UINT64 }), "no validator"],
      [POST_EXIT, { ...exit, signature: `0x${"ff".repeat(96)}` }, "not signed"],
      [POST_ATTESTER_SLASHING, voteOf({ attesting_indices: ["3", "2"] }), "sorted"],
      [POST_ATTESTER_SLASHING, voteOf({ attesting_indices: ["2", "2"] }), "without repetition"],
      [POST_ATTESTER_SLASHING, voteOf({ attesting_indices: [] }), "not empty"],
      [POST_ATTESTER_SLASHING, voteOf({ attesting_indices: ["2", "16"] }), "those of validators"],
      [POST_ATTESTER_SLASHING, voteOf({ attesting_indices: ["2", MAX_UINT64] }), "those of validators"],
      [POST_ATTESTER_SLASHING, voteOf({ attesting_indices: ["4", "5"] }), "in common"],
      [POST_ATTESTER_SLASHING, attesterJson(operations.doubleVote([2], 1, { differ: false })), "neither"],
      [POST_ATTESTER_SLASHING, attesterJson(operations.doubleVote([2, 3], 1, { by: [2, 4] })), "not both signed"],
      [POST_ATTESTER_SLASHING, { attestation_1: vote.attestation_1, attestation_2: vote.attestation_1 }, "neither"],
      [POST_PROPOSER_SLASHING, proposerJson(operations.doubleProposal(1, 5, { differ: false })), "different headers"],
      [POST_PROPOSER_SLASHING, proposerJson(operations.doubleProposal(1, 5, { by: 2 })), "not both signed"],
      [POST_PROPOSER_SLASHING, unknownProposer, "no validator 16"],
      [POST_PROPOSER_SLASHING, lastSlot, "signed"],
    ];
    for (const [method, payload, reason] of rejections) {
      const error = await caller.error(method, [payload]);
      expect([method, error.code]).toEqual([method, -32003]);
      expect(error.data.detail).toContain(reason);
    }
    for (const pool of [ATTESTER_SLASHINGS, PROPOSER_SLASHINGS, EXITS]) expect(await caller.call(pool)).toEqual([]);
  });

  it("include exits of validators that have served too short a time", async () => {
    const { caller, operations } = await open(4 * SLOTS_PER_EPOCH - 1);
    const error = await caller.error(POST_EXIT, [exitJson(operations.exit(4))]);
    expect(error).toMatchObject({ code: -32003, data: { detail: expect.stringContaining("may exit after 4 epochs") } });
  });

  it("are not decoded when they are malformed", async () => {
    const { caller, operations } = await open(1);
    const exit = exitJson(operations.exit(4));
    const vote = attesterJson(operations.doubleVote([2, 3], 1));
    const proposal = proposerJson(operations.doubleProposal(1, 5));
    const tooMany = structuredClone(vote);
    tooMany.attestation_2.attesting_indices = Array(2049).fill("1");
    const malformed: [string, Json][] = [
      [POST_EXIT, { message: exit.message }],
      [POST_EXIT, { ...exit, message: { epoch: "0" } }],
      [POST_EXIT, { ...exit, message: { epoch: -1, validator_index: "1" } }],
      [POST_EXIT, [exit]],
      [POST_ATTESTER_SLASHING, { attestation_1: vote.attestation_1 }],
      [POST_ATTESTER_SLASHING, { ...vote, attestation_2: [] }],
      [POST_ATTESTER_SLASHING, tooMany],
      [POST_PROPOSER_SLASHING, { signed_header_1: proposal.signed_header_1 }],
      [POST_PROPOSER_SLASHING, { ...proposal, signed_header_2: { ...proposal.signed_header_2, signature: "0x12" } }],
    ];
    for (const [method, payload] of malformed) {
      const error = await caller.error(method, [payload]);
      expect([method, error.code]).toEqual([method, -32602]);
    }
    for (const method of [POST_EXIT, POST_ATTESTER_SLASHING, POST_PROPOSER_SLASHING]) {
      for (const params of [[], [null], ["x"], [1], [{}], [{}, {}], { payload: {} }]) {
        expect(await caller.error(method, params)).toMatchObject({ code: -32602 });
      }
    }
    for (const method of [EXITS, ATTESTER_SLASHINGS, PROPOSER_SLASHINGS]) {
      expect(await caller.error(method, [1])).toMatchObject({ code: -32602 });
    }
  });
});
