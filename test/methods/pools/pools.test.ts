import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type AttesterSlashing, type phase0, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { Caller } from "../../support/api/caller.ts";
import { advance, openDevChain, openQuietDevChain } from "../../support/chain/dev-chain.ts";
import { SignedOperations } from "../../support/chain/signed-operations.ts";
import { variants } from "../../support/suite/tier.ts";

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

/** The successive statuses of a validator. */
async function statusesUntil(devChain: DevChain, caller: Caller, validators: number[], epoch: number) {
  const seen = validators.map((): string[] => []);
  for (;;) {
    for (const [position, validator] of validators.entries()) {
      const { status } = await caller.call(VALIDATOR, ["head", validator]);
      if (seen[position]!.at(-1) !== status) seen[position]!.push(status);
    }
    if (devChain.clock.currentSlot >= epoch * SLOTS_PER_EPOCH) return seen;
    await advance(devChain, devChain.clock.currentSlot + 1);
  }
}

describe.each(variants({ fast: ["fulu"], full: ["phase0"] } as const))("operations of %s", (fork) => {
  it("exit validators", async () => {
    const { devChain } = await openDevChain({ validators: 16, forks: [{ fork, epoch: 0 }] });
    const caller = new Caller(devChain.api);
    const operations = new SignedOperations(devChain);
    for (const pool of [ATTESTER_SLASHINGS, PROPOSER_SLASHINGS, EXITS]) expect(await caller.call(pool)).toEqual([]);
    // The validators have been active long enough to exit.
    await advance(devChain, 4 * SLOTS_PER_EPOCH);

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
    await advance(devChain, 4 * SLOTS_PER_EPOCH + 4);
    const bodies = [];
    for (let slot = headBefore + 1; slot <= devChain.chain.head.slot; slot++) {
      const block = await caller.call("getBeaconBlock", [slot]);
      if (block !== null) bodies.push(block.message.body);
    }
    expect(bodies.flatMap((body) => body.proposer_slashings)).toEqual([proposer]);
    expect(bodies.flatMap((body) => body.attester_slashings)).toEqual([attester]);
    expect(bodies.flatMap((body) => body.voluntary_exits)).toEqual([exit]);
    // Included, but not finalized.
    for (const [, list, payload] of submissions) expect(await caller.call(list)).toEqual([payload]);
    // Already applied, so blocks do not include it again although the pool still has it.
    for (const [submit, why] of [
      [POST_PROPOSER_SLASHING, "Validator 1 is already slashed"],
      [POST_ATTESTER_SLASHING, "All 2 common attesters are already slashed"],
      [POST_EXIT, "Validator 4 already exits"],
    ]) {
      const payload = submissions.find(([method]) => method === submit)![2];
      expect(await caller.error(submit!, [payload])).toMatchObject({
        code: -32003,
        data: { detail: expect.stringContaining(why!) },
      });
    }

    const [byProposal, byVote, alsoByVote, byExit] = await statusesUntil(devChain, caller, [1, 2, 3, 4], 11);
    expect(byProposal).toEqual(["active_slashed", "exited_slashed"]);
    expect(byVote).toEqual(["active_slashed", "exited_slashed"]);
    expect(alsoByVote).toEqual(["active_slashed", "exited_slashed"]);
    expect(byExit).toEqual(["active_exiting", "exited_unslashed"]);
    // Finalized operations leave the pool.
    expect(Number((await caller.call("getChainHead")).finalized_slot)).toBeGreaterThan(5 * SLOTS_PER_EPOCH);
    for (const [, list] of submissions) expect(await caller.call(list)).toEqual([]);
    // They cannot be submitted again.
    for (const [submit, , payload] of submissions) {
      expect(await caller.error(submit, [payload])).toMatchObject({ code: -32003 });
    }
    expect(await caller.error(POST_PROPOSER_SLASHING, [proposerJson(operations.doubleProposal(2, 6))])).toMatchObject({
      code: -32003,
      data: { detail: expect.stringContaining("already slashed") },
    });
    expect(await caller.error(POST_ATTESTER_SLASHING, [attesterJson(operations.doubleVote([1], 1))])).toMatchObject({
      code: -32003,
    });
  });
});

