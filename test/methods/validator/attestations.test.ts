import { aggregateSerializedSignatures, fastAggregateVerify, PublicKey, Signature } from "@chainsafe/blst";
import { BitArray } from "@chainsafe/ssz";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_SELECTION_PROOF,
  SLOTS_PER_EPOCH,
} from "@lodestar/params";
import { isAggregatorFromCommitteeLength } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { toHex, toRootHex } from "@lodestar/utils";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { openQuietDevChain } from "../../support/chain/dev-chain.ts";

const DATA = "get_v1_validator_attestation_data";
const AGGREGATE = "get_v1_validator_aggregate_attestation";
const PUBLISH = "post_v1_validator_aggregate_and_proofs";
const VALIDATORS = 64;
/** The last slot with a block, in the second epoch. */
const HEAD = SLOTS_PER_EPOCH + 2;

let devChain: DevChain;
let caller: Caller;
let byHand: ByHand;
async function open(headSlot: number, validators = VALIDATORS) {
  devChain = (await openQuietDevChain(headSlot, { validators })).devChain;
  caller = new Caller(devChain.api);
  byHand = new ByHand(devChain);
}

/** Attestations of a committee of the current slot, with the node's attestation data. */
async function attestedCommittee(slot: number, committeeIndex = 0) {
  const data = ssz.phase0.AttestationData.fromJson(await caller.call(DATA, [slot, committeeIndex]));
  const state = await devChain.chain.states.atCheckpoint({
    epoch: data.target.epoch,
    root: toRootHex(data.target.root),
  });
  const committee = Array.from(state.epochCtx.getBeaconCommittee(slot, committeeIndex));
  const attestations = committee.map((validator, position) =>
    ssz.phase0.Attestation.toJson({
      aggregationBits: BitArray.fromSingleBit(committee.length, position),
      data,
      signature: byHand.signAttestation(validator, data),
    }),
  );
  const root = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data));
  return { data, root, committee, attestations };
}

type AttestedCommittee = Awaited<ReturnType<typeof attestedCommittee>>;

function expectSignedByItsBits(attestationJson: unknown, { committee }: AttestedCommittee): number {
  const { aggregationBits, data, signature } = ssz.phase0.Attestation.fromJson(attestationJson);
  const keys = aggregationBits
    .intersectValues(committee)
    .map((validator) => PublicKey.fromBytes(devChain.keys.publicKey(validator)!));
  const signingRoot = byHand.signer.signingRoot(ssz.phase0.AttestationData, data, DOMAIN_BEACON_ATTESTER, data.slot);
  expect(fastAggregateVerify(signingRoot, keys, Signature.fromBytes(signature))).toBe(true);
  return keys.length;
}

function signedAggregate(
  { data, committee }: AttestedCommittee,
  positions: number[],
  aggregator = committee[positions[0]!]!,
) {
  const { slot } = data;
  const aggregate: phase0.Attestation = {
    aggregationBits: BitArray.fromBoolArray(committee.map((_, position) => positions.includes(position))),
    data,
    signature: aggregateSerializedSignatures(
      positions.map((position) => byHand.signAttestation(committee[position]!, data)),
    ).toBytes(),
  };
  const message = { aggregatorIndex: aggregator, aggregate, selectionProof: selectionProof(aggregator, slot) };
  const type = ssz.phase0.AggregateAndProof;
  const signingRoot = byHand.signer.signingRoot(type, message, DOMAIN_AGGREGATE_AND_PROOF, slot);
  return ssz.phase0.SignedAggregateAndProof.toJson({ message, signature: byHand.signer.sign(aggregator, signingRoot) });
}

function selectionProof(validator: number, slot: number): Uint8Array {
  const signingRoot = byHand.signer.signingRoot(ssz.Slot, slot, DOMAIN_SELECTION_PROOF, slot);
  return byHand.signer.sign(validator, signingRoot);
}

