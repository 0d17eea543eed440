import { BitArray } from "@chainsafe/ssz";
import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import {
  type OpenedDevChain,
  openDevChain,
  openQuietDevChain,
  startQuietDevChain,
} from "../../support/chain/dev-chain.ts";
import { variants } from "../../support/suite/tier.ts";

const ATTESTATIONS = "get_v1_beacon_pool_attestations";
const POST_ATTESTATIONS = "post_v1_beacon_pool_attestations";
const MAX_UINT64 = "18446744073709551615";

// biome-ignore lint/suspicious/noExplicitAny: tests change payloads in ways that no type allows
type Json = any;

const WRONG_BITS: [string, (attestation: Json) => void][] = [
  ["with two bits", (attestation) => (attestation.aggregation_bits = "0x13")],
  ["with no bit", (attestation) => (attestation.aggregation_bits = "0x10")],
  ["with too many bits", (attestation) => (attestation.aggregation_bits = "0x21")],
];
const WRONG_ATTESTERS: [string, (attestation: Json) => void][] = [
  ["with an unknown committee", (attestation) => (attestation.committee_index = MAX_UINT64)],
  ["with an unknown attester", (attestation) => (attestation.attester_index = MAX_UINT64)],
  [
    "with an attester that signed something else",
    (attestation) => (attestation.attester_index = attestation.attester_index === "0" ? 1 : 0),
  ],
];

it("an attestation to a block before finality is rejected with that reason", async () => {
  const { devChain } = await openQuietDevChain(4 * SLOTS_PER_EPOCH + 1, { validators: 16 });
  const caller = new Caller(devChain.api);
  const { finalized } = await caller.call("get_v1_beacon_states_finality_checkpoints", ["head"]);
  const slot = Number(finalized.epoch) * SLOTS_PER_EPOCH - 2;
  const { root } = await caller.call("get_v1_beacon_blocks_blockId_root", [slot]);
  const attestation = ssz.phase0.Attestation.defaultValue();
  attestation.aggregationBits = BitArray.fromBoolArray([true]);
  attestation.data.slot = slot;
  attestation.data.beaconBlockRoot = ssz.Root.fromJson(root);
  attestation.data.target.epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const error = await caller.error(POST_ATTESTATIONS, [ssz.phase0.Attestation.toJson(attestation)]);
  expect(error).toMatchObject({ code: -32003 });
  expect(error.data.detail).toBe(
    `The attestation votes for block ${root} of slot ${slot}, which is before the finalized block ${finalized.root} of epoch ` +
      `${finalized.epoch}.`,
  );
});

