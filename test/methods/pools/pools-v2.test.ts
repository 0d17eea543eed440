import type { Type } from "@chainsafe/ssz";
import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type AttesterSlashing, ssz, sszTypesFor } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { OpenApi } from "../../conformance/openapi.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { openDevChain, openQuietDevChain } from "../../support/chain/dev-chain.ts";
import { SignedOperations } from "../../support/chain/signed-operations.ts";

const ATTESTATIONS = "v2_beacon_pool_attestations";
const SLASHINGS = "v2_beacon_pool_attester_slashings";
const CHANGES = "v1_beacon_pool_bls_to_execution_changes";
const INVALID = -32602;
const REJECTED = -32003;

const standard = new OpenApi("v4.0.0");

function expectStandard(path: string, variant: number, result: unknown): void {
  const { data } = standard.validator({ verb: "GET", path }, { variant })!;
  data(result);
  expect(data.errors ?? []).toEqual([]);
}

describe.each([
  { fork: ForkName.phase0, sameForm: ForkName.deneb, otherForm: ForkName.electra, variant: 1 },
  { fork: ForkName.fulu, sameForm: ForkName.electra, otherForm: ForkName.deneb, variant: 0 },
] as const)("pools of $fork", ({ fork, sameForm, otherForm, variant }) => {
  const open = async () => {
    const forks = fork === ForkName.phase0 ? [] : [{ fork, epoch: 0 } as const];
    const { devChain } = await openQuietDevChain(4, { validators: 16, forks });
    await devChain.clock.advanceTo(5);
    return { devChain, caller: new Caller(devChain.api) };
  };

  it("accept attestations as one list and return them with their fork", async () => {
    const { devChain, caller } = await open();
    const attestations = await new ByHand(devChain).attestationsFor(5, devChain.chain.head.root);
    const type = fork === ForkName.phase0 ? ssz.phase0.Attestation : ssz.electra.SingleAttestation;
    const list = attestations.map(({ attestation }) => (type as Type<unknown>).toJson(attestation));
    expect(list.length).toBeGreaterThan(1);

    expect(await caller.error(`post_${ATTESTATIONS}`, [list, otherForm])).toMatchObject({ code: INVALID });
    expect(await caller.call(`get_${ATTESTATIONS}`, [5])).toEqual([]);
    expect(await caller.call(`post_${ATTESTATIONS}`, [list, sameForm])).toBe(true);

    const held = await caller.call(`get_${ATTESTATIONS}`, [5, 0]);
    expect(held).not.toEqual([]);
    expectStandard("/eth/v2/beacon/pool/attestations", variant, held);
    expect(held).toEqual(await caller.call("get_v1_beacon_pool_attestations", [5, 0]));
    expect(await caller.meta(`get_${ATTESTATIONS}`)).toEqual({ version: fork });
    expect(await caller.meta(`get_${ATTESTATIONS}`, ["18446744073709551615"])).toEqual({ version: fork });
  });

  it("report the rejected attestations of a list", async () => {
    const { devChain, caller } = await open();
    const attestations = await new ByHand(devChain).attestationsFor(5, devChain.chain.head.root);
    const type = fork === ForkName.phase0 ? ssz.phase0.Attestation : ssz.electra.SingleAttestation;
    const [good, bad] = attestations.map(
      ({ attestation }) => (type as Type<unknown>).toJson(attestation) as { signature: string },
    );
    const list = [good, { ...bad, signature: good!.signature }];
    expect(await caller.error(`post_${ATTESTATIONS}`, [list])).toMatchObject({
      code: REJECTED,
      data: { failures: [{ index: 1 }] },
    });
    expect(await caller.call(`get_${ATTESTATIONS}`, [5])).toHaveLength(1);
  });

  it("accept attester slashings and return them with their fork", async () => {
    const { devChain, caller } = await open();
    const type = sszTypesFor(fork).AttesterSlashing as Type<AttesterSlashing>;
    const slashing = type.toJson(new SignedOperations(devChain).doubleVote([2, 3], 0));
    expect(await caller.call(`post_${SLASHINGS}`, [slashing, fork])).toBe(true);
    const held = await caller.call(`get_${SLASHINGS}`);
    expect(held).toEqual([slashing]);
    expectStandard("/eth/v2/beacon/pool/attester_slashings", variant, held);
    expect(await caller.meta(`get_${SLASHINGS}`)).toEqual({ version: fork });
  });
});

