import { ForkName } from "@lodestar/params";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalogue } from "../../src/catalogue/catalogue.ts";
import type { Entry } from "../../src/catalogue/entry.ts";
import { CASES } from "./cases.ts";
import { ConformanceChain, type TestedFork } from "./conformance-chain.ts";
import type { MethodCase, TwinReference } from "./method-case.ts";
import { OpenApi, type TwinValidator } from "./openapi.ts";
import { OWN_SCHEMAS } from "./own-schemas.ts";
import { type ServedDoor, serveDoor } from "./served-door.ts";

const DOCUMENTS = { "v2.5.0": new OpenApi("v2.5.0"), "v4.0.0": new OpenApi("v4.0.0") };
/** The first fork's objects are those of the older document, the newest fork's those of the newer one. */
const DOCUMENT_OF = { [ForkName.phase0]: "v2.5.0", [ForkName.fulu]: "v4.0.0" } as const;

const entries = new Map(catalogue.map((entry) => [entry.name, entry]));

/** The twin of a method as a document describes it; undefined when no document does. */
function twinOf(entry: Entry, { twin }: MethodCase, fork: TestedFork): TwinReference | undefined {
  const other = twin?.[fork];
  if (other) return other;
  const document = DOCUMENT_OF[fork];
  return entry.rest && DOCUMENTS[document].has(entry.rest) ? { document, operation: entry.rest } : undefined;
}

function validatorOf(entry: Entry, methodCase: MethodCase, fork: TestedFork): TwinValidator | undefined {
  const twin = twinOf(entry, methodCase, fork);
  return twin && DOCUMENTS[twin.document].validator(twin.operation, twin);
}

function expectValid(validate: ValidateFunction, value: unknown): void {
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

it("has one case for every method", () => {
  expect(Object.keys(CASES).sort()).toEqual(catalogue.map(({ name }) => name).sort());
});

describe.each([ForkName.phase0, ForkName.fulu] as const)("on %s", (fork) => {
  let chain: ConformanceChain;
  let door: ServedDoor;
  beforeAll(async () => {
    chain = await ConformanceChain.open(fork);
    door = await serveDoor(chain.api);
  });
  afterAll(async () => {
    await door?.close();
    await chain?.close();
  });

  it.each(Object.entries(CASES))("%s answers as its twin does", async (name, methodCase) => {
    const entry = entries.get(name)!;
    const params = await methodCase.params(chain);
    const refusal = methodCase.refused?.[fork];
    if (refusal !== undefined) {
      expect(await chain.caller.error(name, params)).toMatchObject({ code: refusal });
      expect(await door.call(name, params)).toMatchObject({ error: { code: refusal } });
      return;
    }

    const result: unknown = await chain.caller.call(name, params);

    const validator = validatorOf(entry, methodCase, fork);
    if (validator) expectValid(validator.data, result);
    else expect(OWN_SCHEMAS[name]?.safeParse(result).error).toBeUndefined();

    // A submission is made for the second time here, which must succeed as well.
    const { error, result: served, meta, headers } = await door.call(name, params);
    expect(error).toBeUndefined();
    expect(served).toEqual(result);
    if (validator?.meta) expectValid(validator.meta, meta);
    if (meta?.version !== undefined) expect(headers["eth-consensus-version"]).toBe(meta.version);
  });

  it("checks every result against something", () => {
    const unchecked = catalogue.filter(({ name }) => {
      const { refused } = CASES[name]!;
      if (refused?.[fork] !== undefined) return false;
      return validatorOf(entries.get(name)!, CASES[name]!, fork) === undefined && OWN_SCHEMAS[name] === undefined;
    });
    expect(unchecked.map(({ name }) => name)).toEqual([]);
  });

  it("had something to show in every list", async () => {
    const lists = [
      "get_v1_beacon_pool_attestations",
      "get_v1_beacon_pool_attester_slashings",
      "get_v1_beacon_pool_proposer_slashings",
      "get_v1_beacon_pool_voluntary_exits",
      "get_v1_node_peers",
      "get_v1_config_fork_schedule",
    ];
    for (const name of lists) expect(await chain.caller.call(name), name).not.toEqual([]);
    const attestations = await chain.caller.call("get_v1_beacon_blocks_blockId_attestations", [chain.slot - 1]);
    expect(attestations).not.toEqual([]);
  });

  it("complained of nothing", () => {
    expect(chain.complaints).toEqual([]);
    expect(door.log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