describe("attestation data", () => {
  it("has the newest block, the epoch's first block and the justified checkpoint", async () => {
    await open(HEAD);
    const { head } = devChain.chain;
    const emptyEpochStart = 2 * SLOTS_PER_EPOCH;
    await devChain.clock.advanceTo(emptyEpochStart + 1);

    const atHead = await caller.call(DATA, [String(HEAD), "1"]);
    expect(atHead).toMatchObject({ slot: String(HEAD), index: "1", beacon_block_root: head.root });
    expect(atHead.target).toEqual({
      epoch: "1",
      root: (await devChain.chain.blocks.canonicalAtSlot(SLOTS_PER_EPOCH))!.root,
    });
    // An empty slot: the previous block.
    expect(await caller.call(DATA, [HEAD + 1, 0])).toMatchObject({
      beacon_block_root: head.root,
      target: atHead.target,
    });
    // An epoch without a block yet.
    for (const slot of [emptyEpochStart, emptyEpochStart + 2]) {
      const data = await caller.call(DATA, [slot, 0]);
      expect(data).toMatchObject({ beacon_block_root: head.root, target: { epoch: "2", root: head.root } });
      const checkpoints = await caller.call("get_v1_beacon_states_finality_checkpoints", [emptyEpochStart]);
      expect(data.source).toEqual(checkpoints.current_justified);
    }
    // An older slot: the chain at that time.
    const early = (await devChain.chain.blocks.canonicalAtSlot(3))!.root;
    expect(await caller.call(DATA, [3, 0])).toMatchObject({ beacon_block_root: early, target: { epoch: "0" } });

    for (const params of [
      [emptyEpochStart + 3, 0],
      ["18446744073709551615", 0],
      [HEAD, 2],
      [HEAD, "18446744073709551615"],
      [HEAD],
      [HEAD, null],
      [],
      ["head", 0],
      [HEAD, -1],
      [HEAD, 0, 0],
    ]) {
      const error = await caller.error(DATA, params);
      expect(error, JSON.stringify(params)).toMatchObject({ code: -32602 });
      expect(await caller.error("get_v1_validator_attestation", params)).toEqual(error);
    }
    expect(await caller.call("get_v1_validator_attestation", { slot: HEAD, committee_index: 1 })).toEqual(atHead);
    expect(await caller.meta(DATA, [HEAD, 1])).toBeUndefined();
  });

  it("has the justified checkpoint of its epoch, even before the epoch has a block", async () => {
    // The transition to epoch 3 is the first that can justify.
    await open(3 * SLOTS_PER_EPOCH - 1, 16);
    await devChain.clock.advanceTo(3 * SLOTS_PER_EPOCH);
    expect((await caller.call(DATA, [3 * SLOTS_PER_EPOCH - 1, 0])).source.epoch).toBe("0");
    expect((await caller.call(DATA, [3 * SLOTS_PER_EPOCH, 0])).source.epoch).toBe("2");
  });

  it("results in valid attestations in every committee", async () => {
    await open(HEAD);
    for (const committeeIndex of [0, 1]) {
      const { attestations } = await attestedCommittee(HEAD, committeeIndex);
      expect(await caller.call("post_v1_beacon_pool_attestations", [attestations])).toBe(true);
    }
  });
});