describe("invalid operations", () => {
  async function open(historySlots: number) {
    const { devChain } = await openQuietDevChain(historySlots, { validators: 16 });
    return { caller: new Caller(devChain.api), operations: new SignedOperations(devChain) };
  }

  it("are rejected with the reason", async () => {
    const { caller, operations } = await open(4 * SLOTS_PER_EPOCH);
    const exit = exitJson(operations.exit(4));
    const slashing = attesterJson(operations.doubleVote([2, 3], 1));
    const proposal = proposerJson(operations.doubleProposal(1, 5));
    const exitOf = (message: object) => ({ ...exit, message: { ...exit.message, ...message } });
    const slashingOf = (changes: object) => ({ ...slashing, attestation_1: { ...slashing.attestation_1, ...changes } });
    const unknownProposer = structuredClone(proposal);
    unknownProposer.signed_header_1.message.proposer_index = "16";
    const lastSlot = structuredClone(proposal);
    lastSlot.signed_header_1.message.slot = MAX_UINT64;
    lastSlot.signed_header_2.message.slot = MAX_UINT64;
    const rejections: [string, Json, string][] = [
      [POST_EXIT, exitJson(operations.exit(4, { epoch: 5 })), "epoch 5"],
      [POST_EXIT, exitOf({ epoch: MAX_UINT64 }), `message.epoch is ${MAX_UINT64}.`],
      [POST_EXIT, exitJson(operations.exit(4, { by: 5 })), "not signed"],
      [POST_EXIT, exitOf({ validator_index: "16" }), "Unknown validator 16"],
      [POST_EXIT, exitOf({ validator_index: MAX_UINT64 }), "Integers above 2^53-1 are not accepted"],
      [POST_EXIT, { ...exit, signature: `0x${"ff".repeat(96)}` }, "not signed"],
      [POST_ATTESTER_SLASHING, slashingOf({ attesting_indices: ["3", "2"] }), "sorted"],
      [POST_ATTESTER_SLASHING, slashingOf({ attesting_indices: ["2", "2"] }), "must be sorted, unique"],
      [POST_ATTESTER_SLASHING, slashingOf({ attesting_indices: [] }), "not empty"],
      [POST_ATTESTER_SLASHING, slashingOf({ attesting_indices: ["2", "16"] }), "below the number of validators"],
      [POST_ATTESTER_SLASHING, slashingOf({ attesting_indices: ["2", MAX_UINT64] }), `[1] is ${MAX_UINT64}.`],
      [POST_ATTESTER_SLASHING, slashingOf({ attesting_indices: ["4", "5"] }), "in common"],
      [POST_ATTESTER_SLASHING, attesterJson(operations.doubleVote([2], 1, { differ: false })), "neither"],
      [POST_ATTESTER_SLASHING, attesterJson(operations.doubleVote([2, 3], 1, { by: [2, 4] })), "not both signed"],
      [
        POST_ATTESTER_SLASHING,
        { attestation_1: slashing.attestation_1, attestation_2: slashing.attestation_1 },
        "neither",
      ],
      [POST_PROPOSER_SLASHING, proposerJson(operations.doubleProposal(1, 5, { differ: false })), "different headers"],
      [POST_PROPOSER_SLASHING, proposerJson(operations.doubleProposal(1, 5, { by: 2 })), "not both signed"],
      [POST_PROPOSER_SLASHING, unknownProposer, "Unknown validator 16"],
      [POST_PROPOSER_SLASHING, lastSlot, "signed"],
    ];
    for (const [method, payload, reason] of rejections) {
      const error = await caller.error(method, [payload]);
      expect([method, error.code]).toEqual([method, -32003]);
      expect(error.data.detail).toContain(reason);
    }
    for (const pool of [ATTESTER_SLASHINGS, PROPOSER_SLASHINGS, EXITS]) expect(await caller.call(pool)).toEqual([]);
  });

  it("are rejected even if the validator has a pooled one", async () => {
    const { caller, operations } = await open(4 * SLOTS_PER_EPOCH);
    const [exit, otherExit] = [0, 1].map((epoch) => exitJson(operations.exit(4, { epoch })));
    const cases: { submit: string; list: string; first: Json; forged: Json[]; other: Json; why: string }[] = [
      {
        submit: POST_EXIT,
        list: EXITS,
        first: exit,
        forged: [exitJson(operations.exit(4, { epoch: 1, by: 5 })), { ...exit, signature: otherExit.signature }],
        other: otherExit,
        why: "is not signed by that validator",
      },
      {
        submit: POST_ATTESTER_SLASHING,
        list: ATTESTER_SLASHINGS,
        first: attesterJson(operations.doubleVote([2, 3], 1)),
        forged: [attesterJson(operations.doubleVote([2, 3], 2, { by: [2, 4] }))],
        other: attesterJson(operations.doubleVote([2], 2)),
        why: "not both signed",
      },
      {
        submit: POST_PROPOSER_SLASHING,
        list: PROPOSER_SLASHINGS,
        first: proposerJson(operations.doubleProposal(1, 5)),
        forged: [proposerJson(operations.doubleProposal(1, 6, { by: 2 }))],
        other: proposerJson(operations.doubleProposal(1, 6)),
        why: "not both signed",
      },
    ];
    for (const { submit, list, first, forged, other, why } of cases) {
      expect(await caller.call(submit, [first])).toBe(true);
      for (const payload of forged) {
        expect(await caller.error(submit, [payload])).toMatchObject({
          code: -32003,
          data: { detail: expect.stringContaining(why) },
        });
      }
      for (const payload of [other, first]) expect(await caller.call(submit, [payload])).toBe(true);
      expect(await caller.call(list)).toEqual([first]);
    }
  });

  it("include exits of validators that have not been active long enough", async () => {
    const { caller, operations } = await open(4 * SLOTS_PER_EPOCH - 1);
    const error = await caller.error(POST_EXIT, [exitJson(operations.exit(4))]);
    expect(error).toMatchObject({ code: -32003, data: { detail: expect.stringContaining("can exit after 4 epochs") } });
  });

  it("are not decoded when they are malformed", async () => {
    const { caller, operations } = await open(1);
    const exit = exitJson(operations.exit(4));
    const slashing = attesterJson(operations.doubleVote([2, 3], 1));
    const proposal = proposerJson(operations.doubleProposal(1, 5));
    const tooMany = structuredClone(slashing);
    tooMany.attestation_2.attesting_indices = Array(2049).fill("1");
    const malformed: [string, Json][] = [
      [POST_EXIT, { message: exit.message }],
      [POST_EXIT, { ...exit, message: { epoch: "0" } }],
      [POST_EXIT, { ...exit, message: { epoch: -1, validator_index: "1" } }],
      [POST_EXIT, [exit]],
      [POST_ATTESTER_SLASHING, { attestation_1: slashing.attestation_1 }],
      [POST_ATTESTER_SLASHING, { ...slashing, attestation_2: [] }],
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
