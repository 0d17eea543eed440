import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { methodCall, ROOT, response, CHAIN_SPEC as SPEC } from "../../../test/support/gateway/cache/method-calls.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { UpstreamCall } from "../upstream/upstream-call.ts";
import { findViolation } from "./response-validator.ts";

const SIGNATURE = `0x${"00".repeat(96)}`;
const [ALTAIR, ELECTRA, FULU] = [10, 20, 30].map((epoch) => epoch * SLOTS_PER_EPOCH) as [number, number, number];
const CHAIN_SPEC: ChainSpec = {
  ...SPEC,
  genesisForkVersion: "0x00000001",
  forks: [
    { name: "phase0", epoch: 0 },
    { name: "altair", epoch: 10 },
    { name: "electra", epoch: 20 },
    { name: "fulu", epoch: 30 },
  ],
};

function violationOf(call: UpstreamCall, body: unknown, chainSpec: ChainSpec | undefined = CHAIN_SPEC) {
  return findViolation(call, response(JSON.stringify(body)), { chainSpec, maxBytes: 1024 * 1024 });
}

describe("the root of a header", () => {
  const message = (slot: number | string) => {
    return { slot: String(slot), proposer_index: "1", parent_root: ROOT, state_root: ROOT, body_root: ROOT };
  };
  const header = (slot: number | string, overrides: object = {}, root = rootOf(slot)) => {
    return { root, canonical: true, header: { message: { ...message(slot), ...overrides }, signature: SIGNATURE } };
  };
  function rootOf(slot: number | string): string {
    const type = ssz.phase0.BeaconBlockHeaderBigint;
    return toRootHex(type.hashTreeRoot(type.fromJson(message(slot))));
  }

  it.each([{ proposer_index: "2" }, { parent_root: SIGNATURE.slice(0, 66) }, { state_root: SIGNATURE.slice(0, 66) }])(
    "is not that of a header with %j",
    (overrides) => {
      const one = methodCall("get_v1_beacon_headers_blockId", { block_id: "7" });
      expect(violationOf(one, { data: header(7) })).toBeUndefined();
      expect(violationOf(one, { data: header(7, overrides) })).toMatch(/^data has root 0x\w+, but its header has 0x/);
      const list = methodCall("get_v1_beacon_headers", { slot: "7" });
      expect(violationOf(list, { data: [header(7), header(7, overrides)] })).toMatch(/^data\[1\] has root/);
    },
  );

  it("may be of any slot", () => {
    const call = methodCall("get_v1_beacon_headers_blockId", { block_id: "head" });
    for (const slot of ["0", "9007199254740993", "18446744073709551615"])
      expect(violationOf(call, { data: header(slot) })).toBeUndefined();
  });

  it("has no second value in an escaped member", () => {
    const call = methodCall("get_v1_beacon_headers_blockId", { block_id: "7" });
    const text = JSON.stringify({ data: header(7) }).replace('"canonical"', `"\\u0072oot":"${ROOT}","canonical"`);
    expect(findViolation(call, response(text))).toBe('data has the member "root" with escapes');
  });

  it("is only that of the first headers of a long list", () => {
    const call = methodCall("get_v1_beacon_headers");
    const wrong = header(7, {}, ROOT);
    const listOf = (right: number) => [...Array(right).fill(header(7)), wrong];
    expect(violationOf(call, { data: listOf(63) })).toMatch(/^data\[63\] has root/);
    expect(violationOf(call, { data: listOf(64) })).toBeUndefined();
  });
});

const checkpoint = (epoch: number) => ({ epoch: String(epoch), root: ROOT });