describe("BLS to execution changes", () => {
  const address = new Uint8Array(20).fill(0xab);

  it("are rejected before capella, and then included", async () => {
    const { devChain } = await openDevChain({ validators: 8, forks: [{ fork: "capella", epoch: 1 }] });
    const caller = new Caller(devChain.api);
    const operations = new SignedOperations(devChain);
    const changeTo = (to: Uint8Array, options?: { by?: number }) =>
      ssz.capella.SignedBLSToExecutionChange.toJson(operations.credentialsChange(3, to, options));
    const change = changeTo(address);
    await devChain.clock.advanceTo(1);
    expect(await caller.error(`post_${CHANGES}`, [[change]])).toMatchObject({ code: REJECTED });
    expect(await caller.call(`get_${CHANGES}`)).toEqual([]);

    await devChain.clock.advanceTo(SLOTS_PER_EPOCH);
    expect(await caller.call(`post_${CHANGES}`, [[change]])).toBe(true);
    const held = await caller.call(`get_${CHANGES}`);
    expect(held).toEqual([change]);
    expect(held[0].message.to_execution_address).toBe(`0x${"ab".repeat(20)}`);
    expectStandard("/eth/v1/beacon/pool/bls_to_execution_changes", 0, held);
    const other = new Uint8Array(20).fill(8);
    const again = [change, changeTo(other, { by: 4 }), changeTo(other)];
    expect(await caller.error(`post_${CHANGES}`, [again])).toMatchObject({
      code: REJECTED,
      data: {
        failures: [
          { index: 1, message: expect.stringContaining("is not signed by its withdrawal key") },
          { index: 2, message: expect.stringContaining(`validator 3 to 0x${"ab".repeat(20)} is already pending`) },
        ],
      },
    });
    expect(await caller.call(`get_${CHANGES}`)).toEqual([change]);

    await devChain.clock.advanceTo(SLOTS_PER_EPOCH + 1);
    const { validator } = await caller.call("get_v1_beacon_states_stateId_validators_validatorId", ["head", 3]);
    expect(validator.withdrawal_credentials).toBe(`0x01${"00".repeat(11)}${"ab".repeat(20)}`);
    expect(await caller.call(`get_${CHANGES}`)).toEqual([change]);
    expect(await caller.error(`post_${CHANGES}`, [[change]])).toMatchObject({
      code: REJECTED,
      data: { detail: expect.stringContaining(`already execution credentials with address 0x${"ab".repeat(20)}`) },
    });
  });

  it("are rejected on a chain without capella", async () => {
    const { devChain } = await openQuietDevChain(1, { validators: 8 });
    const caller = new Caller(devChain.api);
    expect(await caller.call(`get_${CHANGES}`)).toEqual([]);
    const change = ssz.capella.SignedBLSToExecutionChange.toJson(
      new SignedOperations(devChain).credentialsChange(3, address),
    );
    expect(await caller.error(`post_${CHANGES}`, [[change]])).toMatchObject({
      code: REJECTED,
      data: {
        failures: [{ index: 0, message: expect.stringMatching(/Capella on, which this chain does not schedule/) }],
      },
    });
  });
});

it.each([
  ["post_v1_beacon_states_stateId_builders", ["head"]],
  ["get_v1_beacon_execution_payload_envelopes_blockId", ["head"]],
  ["get_v1_beacon_pool_payload_attestations", []],
])("%s names the fork that it waits for", async (name, params) => {
  const { devChain } = await openQuietDevChain(1, { validators: 8, forks: [{ fork: "fulu", epoch: 0 }] });
  expect(await new Caller(devChain.api).error(name, params)).toMatchObject({
    code: INVALID,
    message: expect.stringMatching(/gloas/),
  });
});
