import { aggregateSerializedSignatures } from "@chainsafe/blst";
import { BitArray, type Type } from "@chainsafe/ssz";
import {
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SIZE,
} from "@lodestar/params";
import { type altair, ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { ValidatorSigner } from "../../../src/dev/validators/signer.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import {
  type OpenedDevChain,
  openDevChain,
  openQuietDevChain,
  QUIET,
  startQuietDevChain,
} from "../../support/chain/dev-chain.ts";

const DUTIES = "post_v1_validator_duties_sync_epoch";
const MESSAGES = "post_v1_beacon_pool_sync_committees";
const CONTRIBUTION = "get_v1_validator_sync_committee_contribution";
const CONTRIBUTIONS = "post_v1_validator_contribution_and_proofs";
const HEAD = 2;
const EVERYBODY = Array.from({ length: 16 }, (_, index) => index);

interface SyncDuty {
  pubkey: string;
  validator_index: string;
  validator_sync_committee_indices: string[];
}

describe("on altair", () => {
  let opened: OpenedDevChain;
  let devChain: DevChain;
  let caller: Caller;
  beforeAll(async () => {
    opened = await startQuietDevChain(HEAD, { forks: [{ fork: "altair", epoch: 0 }] });
    devChain = opened.devChain;
    await devChain.clock.advanceTo(HEAD + 1);
    caller = new Caller(devChain.api);
  });
  afterAll(() => opened.close());

  const message = (validator: number, overrides: { slot?: number; by?: number } = {}) => {
    const { slot = HEAD + 1, by = validator } = overrides;
    const { root } = devChain.chain.head;
    const signer = new ValidatorSigner(devChain.config, devChain.keys);
    const signingRoot = signer.signingRoot(ssz.Root, ssz.Root.fromJson(root), DOMAIN_SYNC_COMMITTEE, slot);
    return {
      slot: String(slot),
      beacon_block_root: root,
      validator_index: String(validator),
      signature: toHex(signer.sign(by, signingRoot)),
    };
  };

  it("every seat of the sync committee is in the duties of this and the next period", async () => {
    const nextPeriod = 8;
    for (const epoch of [0, 1, nextPeriod, 2 * nextPeriod - 1]) {
      const duties: SyncDuty[] = await caller.call(DUTIES, [epoch, EVERYBODY]);
      const seats = duties.flatMap((duty) => duty.validator_sync_committee_indices.map(Number)).sort((a, b) => a - b);
      expect(seats).toEqual(Array.from({ length: SYNC_COMMITTEE_SIZE }, (_, seat) => seat));
    }
    const [duty]: SyncDuty[] = await caller.call(DUTIES, [0, ["3", 99]]);
    expect(duty).toMatchObject({ validator_index: "3", pubkey: toHex(devChain.keys.publicKey(3)!) });
    expect(await caller.call("post_v1_validator_duties_sync", [0, [duty!.pubkey]])).toEqual([duty]);
    for (const params of [
      [],
      [0],
      [0, []],
      [0, ["x"]],
      ["x", [1]],
      [2 * nextPeriod, [1]],
      ["1152921504606846975", [1]],
    ]) {
      expect(await caller.error(DUTIES, params), JSON.stringify(params)).toMatchObject({ code: -32602 });
    }
  });

  it("invalid messages are rejected", async () => {
    const error = await caller.error(MESSAGES, [[message(1, { slot: HEAD + 5 }), message(2, { by: 3 })]]);
    expect(error).toMatchObject({ code: -32003 });
    expect(error.data.failures?.map(({ index }) => index)).toEqual([0, 1]);
    for (const [name, params] of [
      [MESSAGES, []],
      [MESSAGES, [message(0)]],
      [MESSAGES, [[message(0)], [message(1)]]],
      [MESSAGES, [[{}]]],
      [CONTRIBUTION, [HEAD + 1, 4, devChain.chain.head.root]],
      [CONTRIBUTION, [HEAD + 1, 0]],
      [CONTRIBUTION, [HEAD + 1, 0, "0x"]],
      [CONTRIBUTIONS, []],
      [CONTRIBUTIONS, [[{ message: {} }]]],
      [CONTRIBUTIONS, ["x"]],
    ] as const) {
      expect(await caller.error(name, [...params]), `${name} ${JSON.stringify(params)}`).toMatchObject({
        code: -32602,
      });
    }
    const contribution = ssz.altair.SignedContributionAndProof.toJson(
      ssz.altair.SignedContributionAndProof.defaultValue(),
    );
    expect(await caller.error(CONTRIBUTIONS, [[contribution]])).toMatchObject({ code: -32003 });
  });

  it("messages form contributions, and the sync aggregate of the next block", async () => {
    const { root } = devChain.chain.head;
    expect(await caller.error(CONTRIBUTION, [HEAD + 1, 0, root])).toMatchObject({ code: -32001 });
    const messages = EVERYBODY.map((validator) => message(validator));
    expect(await caller.call(MESSAGES, [messages])).toBe(true);
    expect(await caller.call(MESSAGES, [messages])).toBe(true);
    const forged = { ...messages[0]!, signature: messages[1]!.signature };
    expect(await caller.error(MESSAGES, [[messages[1], forged]])).toMatchObject({
      code: -32003,
      data: { failures: [{ index: 1 }] },
    });
    expect(await caller.call(CONTRIBUTION, [HEAD + 1, 0, root])).toMatchObject({
      slot: String(HEAD + 1),
      beacon_block_root: root,
      subcommittee_index: "0",
      aggregation_bits: "0xff",
    });
    const block = await caller.call("get_v1_validator_block", [HEAD + 2, `0xc0${"00".repeat(95)}`, null, true]);
    expect(block.body.sync_aggregate.sync_committee_bits).toBe("0xffffffff");
  });
});