describe("attestation data", () => {
  const data = (slot: number, { index = 0, source = 0, target = Math.floor(slot / SLOTS_PER_EPOCH) } = {}) => ({
    slot: String(slot),
    index: String(index),
    beacon_block_root: ROOT,
    source: checkpoint(source),
    target: checkpoint(target),
  });
  const produced = (slot: number, overrides: Parameters<typeof data>[1], committee = "3") => {
    const call = methodCall("get_v1_validator_attestation_data", { slot: String(slot), committee_index: committee });
    return violationOf(call, { data: data(slot, overrides) });
  };
  const attestation = (overrides: Parameters<typeof data>[1]) => {
    return { aggregation_bits: "0x01", data: data(ALTAIR, overrides), signature: SIGNATURE };
  };

  it("has the epoch of its slot as target, and no later source", () => {
    expect(produced(ALTAIR, { index: 3, source: 10 })).toBeUndefined();
    expect(produced(ALTAIR, { index: 3, target: 9 })).toBe(`data has target epoch 9, but slot ${ALTAIR}`);
    expect(produced(ALTAIR, { index: 3, source: 11 })).toBe("data has source epoch 11 after target epoch 10");
  });

  it("has the requested committee before electra, and 0 from then on", () => {
    expect(produced(ELECTRA - 1, { index: 3 })).toBeUndefined();
    expect(produced(ELECTRA - 1, { index: 3 }, "03")).toBeUndefined();
    expect(produced(ELECTRA - 1, { index: 0 })).toBe("data has index 0 instead of 3");
    expect(produced(ELECTRA, { index: 0 })).toBeUndefined();
    expect(produced(ELECTRA, { index: 3 })).toBe("data has index 3 instead of 0");
    expect(produced(ELECTRA, { index: 1 })).toBe("data has index 1 instead of 0");
  });

  it("may tell about a payload if gloas may have started", () => {
    expect(produced(FULU, { index: 1 })).toBeUndefined();
    expect(produced(FULU, { index: 3 })).toBe("data has index 3 instead of 0");
  });

  it.each(["get_v1_beacon_blocks_blockId_attestations", "get_v1_beacon_pool_attestations"])(
    "has the epoch of its slot as target in the list of %s",
    (name) => {
      const call = methodCall(name, { block_id: "head" });
      expect(violationOf(call, { data: [attestation({ source: 9 })] })).toBeUndefined();
      expect(violationOf(call, { data: [attestation({}), attestation({ target: 11 })] })).toBe(
        `data[1].data has target epoch 11, but slot ${ALTAIR}`,
      );
    },
  );

  it("has the epoch of its slot as target in an aggregate", () => {
    const call = methodCall("get_v1_validator_aggregate_attestation", { slot: String(ALTAIR) });
    expect(violationOf(call, { data: attestation({}) })).toBeUndefined();
    expect(violationOf(call, { data: attestation({ target: 9 }) })).toMatch(/^data\.data has target epoch 9/);
  });
});

