import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { methodCall, response, CHAIN_SPEC as SPEC } from "../../../test/support/gateway/cache/method-calls.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { UpstreamCall } from "../upstream/upstream-call.ts";
import { findViolation } from "./response-validator.ts";

const VERSION_HEADER = "eth-consensus-version";
const DENEB_SLOT = 10 * SPEC.slotsPerEpoch;
const ELECTRA_SLOT = 20 * SPEC.slotsPerEpoch;
const CHAIN_SPEC: ChainSpec = {
  ...SPEC,
  genesisForkVersion: "0x00000001",
  forks: [
    { name: "phase0", epoch: 0 },
    { name: "altair", epoch: 0 },
    { name: "deneb", epoch: 10 },
    { name: "electra", epoch: 20 },
    { name: "fulu", epoch: 30, isUpcoming: true },
  ],
};

function violationOf(call: UpstreamCall, body: unknown, headers: Record<string, string> = {}, chainSpec = CHAIN_SPEC) {
  const answer = response(JSON.stringify(body), { headers: { "content-type": "application/json", ...headers } });
  return findViolation(call, answer, { chainSpec, maxBytes: 1024 * 1024 });
}

describe("the fork of an answer", () => {
  function block(slot: number, fork: "altair" | "deneb" | "electra" | "gloas" = "electra") {
    const type = ssz[fork].SignedBeaconBlock;
    const signed = type.defaultValue();
    signed.message.slot = slot;
    return type.toJson(signed as never);
  }

  const BLOCK_CALL = methodCall("get_v2_beacon_blocks_blockId", { block_id: "head" });

  it("is that of the slot of a block, in its member and in its header", () => {
    for (const [slot, right, wrong] of [
      [DENEB_SLOT - 1, "altair", "deneb"],
      [DENEB_SLOT, "deneb", "electra"],
      [ELECTRA_SLOT - 1, "deneb", "altair"],
      [ELECTRA_SLOT, "electra", "phase0"],
    ] as const) {
      const data = block(slot, right);
      expect(violationOf(BLOCK_CALL, { version: right, data })).toBeUndefined();
      expect(violationOf(BLOCK_CALL, { data, version: right.toUpperCase() })).toBeUndefined();
      expect(violationOf(BLOCK_CALL, { data }, { [VERSION_HEADER]: right })).toBeUndefined();
      expect(violationOf(BLOCK_CALL, { data })).toBeUndefined();
      expect(violationOf(BLOCK_CALL, { version: wrong, data })).toBe(
        `version is ${wrong}, but slot ${slot} is of ${right}`,
      );
      expect(violationOf(BLOCK_CALL, { data, version: wrong })).toMatch(/^version is/);
      expect(violationOf(BLOCK_CALL, { data }, { [VERSION_HEADER]: wrong })).toBe(
        `Eth-Consensus-Version is ${wrong}, but slot ${slot} is of ${right}`,
      );
    }
  });

  it("may be unknown, not scheduled, or one that may still be rescheduled", () => {
    for (const version of ["later", "gloas", "fulu"]) {
      const data = block(ELECTRA_SLOT, version === "gloas" ? version : "electra");
      expect(violationOf(BLOCK_CALL, { version, data })).toBeUndefined();
      expect(violationOf(BLOCK_CALL, { data }, { [VERSION_HEADER]: version })).toBeUndefined();
    }
    const data = block(30 * SPEC.slotsPerEpoch);
    expect(violationOf(BLOCK_CALL, { version: "electra", data })).toBeUndefined();
  });

  it("is the same in member and header", () => {
    const data = block(ELECTRA_SLOT);
    expect(violationOf(BLOCK_CALL, { version: "electra", data }, { [VERSION_HEADER]: "Electra" })).toBeUndefined();
    expect(violationOf(BLOCK_CALL, { version: "electra", data }, { [VERSION_HEADER]: "later" })).toBeUndefined();
    expect(violationOf(BLOCK_CALL, { version: "electra", data }, { [VERSION_HEADER]: "deneb" })).toBe(
      "version is electra, but Eth-Consensus-Version is deneb",
    );
    const pool = methodCall("get_v2_beacon_pool_attestations");
    expect(violationOf(pool, { version: "deneb", data: [] }, { [VERSION_HEADER]: "deneb" })).toBeUndefined();
    expect(violationOf(pool, { version: "deneb", data: [] }, { [VERSION_HEADER]: "altair" })).toMatch(/^version is/);
  });

  it("is that of a state, of a produced block, and of sidecars", () => {
    const state = methodCall("get_v1_beacon_states_stateId_pending_deposits", { state_id: String(ELECTRA_SLOT) });
    expect(violationOf(state, { version: "electra", data: [] })).toBeUndefined();
    expect(violationOf(state, { version: "deneb", data: [] })).toMatch(/^version is deneb, but slot/);
    const head = methodCall("get_v1_beacon_states_stateId_pending_deposits", { state_id: "head" });
    expect(violationOf(head, { version: "deneb", data: [] })).toBeUndefined();

    const produced = methodCall("get_v3_validator_block", { slot: String(ELECTRA_SLOT) });
    const contents = ssz.electra.BlockContents.defaultValue();
    contents.block.slot = ELECTRA_SLOT;
    const data = ssz.electra.BlockContents.toJson(contents);
    const costs = { execution_payload_blinded: false, execution_payload_value: "1", consensus_block_value: "1" };
    expect(violationOf(produced, { version: "electra", ...costs, data })).toBeUndefined();
    expect(violationOf(produced, { version: "deneb", ...costs, data })).toMatch(/^version is deneb, but slot/);

    const sidecars = methodCall("get_v1_beacon_blob_sidecars_blockId", { block_id: "head" });
    const value = ssz.deneb.BlobSidecar.defaultValue();
    value.signedBlockHeader.message.slot = DENEB_SLOT;
    const sidecar = ssz.deneb.BlobSidecar.toJson(value);
    expect(violationOf(sidecars, { version: "deneb", data: [sidecar] })).toBeUndefined();
    expect(violationOf(sidecars, { version: "electra", data: [sidecar] })).toMatch(/^version is electra, but slot/);
    expect(violationOf(sidecars, { version: "electra", data: [] })).toBeUndefined();
  });

  it("is that of the slot in SSZ", () => {
    const check = (name: string, fork: string, body: Uint8Array) =>
      findViolation(
        methodCall(name, { state_id: "head", block_id: "head", slot: String(ELECTRA_SLOT) }, { format: "ssz" }),
        {
          ...response(""),
          headers: { "content-type": "application/octet-stream", [VERSION_HEADER]: fork },
          body: Buffer.from(body),
        },
        { chainSpec: CHAIN_SPEC },
      );
    const signed = ssz.electra.SignedBeaconBlock.defaultValue();
    const state = ssz.electra.BeaconState.defaultValue();
    const produced = ssz.electra.BlockContents.defaultValue();
    for (const value of [signed.message, state, produced.block]) value.slot = ELECTRA_SLOT;
    const bodies = {
      get_v2_beacon_blocks_blockId: ssz.electra.SignedBeaconBlock.serialize(signed),
      get_v2_debug_beacon_states_stateId: ssz.electra.BeaconState.serialize(state),
      get_v3_validator_block: ssz.electra.BlockContents.serialize(produced),
    };
    for (const [name, body] of Object.entries(bodies)) {
      expect(check(name, "electra", body), name).toBeUndefined();
      expect(check(name, "altair", body), name).toBeDefined();
      expect(check(name, "later", body), name).toBeUndefined();
    }
    expect(check("get_v3_validator_block", "deneb", bodies.get_v3_validator_block)).toBe(
      `Eth-Consensus-Version is deneb, but slot ${ELECTRA_SLOT} is of electra`,
    );
  });
});

