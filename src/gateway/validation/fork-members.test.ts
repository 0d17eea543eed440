import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { methodCall, response, CHAIN_SPEC as SPEC } from "../../../test/support/gateway/cache/method-calls.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import { findViolation } from "./response-validator.ts";

const FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;
type Fork = (typeof FORKS)[number] | "gloas";
const slotOf = (fork: Fork) => 10 * SPEC.slotsPerEpoch * FORKS.indexOf(fork as (typeof FORKS)[number]);
const CHAIN_SPEC: ChainSpec = {
  ...SPEC,
  forks: FORKS.map((name, index) => ({ name, epoch: 10 * index })),
};

// biome-ignore lint/suspicious/noExplicitAny: the tests damage any member.
type Json = any;

function blockOf(fork: Fork, slot = slotOf(fork)): Json {
  const type = ssz[fork].SignedBeaconBlock;
  const signed = type.defaultValue();
  signed.message.slot = slot;
  return type.toJson(signed as never);
}

function blindedBlockOf(fork: Exclude<Fork, "phase0" | "altair" | "gloas">): Json {
  const type = ssz[fork].SignedBlindedBeaconBlock;
  const signed = type.defaultValue();
  signed.message.slot = slotOf(fork);
  return type.toJson(signed as never);
}

interface Answer {
  data: Json;
  version?: string;
  header?: string;
}

const FULL = "get_v2_beacon_blocks_blockId";
const BLINDED = "get_v1_beacon_blinded_blocks_blockId";

function violationOf(name: string, { data, version, header }: Answer, chainSpec: ChainSpec | undefined = CHAIN_SPEC) {
  const headers = { "content-type": "application/json", ...(header && { "eth-consensus-version": header }) };
  const answer = response(JSON.stringify({ version, data }), { headers });
  return findViolation(methodCall(name, { block_id: "head", slot: "0" }), answer, { chainSpec });
}

/** Returns a block with a changed body. */
function damaged(data: Json, damage: (body: Json) => void): Json {
  const copy = structuredClone(data);
  damage(copy.message.body);
  return copy;
}