describe("a state", () => {
  const stateCall = (part: string, state_id: string, params: Record<string, string> = {}) =>
    methodCall(`get_v1_beacon_states_${part}`, { state_id, ...params });

  const FINALITY = "stateId_finality_checkpoints";
  const finality = (previous: number, current: number, final: number) => ({
    data: {
      previous_justified: checkpoint(previous),
      current_justified: checkpoint(current),
      finalized: checkpoint(final),
    },
  });

  it("has checkpoints in order, and not after it", () => {
    const [known, head] = [stateCall(FINALITY, String(ALTAIR)), stateCall(FINALITY, "head")];
    for (const call of [known, head]) {
      expect(violationOf(call, finality(8, 9, 8))).toBeUndefined();
      expect(violationOf(call, finality(9, 8, 8))).toBe(
        "data has previous justified epoch 9 after current justified epoch 8",
      );
      expect(violationOf(call, finality(8, 8, 9))).toBe("data has finalized epoch 9 after justified epoch 8");
    }
    expect(violationOf(known, finality(8, 11, 8))).toBe(
      `data has justified epoch 11, but the state of slot ${ALTAIR} was requested`,
    );
    expect(violationOf(head, finality(8, 11, 8))).toBeUndefined();
    expect(violationOf(stateCall(FINALITY, "genesis"), finality(0, 0, 0))).toBeUndefined();
    expect(violationOf(stateCall(FINALITY, "genesis"), finality(0, 1, 0))).toMatch(/^data has justified epoch 1/);
  });

  it("has committees of its epoch, or of the requested one", () => {
    const committees = (slot: number) => ({ data: [{ index: "0", slot: String(slot), validators: ["1"] }] });
    const call = stateCall("stateId_committees_epoch", String(ALTAIR));
    expect(violationOf(call, committees(ALTAIR + 1))).toBeUndefined();
    expect(violationOf(call, committees(ALTAIR - 1))).toBe(
      `data[0].slot is ${ALTAIR - 1}, but the state of slot ${ALTAIR} was requested`,
    );
    const previous = stateCall("stateId_committees_epoch", String(ALTAIR), { epoch: "9" });
    expect(violationOf(previous, committees(ALTAIR - 1))).toBeUndefined();
    expect(violationOf(previous, committees(ALTAIR))).toMatch(/but epoch 9 was requested$/);
    expect(violationOf(stateCall("stateId_committees_epoch", "genesis"), committees(ALTAIR))).toMatch(
      /state of slot 0/,
    );
    expect(violationOf(stateCall("stateId_committees_epoch", "head"), committees(ALTAIR))).toBeUndefined();
  });

  it("has the fork of its slot", () => {
    const fork = (slot: number | string, epoch: number, version = 1) =>
      violationOf(stateCall("fork", String(slot)), {
        data: { previous_version: "0x00000001", current_version: `0x0000000${version}`, epoch: String(epoch) },
      });
    expect(fork(ALTAIR, 10, 2)).toBeUndefined();
    expect(fork(ALTAIR - 1, 0)).toBeUndefined();
    expect(fork("genesis", 0)).toBeUndefined();
    expect(fork("head", 7)).toBeUndefined();
    expect(fork(ALTAIR, 0)).toBe(`data has epoch 0, but slot ${ALTAIR} is of altair, from epoch 10 on`);
    expect(fork(ALTAIR, 20)).toMatch(/^data has epoch 20/);
    expect(fork(ALTAIR - 1, 0, 2)).toBe("data has current_version 0x00000002, but the network has 0x00000001");
    // A fork after the last one may have been scheduled since.
    expect(fork(FULU + 2 * SLOTS_PER_EPOCH, 31, 9)).toBeUndefined();
    expect(fork(FULU, 31, 9)).toMatch(/^data has epoch 31/);
  });

  const PUBKEY = `0x${"aa".repeat(48)}`;
  const validator = (index: number, overrides: object = {}) => ({
    index: String(index),
    balance: "1",
    status: "active_ongoing",
    validator: {
      pubkey: PUBKEY,
      withdrawal_credentials: ROOT,
      effective_balance: "1",
      slashed: false,
      activation_eligibility_epoch: "0",
      activation_epoch: "0",
      exit_epoch: "18446744073709551615",
      withdrawable_epoch: "9",
    },
    ...overrides,
  });

  it.each(["stateId_validators", "stateId_validator_balances"])("lists all %s in order", (part) => {
    const element = (index: number) =>
      part === "stateId_validators" ? validator(index) : { index: String(index), balance: "1" };
    const listOf = (...indices: number[]) => ({ data: indices.map(element) });
    const call = stateCall(part, "head");
    expect(violationOf(call, listOf(0, 1, 2))).toBeUndefined();
    expect(violationOf(call, listOf(1, 2))).toBe("data[0].index is 1 instead of 0");
    expect(violationOf(call, listOf(0, 0))).toBe("data[1].index is 0 instead of 1");
    expect(violationOf(call, listOf(0, 1, 3))).toBe("data[2].index is 3 instead of 2");
    expect(violationOf(stateCall(part, "head", { id: "2,1" }), listOf(1, 2))).toBeUndefined();
    const posted = methodCall(`post_v1_beacon_states_${part}`, { state_id: "head" }, { body: "{}" });
    expect(violationOf(posted, listOf(1, 2))).toBeUndefined();
  });

  it("has validators of a known status", () => {
    const call = stateCall("stateId_validators", "head", { status: "active" });
    expect(violationOf(call, { data: [validator(4, { status: "withdrawal_done" })] })).toBeUndefined();
    for (const status of ["active", "", "Active_ongoing"])
      expect(violationOf(call, { data: [validator(4, { status })] })).toMatch(/^data\[0\]\.status is not one of /);
  });

  it.each([
    ["01", "is a decimal integer with a leading zero"],
    ["18446744073709551616", "is too large"],
    ["100000000000000000000", "is too large"],
    ["-1", "is not a decimal integer"],
    ["", "is not a decimal integer"],
    ["1.0", "is not a decimal integer"],
    [1, "is a number instead of a decimal string"],
  ])("has no balance %j", (balance, violation) => {
    const call = stateCall("stateId_validator_balances", "head");
    expect(violationOf(call, { data: [{ index: "0", balance: "18446744073709551615" }] })).toBeUndefined();
    expect(violationOf(call, { data: [{ index: "0", balance }] })).toBe(`data[0].balance ${violation}`);
  });
});