describe("the constants of a spec", () => {
  const call = methodCall("get_v1_config_spec");
  const RIGHT = {
    PRESET_BASE: "minimal",
    GENESIS_FORK_VERSION: "0x00000001",
    SLOTS_PER_EPOCH: "8",
    SECONDS_PER_SLOT: "6",
    SLOT_DURATION_MS: "6000",
    DENEB_FORK_EPOCH: "10",
    FULU_FORK_EPOCH: "30",
  };

  it("may be omitted, be numbers, and schedule later forks", () => {
    expect(violationOf(call, { data: RIGHT })).toBeUndefined();
    expect(violationOf(call, { data: { PRESET_BASE: "minimal", GENESIS_FORK_VERSION: "0x00000001" } })).toBeUndefined();
    const other = { ...RIGHT, SLOTS_PER_EPOCH: 8, FULU_FORK_EPOCH: "40", GLOAS_FORK_EPOCH: "18446744073709551615" };
    expect(violationOf(call, { data: other })).toBeUndefined();
  });

  it.each([
    ["SLOTS_PER_EPOCH", "32", "8"],
    ["SECONDS_PER_SLOT", "12", "6"],
    ["SLOT_DURATION_MS", "12000", "6000"],
    ["GENESIS_FORK_VERSION", "0x00000002", "0x00000001"],
    ["DENEB_FORK_EPOCH", "11", "10"],
    ["ELECTRA_FORK_EPOCH", "18446744073709551615", "20"],
  ])("contradict the network if %s is %s", (name, wrong, right) => {
    expect(violationOf(call, { data: { ...RIGHT, [name]: wrong } })).toBe(
      `data.${name} is ${wrong}, but the network has ${right}`,
    );
  });

  it("contradict the network if they are empty or no numbers", () => {
    const data = { ...RIGHT, ALTAIR_FORK_EPOCH: "" };
    expect(violationOf(call, { data })).toBe('data.ALTAIR_FORK_EPOCH is "", but the network has 0');
    for (const wrong of [null, [], false, " ", { toString: 1, valueOf: 1 }])
      expect(violationOf(call, { data: { ...RIGHT, ALTAIR_FORK_EPOCH: wrong } })).toMatch(/the network has 0$/);
  });

  it("cannot avoid the comparison by an unknown fork", () => {
    const body = { version: "later", data: { ...RIGHT, SLOTS_PER_EPOCH: "32" } };
    expect(violationOf(call, body)).toBe("data.SLOTS_PER_EPOCH is 32, but the network has 8");
  });

  it("may leave SECONDS_PER_SLOT at its default if SLOT_DURATION_MS is right", () => {
    const fast = { ...CHAIN_SPEC, secondsPerSlot: 1.5 };
    expect(violationOf(call, { data: { ...RIGHT, SLOT_DURATION_MS: "1500", SECONDS_PER_SLOT: "2" } }, {}, fast)).toBe(
      undefined,
    );
    const slower = { ...CHAIN_SPEC, secondsPerSlot: 12 };
    expect(violationOf(call, { data: { ...RIGHT, SLOT_DURATION_MS: "12000" } }, {}, slower)).toBeUndefined();
    const { SLOT_DURATION_MS: _, ...without } = RIGHT;
    expect(violationOf(call, { data: without }, {}, slower)).toBe("data.SECONDS_PER_SLOT is 6, but the network has 12");
  });
});