it("the first sync committee signs while the first slots of the fork are empty", async () => {
  const forkSlot = 2 * SLOTS_PER_EPOCH;
  const { devChain } = await openQuietDevChain(forkSlot - 1, { forks: [{ fork: "altair", epoch: 2 }] });
  const { chain, clock } = devChain;
  const caller = new Caller(devChain.api);
  const byHand = new ByHand(devChain);
  const { root } = chain.head;
  expect(chain.head.slot).toBe(forkSlot - 1);
  await clock.advanceTo(forkSlot);

  const sign = <T>(validator: number, type: Type<T>, value: T, domain: Uint8Array) =>
    byHand.signer.sign(validator, byHand.signer.signingRoot(type, value, domain, forkSlot));
  const committee = await caller.call("get_v1_beacon_states_stateId_sync_committees", [forkSlot]);
  const members: number[] = committee.validators.map(Number);
  const duties: SyncDuty[] = await caller.call(DUTIES, [2, EVERYBODY]);
  for (const { validator_index, validator_sync_committee_indices } of duties) {
    for (const seat of validator_sync_committee_indices) expect(members[Number(seat)]).toBe(Number(validator_index));
  }
  const messageOf = (validator: number) => ({
    slot: String(forkSlot),
    beacon_block_root: root,
    validator_index: String(validator),
    signature: toHex(sign(validator, ssz.Root, ssz.Root.fromJson(root), DOMAIN_SYNC_COMMITTEE)),
  });
  // Messages from the first two subcommittees, a contribution from the third.
  const [first, second, third]: number[][] = committee.validator_aggregates.map((part: string[]) => part.map(Number));
  const signers = [...new Set([...first!, ...second!])];
  expect(await caller.call(MESSAGES, [signers.map(messageOf)])).toBe(true);
  expect(await caller.call(CONTRIBUTION, [forkSlot, 0, root])).toMatchObject({ aggregation_bits: "0xff" });

  const signatures = third!.map((member) => fromHex(messageOf(member).signature));
  const contribution = {
    slot: forkSlot,
    beaconBlockRoot: fromHex(root),
    subcommitteeIndex: 2,
    aggregationBits: BitArray.fromBoolArray(third!.map(() => true)),
    signature: aggregateSerializedSignatures(signatures).toBytes(),
  };
  const aggregatorIndex = third![0]!;
  const selection = { slot: forkSlot, subcommitteeIndex: 2 };
  const selectionProof = sign(
    aggregatorIndex,
    ssz.altair.SyncAggregatorSelectionData,
    selection,
    DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  );
  const message = { aggregatorIndex, contribution, selectionProof };
  const signature = sign(aggregatorIndex, ssz.altair.ContributionAndProof, message, DOMAIN_CONTRIBUTION_AND_PROOF);
  const signed = ssz.altair.SignedContributionAndProof.toJson({ message, signature });
  expect(await caller.call(CONTRIBUTIONS, [[signed]])).toBe(true);

  await clock.advanceTo(forkSlot + 1);
  const { signed: block } = await byHand.propose(forkSlot + 1, root);
  const { syncAggregate } = (block as altair.SignedBeaconBlock).message.body;
  const fourth = members.slice(24);
  expect(syncAggregate.syncCommitteeBits.toBoolArray()).toEqual([
    ...members.slice(0, 24).map(() => true),
    ...fourth.map((member) => signers.includes(member)),
  ]);
  expect(chain.head.slot).toBe(forkSlot + 1);
});

it("there are no sync committees without or before altair", async () => {
  const root = `0x${"00".repeat(32)}`;
  const message = ssz.altair.SyncCommitteeMessage.toJson(ssz.altair.SyncCommitteeMessage.defaultValue());
  const contribution = ssz.altair.SignedContributionAndProof.toJson(
    ssz.altair.SignedContributionAndProof.defaultValue(),
  );
  const phase0 = new Caller((await openDevChain(QUIET)).devChain.api);
  for (const [name, params, code] of [
    [DUTIES, [0, [1]], -32602],
    [MESSAGES, [[message]], -32003],
    [CONTRIBUTION, [0, 0, root], -32602],
    [CONTRIBUTIONS, [[contribution]], -32003],
  ] as const) {
    expect(await phase0.error(name, [...params]), name).toMatchObject({ code, data: { status: 400 } });
  }
  const { devChain } = await openDevChain({ ...QUIET, forks: [{ fork: "altair", epoch: 2 }] });
  const later = new Caller(devChain.api);
  expect(await later.error(DUTIES, [1, [1]])).toMatchObject({ code: -32602 });
  expect(await later.error(DUTIES, [2, [1]])).toMatchObject({ code: -32002 });
  expect(await later.error(MESSAGES, [[message]])).toMatchObject({ code: -32003 });
  await devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH);
  expect(await later.call(DUTIES, [2, EVERYBODY])).not.toEqual([]);
});