describe("the aggregate of a committee", () => {
  const SLOT = 3;
  let attested: AttestedCommittee;
  beforeEach(async () => {
    await open(SLOT - 1);
    await devChain.clock.advanceTo(SLOT);
    attested = await attestedCommittee(SLOT);
  });

  it("grows with single attestations, and has the signatures of its bits", async () => {
    expect(await caller.error(AGGREGATE, [SLOT, attested.root])).toMatchObject({
      code: -32001,
      data: { status: 404 },
    });
    for (const [count, attestation] of attested.attestations.entries()) {
      await caller.call("post_v1_beacon_pool_attestations", [attestation]);
      const aggregate = await caller.call(AGGREGATE, [String(SLOT), attested.root]);
      expect(expectSignedByItsBits(aggregate, attested)).toBe(count + 1);
    }
    const aggregate = await caller.call(AGGREGATE, [SLOT, attested.root]);
    const asData = [ssz.phase0.AttestationData.toJson(attested.data)];
    expect(await caller.call("get_v1_validator_aggregate_and_proof", [SLOT, attested.root])).toEqual(aggregate);
    expect(await caller.call("get_v1_validator_aggregate_and_proof", asData)).toEqual(aggregate);
    expect(await caller.call(AGGREGATE, { attestation_data_root: attested.root, slot: SLOT })).toEqual(aggregate);
    expect(await caller.meta(AGGREGATE, [SLOT, attested.root])).toBeUndefined();
    for (const params of [
      [SLOT, attested.root, 0],
      [attested.root, SLOT, "0"],
    ]) {
      expect(await caller.call("get_v2_validator_aggregate_attestation", params)).toEqual(aggregate);
      expect(await caller.meta("get_v2_validator_aggregate_attestation", params)).toEqual({ version: "phase0" });
    }
    expect(await caller.error("get_v2_validator_aggregate_attestation", [SLOT, attested.root, 1])).toMatchObject({
      code: -32001,
    });
  });

  it("never counts an attestation twice", async () => {
    await caller.call("post_v1_beacon_pool_attestations", attested.attestations.slice(0, 2));
    await caller.call(PUBLISH, [signedAggregate(attested, [1, 2])]);
    expect(expectSignedByItsBits(await caller.call(AGGREGATE, [SLOT, attested.root]), attested)).toBe(2);
    await caller.call("post_v1_beacon_pool_attestations", [attested.attestations[3]]);
    expect(expectSignedByItsBits(await caller.call(AGGREGATE, [SLOT, attested.root]), attested)).toBe(3);
  });

  it("is not served for an optimistic block", async () => {
    await caller.call("post_v1_beacon_pool_attestations", attested.attestations);
    const { forkChoice, status, head } = devChain.chain;
    const optimistic = { ...head, execution: { status: "optimistic", blockHash: head.root, blockNumber: 1 } as const };
    vi.spyOn(forkChoice, "get").mockImplementation((root) => (root === head.root ? optimistic : undefined));
    vi.spyOn(status, "isOptimistic", "get").mockReturnValue(true);
    expect(await caller.error(AGGREGATE, [SLOT, attested.root])).toMatchObject({ code: -32002, data: { status: 503 } });
    expect(await caller.error(DATA, [SLOT, 0])).toMatchObject({ code: -32002, data: { status: 503 } });
  });

  it("is found only by its slot and data", async () => {
    await caller.call("post_v1_beacon_pool_attestations", attested.attestations);
    for (const params of [
      [SLOT - 1, attested.root],
      [SLOT + 1, attested.root],
      ["18446744073709551615", attested.root],
      [SLOT, toHex(new Uint8Array(32))],
    ]) {
      const error = await caller.error(AGGREGATE, params);
      expect(error).toMatchObject({ code: -32001 });
      expect(await caller.error("get_v1_validator_aggregate_and_proof", params)).toEqual(error);
    }
    expect(await caller.error(AGGREGATE, [SLOT, attested.root, 1])).toMatchObject({
      code: -32001,
      message: expect.stringContaining("committee 1"),
    });
    for (const params of [
      [],
      [SLOT],
      [SLOT, "0x12"],
      ["x", attested.root],
      [SLOT, attested.root, "x"],
      [SLOT, attested.root, 0, 0],
      [null, null],
    ]) {
      const error = await caller.error(AGGREGATE, params);
      expect(error).toMatchObject({ code: -32602 });
      expect(await caller.error("get_v1_validator_aggregate_and_proof", params)).toEqual(error);
    }
    for (const data of [
      {},
      { slot: "x" },
      { ...(ssz.phase0.AttestationData.toJson(attested.data) as object), index: -1 },
    ]) {
      for (const params of [[data], [data, 0], [data, 0, 0]]) {
        expect(await caller.error("get_v1_validator_aggregate_and_proof", params)).toMatchObject({ code: -32602 });
      }
    }
  });

  it("that an aggregator publishes is pooled once and used in the next block", async () => {
    const aggregate = signedAggregate(attested, [0, 1, 3]);
    for (const params of [[aggregate], [aggregate, aggregate], [[aggregate]]]) {
      expect(await caller.call(PUBLISH, params)).toBe(true);
    }
    expect(await caller.call("post_v1_validator_aggregate_and_proof", { signed_aggregates: [aggregate] })).toBe(true);
    const pooled = await caller.call("get_v1_beacon_pool_attestations", [SLOT]);
    expect(pooled).toEqual([(aggregate as { message: { aggregate: unknown } }).message.aggregate]);
    const proposers = await caller.call("get_v1_validator_duties_proposer", [0]);
    const proposer = Number(proposers[SLOT + 1].validator_index);
    const reveal = toHex(byHand.signer.randaoReveal(proposer, SLOT + 1));
    const block = await caller.call("get_v1_validator_block", [SLOT + 1, reveal]);
    expect(block.body.attestations).toContainEqual(pooled[0]);
  });

  it("is rejected with its index in the list if invalid; the others are accepted", async () => {
    const good = signedAggregate(attested, [0, 1]);
    const stranger = devChain.keys.indices.find((index) => !attested.committee.includes(index))!;
    const outsider = signedAggregate(attested, [1, 2, 3], stranger);
    const forged = structuredClone(signedAggregate(attested, [2, 3])) as { signature: string };
    forged.signature = (good as { signature: string }).signature;
    const error = await caller.error(PUBLISH, [outsider, good, [forged]]);
    expect(error).toMatchObject({ code: -32003, data: { status: 400, detail: expect.any(String) } });
    expect(error.data.failures?.map(({ index }) => index)).toEqual([0, 2]);
    expect(await caller.call("get_v1_beacon_pool_attestations", [SLOT])).toHaveLength(1);
    for (const params of [[], [[]], [null], ["x"], [{}], [{ message: {}, signature: "0x" }], [good, {}]]) {
      expect(await caller.error(PUBLISH, params), JSON.stringify(params)).toMatchObject({ code: -32602 });
    }
  });
});