describe("the genesis", () => {
  const call = methodCall("get_v1_beacon_genesis");
  const RIGHT = {
    genesis_time: "1600000000",
    genesis_validators_root: `0x${"ab".repeat(32)}`,
    genesis_fork_version: "0x00000001",
  };
  const onlyPhase0 = { ...CHAIN_SPEC, forks: [{ name: "phase0", epoch: 0 }] };

  it("is that of the network", () => {
    expect(violationOf(call, { data: RIGHT }, {}, onlyPhase0)).toBeUndefined();
    const upper = { ...RIGHT, genesis_validators_root: `0x${"AB".repeat(32)}` };
    expect(violationOf(call, { data: upper }, {}, onlyPhase0)).toBeUndefined();
  });

  it.each([
    ["genesis_time", "1600000001"],
    ["genesis_validators_root", `0x${"cd".repeat(32)}`],
    ["genesis_fork_version", "0x00000002"],
  ] as const)("contradicts the network if %s is %s", (name, wrong) => {
    const violation = `data.${name} is ${wrong}, but the network has ${RIGHT[name]}`;
    const body = { data: { ...RIGHT, [name]: wrong } };
    expect(violationOf(call, body, {}, onlyPhase0)).toBe(violation);
    expect(violationOf(call, body, { [VERSION_HEADER]: "later" }, onlyPhase0)).toBe(violation);
    expect(violationOf(call, { version: "later", ...body }, {}, onlyPhase0)).toBe(violation);
  });

  it("may have another fork version if that is unknown, or if several forks start there", () => {
    const data = { ...RIGHT, genesis_fork_version: "0x00000002" };
    expect(violationOf(call, { data })).toBeUndefined();
    expect(violationOf(call, { data }, {}, { ...onlyPhase0, genesisForkVersion: undefined })).toBeUndefined();
  });

  it("is rejected if it is too long to be compared", () => {
    const body = Buffer.from(`{"data":{"padding":"${"x".repeat(70_000)}",${JSON.stringify(RIGHT).slice(1)}}`);
    expect(findViolation(call, response(String(body)), { chainSpec: onlyPhase0 })).toMatch(/^the body is too long/);
    expect(violationOf(call, JSON.parse(String(body)), {}, onlyPhase0)).toBeUndefined();
  });
});

