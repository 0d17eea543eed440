import { expect, it } from "vitest";
import type { UpstreamResponse } from "../exchange.ts";
import { type Finalization, finalizationBy, lastingOf, mayBeFinal, type WholeResponse } from "./lasting.ts";
import { FACTS, finalAnswer, question, ROOT, response } from "./questions.test-support.ts";

/** Epoch 2 is final for the first upstream, which verifies payloads, and epoch 3 for the second one, which does not. */
const FINALIZATION: Finalization = finalizationBy(
  {
    all: [
      { upstream: "first", fitness: "ready", reasons: [], finalized: { epoch: 2, root: ROOT }, isOptimistic: false },
      { upstream: "second", fitness: "ready", reasons: [], finalized: { epoch: 3, root: ROOT }, isOptimistic: true },
      { upstream: "third", fitness: "down", reasons: ["It does not answer."] },
    ],
  },
  FACTS,
);

const STATE_ROOT = "get_v1_beacon_states_root";
const BLOCK = "get_v2_beacon_blocks_blockId";

const lastingOfState = (stateId: string, body: string, given: Partial<UpstreamResponse> = {}) =>
  lastingOf(question(STATE_ROOT, { state_id: stateId }), response(body, given) as WholeResponse, FINALIZATION);

it("takes as final what an upstream says is, where the same id can never stand for something else", () => {
  const final = finalAnswer('{"root":"0x01"}');
  for (const id of [ROOT, "16", "genesis"]) expect(lastingOfState(id, final)).toBe("final");
  for (const id of ["head", "finalized", "justified"]) expect(lastingOfState(id, final)).toBe("head");
  // Nobody has finalized that slot, whatever the answer says.
  expect(lastingOfState("25", final)).toBeUndefined();
});

it("takes nothing as final that may yet be another", () => {
  const answer = (finalized: boolean, optimistic: boolean) =>
    `{"execution_optimistic":${optimistic},"finalized":${finalized},"data":{"root":"0x01"}}`;
  expect(lastingOfState("16", answer(false, false))).toBeUndefined();
  expect(lastingOfState("16", answer(true, true))).toBeUndefined();
  expect(lastingOfState(ROOT, answer(true, true))).toBe("head");
  expect(lastingOfState("16", answer(true, false))).toBe("final");
  expect(lastingOfState("16", answer(true, false), { status: 206 })).toBeUndefined();
  expect(lastingOfState("16", finalAnswer("[]"))).toBeUndefined();
  const columns = question("get_v1_debug_beacon_data_column_sidecars_blockId", { block_id: "16" });
  expect(lastingOf(columns, response(finalAnswer("[{}]")) as WholeResponse, FINALIZATION)).toBeUndefined();
});

it("goes by what the upstream has finalized where an answer does not tell", () => {
  const ssz = question(BLOCK, { block_id: "16" }, { format: "ssz" });
  const later = question(BLOCK, { block_id: "17" }, { format: "ssz" });
  const byRoot = question(BLOCK, { block_id: ROOT }, { format: "ssz" });
  const from = (upstream: string, headers = {}) => response("\0\0", { upstream, headers }) as WholeResponse;
  expect(lastingOf(ssz, from("first"), FINALIZATION)).toBe("final");
  for (const upstream of ["second", "third"]) expect(lastingOf(ssz, from(upstream), FINALIZATION)).toBeUndefined();
  expect(lastingOf(later, from("first"), FINALIZATION)).toBeUndefined();
  expect(lastingOf(byRoot, from("first"), FINALIZATION)).toBe("head");
  const told = { "eth-consensus-finalized": "true", "eth-execution-optimistic": "false" };
  expect(lastingOf(byRoot, from("second", told), FINALIZATION)).toBe("final");
  expect(lastingOf(ssz, from("first", { ...told, "eth-consensus-finalized": "false" }), FINALIZATION)).toBeUndefined();
});

it("keeps for a while what follows from the head, from the status, or from nothing that changes", () => {
  const lasting = (name: string, params: Record<string, string> = {}, status = 200) =>
    lastingOf(question(name, params), response('{"data":{}}', { status }) as WholeResponse, FINALIZATION);
  expect(lasting("get_v1_config_spec")).toBe("fixed");
  expect(lasting("get_v1_config_spec", {}, 500)).toBeUndefined();
  expect(lasting("get_v1_node_syncing")).toBe("status");
  expect(lasting("get_v1_beacon_headers")).toBe("head");
  expect(lasting("get_v1_beacon_headers", { slot: "30" })).toBeUndefined();
  expect(lasting("get_v1_beacon_states_stateId_validators", { state_id: "head" })).toBe("head");
  expect(lasting("get_v1_beacon_states_stateId_validators", { state_id: "30" })).toBeUndefined();
  expect(lasting("get_v1_node_peers")).toBeUndefined();
  expect(lasting("get_v1_validator_attestation_data", { slot: "30", committee_index: "0" })).toBeUndefined();
});

it("keeps nothing for long that has no data", () => {
  const notReady = '{"message":"warming up"}';
  expect(lastingOfState("16", notReady)).toBeUndefined();
  expect(lastingOfState("16", '{"finalized":true,"data":{"root":"0x01"')).toBeUndefined();
  const spec = question("get_v1_config_spec");
  expect(lastingOf(spec, response(notReady) as WholeResponse, FINALIZATION)).toBeUndefined();
});

it("knows before it is asked what can be final", () => {
  const may = (id: string) => mayBeFinal(question(STATE_ROOT, { state_id: id }), FINALIZATION);
  expect(["genesis", "0", "24", ROOT].map(may)).toEqual([true, true, true, true]);
  expect(["25", "head", "0x12", "-1"].map(may)).toEqual([false, false, false, false]);
  const nothingKnown = finalizationBy({ all: [] }, FACTS);
  expect(mayBeFinal(question(STATE_ROOT, { state_id: "25" }), nothingKnown)).toBe(true);
});
