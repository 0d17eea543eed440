import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { get } from "../../src/api/definition.ts";
import { OpenApi } from "./openapi.ts";

const older = new OpenApi("v2.5.0");
const newer = new OpenApi("v4.0.0");
const BLOCK = get("/eth/v2/beacon/blocks/{block_id}");
const STATE = get("/eth/v2/debug/beacon/states/{state_id}");
const HEADER = get("/eth/v1/beacon/headers/{block_id}");

const block = (fork: ForkName.phase0 | ForkName.fulu) =>
  ssz[fork].SignedBeaconBlock.toJson(ssz[fork].SignedBeaconBlock.defaultValue() as never);
const state = (fork: ForkName.phase0 | ForkName.fulu) =>
  ssz[fork].BeaconState.toJson(ssz[fork].BeaconState.defaultValue() as never);

describe("the checks of results can fail", () => {
  it("for an object of another fork than the document's", () => {
    expect(older.validator(BLOCK)!.data(block(ForkName.phase0))).toBe(true);
    expect(newer.validator(BLOCK)!.data(block(ForkName.fulu))).toBe(true);
    expect(newer.validator(BLOCK)!.data(block(ForkName.phase0))).toBe(false);
    expect(newer.validator(STATE)!.data(state(ForkName.fulu))).toBe(true);
    expect(newer.validator(STATE)!.data(state(ForkName.phase0))).toBe(false);
  });

  it("for a deeply nested member that is missing or of the wrong type", () => {
    const { data } = older.validator(BLOCK)!;
    const changed = (change: (body: Record<string, unknown>) => void) => {
      const json = structuredClone(block(ForkName.phase0)) as { message: { body: Record<string, unknown> } };
      change(json.message.body);
      return json;
    };
    expect(data(changed((body) => delete body.graffiti))).toBe(false);
    expect(data(changed((body) => Object.assign(body, { graffiti: "text" })))).toBe(false);
    expect(data(changed((body) => Object.assign(body, { attestations: [{}] })))).toBe(false);
  });

  it("for metadata", () => {
    const { meta } = newer.validator(HEADER)!;
    expect(meta!({ execution_optimistic: false, finalized: true })).toBe(true);
    expect(meta!({ execution_optimistic: false })).toBe(false);
    expect(meta!({ execution_optimistic: "false", finalized: true })).toBe(false);
    expect(newer.validator(HEADER, { younger: ["finalized"] })!.meta!({ execution_optimistic: false })).toBe(true);
  });

  it("for an operation that the document lacks", () => {
    expect(older.has(get("/eth/v1/beacon/unheard_of"))).toBe(false);
    expect(() => older.validator(get("/eth/v1/beacon/unheard_of"))).toThrow("has no operation");
  });
});