it("an aggregator that was not selected is rejected", async () => {
  // Half of such a committee is selected; in smaller ones all are.
  await open(0, 1024);
  await devChain.clock.advanceTo(1);
  const attested = await attestedCommittee(1);
  const isSelected = (validator: number) =>
    isAggregatorFromCommitteeLength(attested.committee.length, selectionProof(validator, 1));
  const unselected = attested.committee.findIndex((validator) => !isSelected(validator));
  const selected = attested.committee.findIndex(isSelected);
  expect(await caller.error(PUBLISH, [signedAggregate(attested, [unselected])])).toMatchObject({
    code: -32003,
    message: expect.stringContaining("does not make it an aggregator"),
  });
  expect(await caller.call(PUBLISH, [signedAggregate(attested, [selected])])).toBe(true);
});

describe("since electra, without the committee in the data, the aggregate", () => {
  const SLOT = 2;
  const AND_PROOF = "get_v1_validator_aggregate_and_proof";

  /** Lets all committees of the slot attest to the head of a chain with this many validators. */
  async function attestAfterElectra(validators: number) {
    ({ devChain } = await openQuietDevChain(SLOT, { validators, forks: [{ fork: "electra", epoch: 0 }] }));
    caller = new Caller(devChain.api);
    byHand = new ByHand(devChain);
    const data = await caller.call(DATA, [SLOT]);
    expect(data.index).toBe("0");
    expect(await caller.call(DATA, [SLOT, 0])).toEqual(data);
    await byHand.attest(SLOT, devChain.chain.head.root);
    const root = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(ssz.phase0.AttestationData.fromJson(data)));
    return { data, root };
  }

  it("is found without an index if the slot has one committee", async () => {
    const { data, root } = await attestAfterElectra(16);
    const aggregate = await caller.call(AGGREGATE, [SLOT, root]);
    expect(aggregate).toMatchObject({ data, committee_bits: "0x01" });
    for (const [name, params] of [
      [AGGREGATE, [SLOT, root, "0"]],
      [AND_PROOF, [SLOT, root]],
      [AND_PROOF, [data]],
      [AND_PROOF, [data, 0]],
    ] as const) {
      expect(await caller.call(name, [...params])).toEqual(aggregate);
    }
    expect(await caller.error(AGGREGATE, [SLOT, root, 1])).toMatchObject({ code: -32001 });
    expect(await caller.meta(AGGREGATE, [SLOT, root])).toBeUndefined();
  });

  it("is found by index if the slot has several; a call without an index is rejected", async () => {
    const { data, root } = await attestAfterElectra(VALIDATORS);
    for (const [index, bits] of ["0x01", "0x02"].entries()) {
      const aggregate = await caller.call(AGGREGATE, [SLOT, root, index]);
      expect(aggregate).toMatchObject({ data, committee_bits: bits });
      const named = { slot: SLOT, attestation_data_root: root, committee_index: String(index) };
      expect(await caller.call(AGGREGATE, named)).toEqual(aggregate);
      expect(await caller.call(AND_PROOF, [data, index])).toEqual(aggregate);
      expect(await caller.call("get_v2_validator_aggregate_attestation", [SLOT, root, index])).toEqual(aggregate);
    }
    for (const [name, params] of [
      [AGGREGATE, [SLOT, root]],
      [AGGREGATE, [SLOT, root, null]],
      [AND_PROOF, [data]],
    ] as const) {
      expect(await caller.error(name, [...params])).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/"committee_index" is missing: slot 2 has 2 committees/),
      });
    }
    expect(await caller.error(AGGREGATE, [SLOT, toHex(new Uint8Array(32))])).toMatchObject({ code: -32001 });
  });
});
