import { expect, it } from "vitest";
import {
  CHAIN_SPEC,
  finalAnswer,
  methodCall,
  ROOT,
  response,
} from "../../../test/support/gateway/cache/method-calls.ts";
import type { UpstreamResponse } from "../upstream/upstream-call.ts";
import { type BufferedResponse, type FinalityView, finalityFrom, lifetimeOf, mayBeFinal } from "./cache-lifetime.ts";

/** The first upstream has finalized epoch 2 and verifies payloads. The second has finalized epoch 3 and does not. */
const FINALITY: FinalityView = finalityFrom(
  {
    all: [
      { upstream: "first", state: "ready", reasons: [], finalized: { epoch: 2, root: ROOT }, isOptimistic: false },
      { upstream: "second", state: "ready", reasons: [], finalized: { epoch: 3, root: ROOT }, isOptimistic: true },
      { upstream: "third", state: "down", reasons: ["It does not answer."] },
    ],
  },
  CHAIN_SPEC,
);

const STATE_ROOT = "get_v1_beacon_states_root";
const BLOCK = "get_v2_beacon_blocks_blockId";

const lifetimeOfState = (stateId: string, body: string, overrides: Partial<UpstreamResponse> = {}) =>
  lifetimeOf(methodCall(STATE_ROOT, { state_id: stateId }), response(body, overrides) as BufferedResponse, FINALITY);

it("is final if the upstream says so and the id is immutable", () => {
  const final = finalAnswer('{"root":"0x01"}');
  for (const id of [ROOT, "16", "genesis"]) expect(lifetimeOfState(id, final)).toBe("final");
  for (const id of ["head", "finalized", "justified"]) expect(lifetimeOfState(id, final)).toBe("head");
  // No upstream has finalized that slot, whatever the answer says.
  expect(lifetimeOfState("25", final)).toBeUndefined();
});

it("is not final if the id may change its meaning", () => {
  const answer = (finalized: boolean, optimistic: boolean) =>
    `{"execution_optimistic":${optimistic},"finalized":${finalized},"data":{"root":"0x01"}}`;
  expect(lifetimeOfState("16", answer(false, false))).toBeUndefined();
  expect(lifetimeOfState("16", answer(true, true))).toBeUndefined();
  expect(lifetimeOfState(ROOT, answer(true, true))).toBe("head");
  expect(lifetimeOfState("16", answer(true, false))).toBe("final");
  expect(lifetimeOfState("16", answer(true, false), { status: 206 })).toBeUndefined();
  expect(lifetimeOfState("16", finalAnswer("[]"))).toBeUndefined();
  const columns = methodCall("get_v1_debug_beacon_data_column_sidecars_blockId", { block_id: "16" });
  expect(lifetimeOf(columns, response(finalAnswer("[{}]")) as BufferedResponse, FINALITY)).toBeUndefined();
});

it("uses the upstream's finality if the answer has no metadata", () => {
  const ssz = methodCall(BLOCK, { block_id: "16" }, { format: "ssz" });
  const later = methodCall(BLOCK, { block_id: "17" }, { format: "ssz" });
  const byRoot = methodCall(BLOCK, { block_id: ROOT }, { format: "ssz" });
  const from = (upstream: string, headers = {}) => response("\0\0", { upstream, headers }) as BufferedResponse;
  expect(lifetimeOf(ssz, from("first"), FINALITY)).toBe("final");
  for (const upstream of ["second", "third"]) expect(lifetimeOf(ssz, from(upstream), FINALITY)).toBeUndefined();
  expect(lifetimeOf(later, from("first"), FINALITY)).toBeUndefined();
  expect(lifetimeOf(byRoot, from("first"), FINALITY)).toBe("head");
  const headers = { "eth-consensus-finalized": "true", "eth-execution-optimistic": "false" };
  expect(lifetimeOf(byRoot, from("second", headers), FINALITY)).toBe("final");
  expect(lifetimeOf(ssz, from("first", { ...headers, "eth-consensus-finalized": "false" }), FINALITY)).toBeUndefined();
});

it("has the lifetimes head, status and fixed", () => {
  const lifetime = (name: string, params: Record<string, string> = {}, status = 200) =>
    lifetimeOf(methodCall(name, params), response('{"data":{}}', { status }) as BufferedResponse, FINALITY);
  expect(lifetime("get_v1_config_spec")).toBe("fixed");
  expect(lifetime("get_v1_config_spec", {}, 500)).toBeUndefined();
  expect(lifetime("get_v1_node_syncing")).toBe("status");
  expect(lifetime("get_v1_beacon_headers")).toBe("head");
  expect(lifetime("get_v1_beacon_headers", { slot: "30" })).toBeUndefined();
  expect(lifetime("get_v1_beacon_states_stateId_validators", { state_id: "head" })).toBe("head");
  expect(lifetime("get_v1_beacon_states_stateId_validators", { state_id: "30" })).toBeUndefined();
  expect(lifetime("get_v1_node_peers")).toBeUndefined();
  expect(lifetime("get_v1_validator_attestation_data", { slot: "30", committee_index: "0" })).toBeUndefined();
});

it("does not cache answers without data for long", () => {
  const notReady = '{"message":"warming up"}';
  expect(lifetimeOfState("16", notReady)).toBeUndefined();
  expect(lifetimeOfState("16", '{"finalized":true,"data":{"root":"0x01"')).toBeUndefined();
  const spec = methodCall("get_v1_config_spec");
  expect(lifetimeOf(spec, response(notReady) as BufferedResponse, FINALITY)).toBeUndefined();
});

it("predicts whether an answer can be final", () => {
  const may = (id: string) => mayBeFinal(methodCall(STATE_ROOT, { state_id: id }), FINALITY);
  expect(["genesis", "0", "24", ROOT].map(may)).toEqual([true, true, true, true]);
  expect(["25", "head", "0x12", "-1"].map(may)).toEqual([false, false, false, false]);
  const nothingKnown = finalityFrom({ all: [] }, CHAIN_SPEC);
  expect(mayBeFinal(methodCall(STATE_ROOT, { state_id: "25" }), nothingKnown)).toBe(true);
});