describe("a block", () => {
  it.each(FORKS)("of %s has the members of its fork", (fork) => {
    const data = blockOf(fork);
    for (const version of [fork, fork.toUpperCase(), undefined]) {
      expect(violationOf(FULL, { data, ...(version && { version }) })).toBeUndefined();
      for (const name of Object.keys(data.message.body)) {
        const without = damaged(data, (body) => delete body[name]);
        const violation = violationOf(FULL, { data: without, ...(version && { version }) });
        expect(violation, name).toMatch(`has no member "${name}"`);
      }
    }
    for (const name of Object.keys(data.message.body.execution_payload ?? {})) {
      const without = damaged(data, (body) => delete body.execution_payload[name]);
      expect(violationOf(FULL, { data: without, version: fork }), name).toMatch(name);
    }
  });

  it.each(["capella", "deneb", "electra", "fulu"] as const)("of %s is full or blinded, as requested", (fork) => {
    const [full, blinded] = [blockOf(fork), blindedBlockOf(fork)];
    for (const version of [fork, undefined]) {
      const stated = version && { version };
      expect(violationOf(FULL, { data: full, ...stated })).toBeUndefined();
      expect(violationOf(BLINDED, { data: blinded, ...stated })).toBeUndefined();
      expect(violationOf(FULL, { data: blinded, ...stated })).toBe(
        'the body of a full block has the member "execution_payload_header"',
      );
      expect(violationOf(BLINDED, { data: full, ...stated })).toBe(
        'the body of a blinded block has the member "execution_payload"',
      );
    }
    for (const name of Object.keys(blinded.message.body)) {
      const data = damaged(blinded, (body) => delete body[name]);
      expect(violationOf(BLINDED, { data, version: fork }), name).toMatch(`has no member "${name}"`);
    }
  });

  it.each(["phase0", "altair"] as const)("of %s is also its blinded block", (fork) => {
    expect(violationOf(BLINDED, { data: blockOf(fork), version: fork })).toBeUndefined();
  });

  it("of gloas has its bid instead of a payload", () => {
    const data = blockOf("gloas", slotOf("fulu"));
    expect(violationOf(FULL, { data, version: "gloas" })).toBeUndefined();
    const without = damaged(data, (body) => delete body.signed_execution_payload_bid);
    expect(violationOf(FULL, { data: without, version: "gloas" })).toMatch(/no member "signed_execution_payload_bid"/);
  });

  it.each<[name: string, value: Json, violation: RegExp]>([
    ["execution_payload", {}, /execution_payload has no member "parent_hash"$/],
    ["execution_payload", "x", /execution_payload is not an object$/],
    ["execution_payload", null, /execution_payload is not an object$/],
    ["sync_aggregate", null, /sync_aggregate is not an object$/],
    ["sync_aggregate", {}, /sync_aggregate has no member "sync_committee_bits"$/],
    ["bls_to_execution_changes", [{}], /bls_to_execution_changes\[0\] has no member "message"$/],
    ["blob_kzg_commitments", ["0x12"], /blob_kzg_commitments\[0\] is not a hex string of 48 bytes$/],
    ["execution_requests", [], /execution_requests is not an object$/],
  ])("has no %s that is %j", (name, value, violation) => {
    const data = damaged(blockOf("electra"), (body) => {
      body[name] = value;
    });
    for (const version of ["electra", "ELECTRA", "", "zzz", undefined, "fulu", "gloas"])
      expect(violationOf(FULL, { data, ...(version !== undefined && { version }) })).toBeDefined();
    expect(violationOf(FULL, { data, version: "electra" })).toMatch(violation);
    expect(violationOf(FULL, { data, version: "zzz" })).toMatch(violation);
    expect(violationOf(FULL, { data, header: "zzz" })).toMatch(violation);
  });

  it.each([
    ["block_number", "-5"],
    ["gas_limit", 30_000_000],
    ["timestamp", "01"],
    ["gas_used", "18446744073709551616"],
    ["fee_recipient", "0x12"],
    ["logs_bloom", "0x"],
    ["extra_data", "0x1"],
    ["extra_data", null],
    ["base_fee_per_gas", "0x7"],
    ["transactions", {}],
    ["transactions", ["zz"]],
    ["withdrawals", [{ index: "1" }]],
    ["blob_gas_used", ""],
  ])("has no payload with %s %j", (name, value) => {
    const data = damaged(blockOf("electra"), (body) => {
      body.execution_payload[name] = value;
    });
    expect(violationOf(FULL, { data, version: "electra" })).toContain(`message.body.execution_payload.${name}`);
  });

  it("may have a fee above 64 bits, and members of later forks", () => {
    const data = damaged(blockOf("deneb"), (body) => {
      body.execution_payload.base_fee_per_gas = String(2n ** 200n);
      body.execution_payload.later = [];
      body.later = {};
    });
    expect(violationOf(FULL, { data, version: "deneb" })).toBeUndefined();
  });

  it("of an unknown fork needs the members of the fork of its slot", () => {
    for (const fork of ["electra", "fulu"] as const) {
      const data = blockOf(fork);
      const without = damaged(data, (body) => delete body.execution_payload);
      expect(violationOf(FULL, { data, version: "zzz" })).toBeUndefined();
      expect(violationOf(FULL, { data: without, version: "zzz" })).toMatch(/no member "execution_payload"$/);
      expect(violationOf(FULL, { data: without, header: "zzz" })).toMatch(/no member "execution_payload"$/);
      expect(violationOf(FULL, { data: without, version: "zzz" }, { ...CHAIN_SPEC, forks: [] })).toBeUndefined();
    }
    const data = { message: { body: {}, slot: String(slotOf("electra")) }, signature: "new" };
    expect(violationOf(FULL, { data, version: "zzz" })).toMatch(/^data\.message\./);
    expect(violationOf(FULL, { data: { message: { body: {} } }, version: "zzz" })).toMatch(/^data\.message/);
    const late = { ...CHAIN_SPEC, forks: CHAIN_SPEC.forks.map((fork) => ({ ...fork, isUpcoming: true })) };
    expect(violationOf(FULL, { data, version: "zzz" }, late)).toBeUndefined();
  });

  it("of a later fork that is not settled needs the members of the fork of its slot", () => {
    const forks = CHAIN_SPEC.forks.map((fork) => (fork.name === "fulu" ? { ...fork, isUpcoming: true } : fork));
    const data = blockOf("electra");
    expect(violationOf(FULL, { data, version: "fulu" }, { ...CHAIN_SPEC, forks })).toBeUndefined();
    const without = damaged(data, (body) => delete body.execution_payload);
    expect(violationOf(FULL, { data: without, version: "fulu" }, { ...CHAIN_SPEC, forks })).toMatch(
      /^the body of a block of electra has no member "execution_payload"$/,
    );
  });

  it("has no empty fork", () => {
    expect(violationOf(FULL, { data: blockOf("electra"), version: "" })).toBe("version is empty");
  });
});

describe("a produced block", () => {
  const contents = (data: Json) => ({ block: data.message, kzg_proofs: [], blobs: [] });
  const V3 = "get_v3_validator_block";
  const costs = { execution_payload_blinded: false, execution_payload_value: "1", consensus_block_value: "1" };
  const violation = (data: Json, version = "electra") => {
    const answer = response(JSON.stringify({ version, ...costs, data }));
    return findViolation(methodCall(V3, { slot: String(slotOf("electra")) }), answer, { chainSpec: CHAIN_SPEC });
  };

  it("is full or blinded", () => {
    const [full, blinded] = [blockOf("electra"), blindedBlockOf("electra")];
    expect(violation(full.message)).toBeUndefined();
    expect(violation(contents(full))).toBeUndefined();
    expect(violation(blinded.message)).toBeUndefined();
    for (const data of [full, blinded]) {
      const without = damaged(data, (body) => {
        delete body.execution_payload;
        delete body.execution_payload_header;
      });
      expect(violation(without.message)).toMatch(/no member "execution_payload"$/);
      expect(violation(contents(without))).toMatch(/no member "execution_payload"$/);
    }
  });
});