describe("the fork schedule", () => {
  const call = methodCall("get_v1_config_fork_schedule");
  const FAR_FUTURE = "18446744073709551615";
  const entry = (version: number, epoch: number | string, previous = version - 1) => ({
    previous_version: `0x0000000${previous}`,
    current_version: `0x0000000${version}`,
    epoch: String(epoch),
  });
  const later = { ...CHAIN_SPEC, forks: CHAIN_SPEC.forks.filter(({ name }) => name !== "altair") };

  it("has the epochs of the settled forks, and may have others", () => {
    const forks = [entry(1, 0, 1), entry(2, 10), entry(3, 20)];
    expect(violationOf(call, { data: forks }, {}, later)).toBeUndefined();
    const longer = [...forks, entry(3, 25, 3), entry(4, 30), entry(5, FAR_FUTURE)];
    expect(violationOf(call, { data: longer }, {}, later)).toBeUndefined();
    expect(violationOf(call, { data: longer }, { [VERSION_HEADER]: "later" }, later)).toBeUndefined();
  });

  it("contradicts the network without the epoch of a fork", () => {
    const missing = "data has no fork at epoch 20, but the network has electra there";
    for (const moved of [21, FAR_FUTURE]) {
      const data = [entry(1, 0, 1), entry(2, 10), entry(3, moved)];
      expect(violationOf(call, { data }, {}, later)).toBe(missing);
      expect(violationOf(call, { data }, { [VERSION_HEADER]: "later" }, later)).toBe(missing);
    }
    const data = [entry(1, 1, 1), entry(2, 10), entry(3, 20)];
    expect(violationOf(call, { data }, {}, later)).toBe(
      "data has no fork at epoch 0, but the network has phase0 there",
    );
  });

  it("begins with the version of the genesis", () => {
    const wrong = "current_version is 0x00000009, but the network has 0x00000001";
    const rest = [entry(2, 10), entry(3, 20)];
    expect(violationOf(call, { data: [entry(9, 0), ...rest] }, {}, later)).toBe(`data[0].${wrong}`);
    expect(violationOf(call, { data: [entry(9, 5), entry(1, 0), ...rest] }, {}, later)).toBe(`data[0].${wrong}`);
    expect(violationOf(call, { data: [entry(1, 0), entry(9, 0), ...rest] }, {}, later)).toBe(`data[1].${wrong}`);
    const unknown = { ...later, genesisForkVersion: undefined };
    expect(violationOf(call, { data: [entry(9, 0), ...rest] }, {}, unknown)).toBeUndefined();
  });

  it("may merge the forks of one epoch", () => {
    const rest = [entry(3, 10), entry(4, 20)];
    expect(violationOf(call, { data: [entry(1, 0, 1), entry(2, 0), ...rest] })).toBeUndefined();
    expect(violationOf(call, { data: [entry(2, 0, 2), ...rest] })).toBeUndefined();
  });
});