describe("duties", () => {
  const PUBKEY = `0x${"aa".repeat(48)}`;
  const duty = (slot: number, index = "1") => ({ pubkey: PUBKEY, validator_index: index, slot: String(slot) });

  it.each(["get_v1_validator_duties_proposer", "get_v2_validator_duties_proposer"])(
    "of %s are one for each slot of an epoch",
    (name) => {
      const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, index) => ALTAIR + index);
      const duties = (each: number[], epoch = "10") =>
        violationOf(methodCall(name, { epoch }), { dependent_root: ROOT, data: each.map((slot) => duty(slot)) });
      expect(duties(slots)).toBeUndefined();
      expect(duties(slots.toReversed())).toBeUndefined();
      expect(duties(slots.slice(1))).toBe(
        `data has proposers of ${SLOTS_PER_EPOCH - 1} slots instead of ${SLOTS_PER_EPOCH}`,
      );
      expect(duties([...slots, ALTAIR])).toBe(`data[${SLOTS_PER_EPOCH}].slot is ${ALTAIR}, as in another element`);
      const first = slots.map((slot) => slot - ALTAIR);
      expect(duties(first, "0")).toBeUndefined();
      expect(duties(first.slice(1), "0")).toBeUndefined();
      expect(duties(first.slice(0, -1), "0")).toMatch(/^data has proposers of/);
    },
  );

  const attester = (index: string) => ({
    ...duty(ALTAIR, index),
    committee_index: "0",
    committee_length: "1",
    committees_at_slot: "1",
    validator_committee_index: "0",
  });
  const syncDuty = (index: string) => {
    return { pubkey: PUBKEY, validator_index: index, validator_sync_committee_indices: ["1"] };
  };

  it.each([
    ["post_v1_validator_duties_attester", attester],
    ["post_v1_validator_duties_sync_epoch", syncDuty],
  ])("of %s are those of requested validators", (name, dutyOf: (index: string) => object) => {
    const violation = (body: unknown, ...indices: string[]) =>
      violationOf(methodCall(name, { epoch: "10" }, { body: JSON.stringify(body) }), {
        dependent_root: ROOT,
        data: indices.map(dutyOf),
      });
    expect(violation(["1", "2"], "2")).toBeUndefined();
    expect(violation([1, "02"], "1", "2")).toBeUndefined();
    expect(violation(["1", "2"], "2", "3")).toBe("data[1].validator_index is 3, which was not requested");
    expect(violation(["1", PUBKEY], "3")).toBeUndefined();
    expect(violation({}, "3")).toBeUndefined();
  });
});

describe("genesis", () => {
  const block = (slot: number) => {
    const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
    signed.message.slot = slot;
    return signed;
  };

  it("is the header of slot 0", () => {
    const call = methodCall("get_v1_beacon_headers_blockId", { block_id: "genesis" });
    const type = ssz.phase0.BeaconBlockHeader;
    const header = (slot: number) => {
      const message = { ...type.defaultValue(), slot };
      const root = toRootHex(type.hashTreeRoot(message));
      return { data: { root, canonical: true, header: { message: type.toJson(message), signature: SIGNATURE } } };
    };
    expect(violationOf(call, header(0))).toBeUndefined();
    expect(violationOf(call, header(7))).toBe("data.header.message.slot is 7, but block_id genesis was requested");
  });

  it("is the block of slot 0, in JSON and SSZ", () => {
    const call = methodCall("get_v2_beacon_blocks_blockId", { block_id: "genesis" });
    const { SignedBeaconBlock } = ssz.phase0;
    const answer = (slot: number) => ({ version: "phase0", data: SignedBeaconBlock.toJson(block(slot)) });
    expect(violationOf(call, answer(0))).toBeUndefined();
    expect(violationOf(call, answer(7))).toBe("data.message.slot is 7, but block_id genesis was requested");
    const headers = { "content-type": "application/octet-stream", "eth-consensus-version": "phase0" };
    const sszOf = (slot: number) =>
      findViolation(call, { ...response(""), headers, body: Buffer.from(SignedBeaconBlock.serialize(block(slot))) });
    expect(sszOf(0)).toBeUndefined();
    expect(sszOf(7)).toBe("the body has slot 7, but genesis was requested");
  });
});
