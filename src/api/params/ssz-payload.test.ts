import { createChainForkConfig } from "@lodestar/config";
import { type ForkName, isForkPostDeneb, isForkPostGloas } from "@lodestar/params";
import { type SignedBlockContents, ssz, sszTypesFor } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { devChainConfig } from "../../dev/chain-config.ts";
import { CONSENSUS_FORKS, type DevFork } from "../../dev/forks.ts";
import { IrregularNumber } from "../../json/parse.ts";
import { attestation, attesterSlashing, signedAggregateAndProof } from "./operations.ts";
import { type ForkSchema, firstMessage } from "./schema.ts";
import { signedBlock } from "./signed-blocks.ts";
import { InvalidPayloadError, readSszJson } from "./ssz-payload.ts";

// biome-ignore lint/suspicious/noExplicitAny: payloads are modified to be invalid
type Json = any;

const forks = CONSENSUS_FORKS.map((fork, epoch) => ({ fork, epoch }));
const config = createChainForkConfig(devChainConfig({ forks, slotSeconds: 6, genesisTime: 0 }));
const slotOf = (fork: ForkName) => 8 * CONSENSUS_FORKS.indexOf(fork as DevFork) + 3;

function read<T>(schema: ForkSchema<T>, json: unknown): T {
  return schema.forConfig(config).parse(json);
}

function messageOf(schema: ForkSchema<unknown>, json: unknown): string {
  const { error } = schema.forConfig(config).safeParse(json);
  return firstMessage(error as z.ZodError);
}

describe.each(CONSENSUS_FORKS)("payloads of %s", (fork) => {
  const types = sszTypesFor(fork as ForkName);
  const slot = slotOf(fork as ForkName);

  it("are parsed by the types of that fork", () => {
    const signed = types.SignedBeaconBlock.defaultValue();
    signed.message.slot = slot;
    const json = types.SignedBeaconBlock.toJson(signed as never);
    const isWrapped = isForkPostDeneb(fork as ForkName) && !isForkPostGloas(fork as ForkName);
    const wrapped = { signed_block: json, kzg_proofs: [`0x${"01".repeat(48)}`], blobs: [] };
    const contents: SignedBlockContents = read(signedBlock, isWrapped ? wrapped : json);
    expect(types.SignedBeaconBlock.equals(contents.signedBlock as never, signed as never)).toBe(true);
    if (isWrapped) expect(contents).toMatchObject({ kzgProofs: [new Uint8Array(48).fill(1)], blobs: [] });

    const aggregate = types.SignedAggregateAndProof.defaultValue();
    aggregate.message.aggregate.data.slot = slot;
    expect(read(signedAggregateAndProof, types.SignedAggregateAndProof.toJson(aggregate as never))).toEqual(aggregate);
  });

  it("are rejected if a member is missing", () => {
    const signed = types.SignedBeaconBlock.defaultValue();
    signed.message.slot = slot;
    const json: Json = types.SignedBeaconBlock.toJson(signed as never);
    for (const member of Object.keys(json.message.body)) {
      const { [member]: _left, ...body } = json.message.body;
      const lacking = { ...json, message: { ...json.message, body } };
      expect(messageOf(signedBlock, lacking)).toBe(`is missing the member message.body.${member}.`);
    }
  });
});

