import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { loadRecordedCalls } from "../../api/openrpc.ts";
import { methodCall, response, CHAIN_SPEC as SPEC } from "../cache/method-calls.test-support.ts";
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
  const recorded = loadRecordedCalls();
  const resultOf = async (name: string) => structuredClone((await recorded)[name]!.result) as never;

  async function block(slot: number) {
    const data: { message: { slot: string } } = await resultOf("get_v1_beacon_blocks_blockId");
    data.message.slot = String(slot);
    return data;
  }

  const BLOCK_CALL = methodCall("get_v2_beacon_blocks_blockId", { block_id: "head" });

  it("is that of the slot of a block, in its member and in its header", async () => {
    for (const [slot, right, wrong] of [
      [DENEB_SLOT - 1, "altair", "deneb"],
      [DENEB_SLOT, "deneb", "electra"],
      [ELECTRA_SLOT - 1, "deneb", "altair"],
      [ELECTRA_SLOT, "electra", "phase0"],
    ] as const) {
      const data = await block(slot);
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

  it("may be unknown, not scheduled, or one that may still be rescheduled", async () => {
    for (const version of ["later", "gloas", "fulu"]) {
      expect(violationOf(BLOCK_CALL, { version, data: await block(ELECTRA_SLOT) })).toBeUndefined();
      const headers = { [VERSION_HEADER]: version };
      expect(violationOf(BLOCK_CALL, { data: await block(ELECTRA_SLOT) }, headers)).toBeUndefined();
    }
    const data = await block(30 * SPEC.slotsPerEpoch);
    expect(violationOf(BLOCK_CALL, { version: "electra", data })).toBeUndefined();
  });

  it("is the same in member and header", async () => {
    const data = await block(ELECTRA_SLOT);
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