describe.each(variants({ fast: ["fulu"], full: ["phase0"] } as const))("attestations of %s", (fork) => {
  const SLOT = 4;
  const OPTIONS: Partial<DevNodeOptions> = { validators: 32, forks: [{ fork, epoch: 0 }] };

  /** Produces the block of the slot, and attestations to it for submission. */
  async function prepare(devChain: DevChain) {
    await devChain.clock.advanceTo(SLOT);
    const byHand = new ByHand(devChain);
    const { root } = await byHand.propose(SLOT, devChain.chain.head.root);
    const type: { toJson(attestation: never): unknown } =
      devChain.config.getForkSeq(SLOT) >= ForkSeq.electra ? ssz.electra.SingleAttestation : ssz.phase0.Attestation;
    const attestations: Json[] = (await byHand.attestationsFor(SLOT, root)).map(({ attestation }) =>
      type.toJson(attestation as never),
    );
    return { devChain, byHand, caller: new Caller(devChain.api), attestations };
  }
  const open = async () => prepare((await openQuietDevChain(SLOT - 1, OPTIONS)).devChain);
  const ofSlot = { slot: SLOT };

  it("are pooled, aggregated and included in a block", async () => {
    const { devChain, byHand, caller, attestations } = await open();
    const [first, second, third, fourth] = attestations;
    expect(attestations).toHaveLength(4);
    expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([]);
    expect(await caller.call(POST_ATTESTATIONS, [first])).toBe(true);
    const [alone, ...others] = await caller.call(ATTESTATIONS, ofSlot);
    expect(others).toEqual([]);
    expect(alone).toMatchObject({ data: first.data, signature: first.signature });
    expect(Object.keys(alone).includes("committee_bits")).toBe(fork === "fulu");
    // A duplicate is accepted.
    expect(await caller.call(POST_ATTESTATIONS, [first, first])).toBe(true);
    const forged = { ...first, signature: second.signature };
    expect(await caller.error(POST_ATTESTATIONS, [first, forged])).toMatchObject({
      code: -32003,
      data: { failures: [{ index: 1, message: expect.stringContaining("is not signed by validator") }] },
    });
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

  it("are validated individually", async () => {
    const { caller, attestations } = await open();
    const [good, unknownBlock, other, badSignature] = attestations;
    unknownBlock.data.beacon_block_root = `0x${"ab".repeat(32)}`;
    badSignature.signature = good.signature;
    const { code, data } = await caller.error(POST_ATTESTATIONS, [[good, unknownBlock], badSignature, other]);
    expect(code).toBe(-32003);
    expect(data.failures?.map(({ index }) => index)).toEqual([1, 2]);
    expect(data.failures?.[0]?.message).toContain("unknown block");
    expect(data.failures?.[1]?.message).toContain("not signed");
    const [pooled] = await caller.call(ATTESTATIONS, ofSlot);
    // The first and third of four, and the delimiter bit.
    expect(pooled.aggregation_bits).toBe("0x15");
  });

  describe("without an effect", () => {
    let opened: OpenedDevChain;
    let caller: Caller;
    let attestations: Json[];
    beforeAll(async () => {
      opened = await startQuietDevChain(SLOT - 1, OPTIONS);
      ({ caller, attestations } = await prepare(opened.devChain));
    });
    afterAll(() => opened.close());

    const unknownRoot = `0x${"ab".repeat(32)}`;
    it.each<[string, (attestation: Json) => void]>([
      ["of a slot to come", (attestation) => (attestation.data.slot = "6")],
      ["of the last slot of all", (attestation) => (attestation.data.slot = MAX_UINT64)],
      ["with another target epoch", (attestation) => (attestation.data.target.epoch = "1")],
      ["with the last target epoch of all", (attestation) => (attestation.data.target.epoch = MAX_UINT64)],
      ["with an unknown target", (attestation) => (attestation.data.target.root = unknownRoot)],
      ["with an unknown block", (attestation) => (attestation.data.beacon_block_root = unknownRoot)],
      ["with the last source epoch of all", (attestation) => (attestation.data.source.epoch = MAX_UINT64)],
      ["with an unknown data index", (attestation) => (attestation.data.index = "1")],
      ["with the last data index of all", (attestation) => (attestation.data.index = MAX_UINT64)],
      ["without a signature", (attestation) => (attestation.signature = `0x${"00".repeat(96)}`)],
      ...(fork === "phase0" ? WRONG_BITS : WRONG_ATTESTERS),
    ])("%s are rejected", async (_what, spoil) => {
      const attestation = structuredClone(attestations[0]);
      spoil(attestation);
      const error = await caller.error(POST_ATTESTATIONS, [attestation]);
      expect(error).toMatchObject({ code: -32003, data: { failures: [{ index: 0, message: error.data.detail }] } });
      expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([]);
    });

    it("if one cannot be decoded", async () => {
      const [good, bad] = attestations;
      const wrong: [Json, string][] = [
        [{ ...bad, data: { ...bad.data, slot: "x" } }, "is invalid at data.slot: it must be a slot."],
        [{ ...bad, data: { ...bad.data, index: 1.5 } }, "is invalid at data.index: it must be an integer"],
        [{ ...bad, data: null }, "is invalid at data: it must be a JSON object, but null was given."],
        [{ ...bad, signature: "0x" }, "is invalid at signature: it must be 96 bytes"],
        [{ data: bad.data, signature: bad.signature }, "is missing the member "],
        [5, "must be a JSON object, but the number 5 was given."],
        [null, "must be a JSON object, but null was given."],
      ];
      for (const [payload, message] of wrong) {
        const error = await caller.error(POST_ATTESTATIONS, [good, payload]);
        expect(error.code).toBe(-32602);
        expect(error.message).toContain(`Item 1 of the parameter "attestations" ${message}`);
      }
      for (const params of [[], [[]], {}, { attestation: good }]) {
        expect(await caller.error(POST_ATTESTATIONS, params)).toMatchObject({ code: -32602 });
      }
      for (const filter of [["x"], [null, -1], [null, null, null], { index: 1 }]) {
        expect(await caller.error(ATTESTATIONS, filter)).toMatchObject({ code: -32602 });
      }
      expect(await caller.call(ATTESTATIONS, ofSlot)).toEqual([]);
    });
  });
});

it("the attestation pool returns each attestation in the format of its fork", async () => {
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
  expect(await caller.call("get_v2_beacon_pool_attestations")).toHaveLength(list.filter(isElectra).length);
});