describe("the fork of a payload", () => {
  it("determines the type of an unaggregated attestation", () => {
    const old: Json = ssz.phase0.Attestation.toJson(ssz.phase0.Attestation.defaultValue());
    const single: Json = ssz.electra.SingleAttestation.toJson(ssz.electra.SingleAttestation.defaultValue());
    const at = (json: Json, fork: ForkName) => ({ ...json, data: { ...json.data, slot: String(slotOf(fork)) } });
    expect(read(attestation, at(old, "deneb" as ForkName))).toHaveProperty("aggregationBits");
    expect(read(attestation, at(single, "electra" as ForkName))).toHaveProperty("attesterIndex");
    expect(messageOf(attestation, at(old, "electra" as ForkName))).toBe("is missing the member committee_index.");
    expect(messageOf(attestation, at(single, "deneb" as ForkName))).toBe("is missing the member aggregation_bits.");
  });

  it("determines the maximum number of attesters in a slashing", () => {
    const json: Json = ssz.phase0.AttesterSlashing.toJson(ssz.phase0.AttesterSlashing.defaultValue());
    json.attestation_1.attesting_indices = Array(2049).fill("1");
    expect(messageOf(attesterSlashing, json)).toBe(
      "is invalid at attestation_1.attesting_indices: it must contain at most 2048 elements, but it contains 2049.",
    );
    json.attestation_2.data.slot = slotOf("electra" as ForkName);
    expect(read(attesterSlashing, json).attestation1.attestingIndices).toHaveLength(2049);
  });

  it("is the last scheduled fork for the largest slot", () => {
    const json: Json = ssz.electra.SingleAttestation.toJson(ssz.electra.SingleAttestation.defaultValue());
    json.data.slot = "18446744073709551615";
    expect(read(attestation, json).data.slot).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("scalars of payloads", () => {
  const body = ssz.fulu.BeaconBlockBody;
  const json = (): Json => structuredClone(body.toJson(body.defaultValue()));
  const deposit = ssz.phase0.Deposit;

  it.each<[string, (body: Json) => void, (body: Json) => unknown, unknown]>([
    ["graffiti as text", (b) => (b.graffiti = "hé"), (b) => b.graffiti, padded("68c3a9")],
    ["graffiti as hex", (b) => (b.graffiti = "0xABCD"), (b) => b.graffiti, padded("abcd")],
    ["integers as numbers", (b) => (b.eth1_data.deposit_count = 7), (b) => Number(b.eth1Data.depositCount), 7],
    ["integers as strings", (b) => (b.execution_payload.gas_used = "7"), (b) => b.executionPayload.gasUsed, 7],
    [
      "amounts of 256 bits",
      (b) => (b.execution_payload.base_fee_per_gas = String(2n ** 256n - 1n)),
      (b) => b.executionPayload.baseFeePerGas,
      2n ** 256n - 1n,
    ],
    ["upper case", (b) => (b.randao_reveal = `0x${"AB".repeat(96)}`), (b) => b.randaoReveal[95], 0xab],
    ["bytes", (b) => (b.execution_payload.extra_data = "0x0102"), (b) => b.executionPayload.extraData.length, 2],
  ])("may be %s", (_what, set, get, expected) => {
    const payload = json();
    set(payload);
    expect(get(readSszJson(body, payload))).toEqual(expected);
  });

  it("may be public keys without 0x", () => {
    const payload: Json = deposit.toJson(deposit.defaultValue());
    payload.data.pubkey = "0C".repeat(48);
    expect(readSszJson(deposit, payload).data.pubkey).toEqual(new Uint8Array(48).fill(12));
  });

  it("may be accompanied by unknown members", () => {
    const payload = JSON.parse(`{"__proto__": {}, "epoch": 1, "root": "0x${"00".repeat(32)}", "constructor": 5}`);
    expect(readSszJson(ssz.phase0.Checkpoint, payload)).toEqual({ epoch: 1, root: new Uint8Array(32) });
    const inherited = Object.create({ epoch: 1, root: `0x${"00".repeat(32)}` });
    expect(() => readSszJson(ssz.phase0.Checkpoint, inherited)).toThrow("is missing the member epoch.");
  });

  it.each<[string, (body: Json) => void, string]>([
    ["a long graffiti", (b) => (b.graffiti = "é".repeat(17)), "is invalid at graffiti: it must be graffiti"],
    ["hex without 0x", (b) => (b.randao_reveal = "ab".repeat(96)), "is invalid at randao_reveal: it must be 96 bytes"],
    ["other letters", (b) => (b.randao_reveal = `0x${"zz".repeat(96)}`), "is invalid at randao_reveal: it must be"],
    ["a fraction", (b) => (b.eth1_data.deposit_count = 1.5), "is invalid at eth1_data.deposit_count: it must be"],
    [
      "beyond 2^53-1",
      (b) => (b.eth1_data.deposit_count = 2 ** 53),
      "is invalid at eth1_data.deposit_count: it must be",
    ],
    ["beyond 2^64-1", (b) => (b.eth1_data.deposit_count = String(2n ** 64n)), "is invalid at eth1_data.deposit_count"],
    [
      "an exponent",
      (b) => (b.eth1_data.deposit_count = new IrregularNumber("1e3")),
      "an integer from 0 to 2^64-1, written as a decimal string without leading zeros or as a JSON integer up to " +
        "2^53-1, but the number 1e3 was given.",
    ],
    [
      "an exponent for an object",
      (b) => (b.eth1_data = new IrregularNumber("1e3")),
      "eth1_data: it must be a JSON object",
    ],
    [
      "a number of 256 bits",
      (b) => (b.execution_payload.base_fee_per_gas = 7),
      "is invalid at execution_payload.base_fee_per_gas: it must be an integer from 0 to 2^256-1",
    ],
    [
      "a bit vector with unused bits",
      (b) => (b.sync_aggregate.sync_committee_bits = "0x00"),
      "is invalid at sync_aggregate.sync_committee_bits: it must be a bit vector of 32 bits",
    ],
    ["half a byte", (b) => (b.execution_payload.extra_data = "0x012"), "extra_data: it must be at most 32 bytes"],
    ["too many bytes", (b) => (b.execution_payload.extra_data = `0x${"00".repeat(33)}`), "must be at most 32 bytes"],
    [
      "an object for a list",
      (b) => (b.deposits = {}),
      "is invalid at deposits: it must be an array, but an object was",
    ],
    ["a short proof", (b) => (b.deposits = [{ proof: [], data: {} }]), "deposits[0].proof: it must contain exactly 33"],
    [
      "a commitment without 0x",
      (b) => (b.blob_kzg_commitments = ["00".repeat(48)]),
      "is invalid at blob_kzg_commitments[0]: it must be 48 bytes",
    ],
  ])("may not be %s", (_what, corrupt, message) => {
    const payload = json();
    corrupt(payload);
    const error = thrownBy(() => readSszJson(body, payload));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).toMatch(/\.$/);
  });

  it("must be booleans for boolean members", () => {
    const payload: Json = ssz.phase0.Validator.toJson(ssz.phase0.Validator.defaultValue());
    payload.slashed = "true";
    expect(() => readSszJson(ssz.phase0.Validator, payload)).toThrow("is invalid at slashed: it must be true or false");
    payload.slashed = true;
    payload.exit_epoch = "18446744073709551615";
    expect(readSszJson(ssz.phase0.Validator, payload).exitEpoch).toBe(Number.POSITIVE_INFINITY);
  });
});

function padded(hex: string): Uint8Array {
  return fromHex(`0x${hex.padEnd(64, "0")}`);
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
