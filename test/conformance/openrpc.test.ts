import { beforeAll, describe, expect, it } from "vitest";
import { createApi } from "../../src/api/api.ts";
import { createMethodTable } from "../../src/api/bound-methods.ts";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { methodGroups, methods } from "../../src/api/method-groups.ts";
import { loadRecordedCalls, type OpenRpcDocument, type OpenRpcMethod } from "../../src/api/openrpc.ts";
import { FAILURES, Failure, type FailureKind } from "../../src/errors/failure.ts";
import { isReadOnly } from "../../src/server/access-class.ts";
import { toErrorObject } from "../../src/server/jsonrpc/errors.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../support/api/fake-chain.ts";
import { openRpcValidator } from "../support/api/openrpc-meta-schema.ts";
import { allDocumentedParams, documentedResult } from "./documented.ts";

const chain = createFakeChain();
const api = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} });
const table = createMethodTable(api);
let document: OpenRpcDocument;

beforeAll(async () => {
  const { body } = await table.find("rpc.discover")!.call([]);
  document = JSON.parse(String(body));
});

const listed = (definitions: readonly MethodDefinition[]) =>
  definitions.flatMap(({ name, aliases }) => [name, ...aliases]).filter((name) => name !== "rpc.discover");

const method = (name: string): OpenRpcMethod => document.methods.find((candidate) => candidate.name === name)!;

describe("rpc.discover", () => {
  it("returns an OpenRPC document", () => {
    const validate = openRpcValidator();
    expect(validate(document) ? [] : validate.errors).toEqual([]);
  });

  const damages: [what: string, damage: (copy: OpenRpcDocument, first: OpenRpcMethod) => void][] = [
    ["another version", (copy) => Object.assign(copy, { openrpc: "9.9.9" })],
    ["a method without a name", (_copy, first) => Reflect.deleteProperty(first, "name")],
    ["a result without a schema", (_copy, first) => Reflect.deleteProperty(first.result, "schema")],
    ["a schema that is none", (_copy, first) => Object.assign(first.result, { schema: { type: "thing" } })],
    ["an error without a code", (copy) => Object.assign(copy.components.errors, { odd: { message: "Odd" } })],
    ["a member that OpenRPC does not know", (_copy, first) => Object.assign(first, { aliases: [] })],
  ];
  it.each(damages)("would be invalid with %s", (_what, damage) => {
    const copy = structuredClone(document);
    damage(copy, copy.methods[0]!);
    expect(openRpcValidator()(copy)).toBe(false);
  });

  it("has an example of every method with a recorded result, with the names of its parameters", async () => {
    const recorded = await loadRecordedCalls();
    const withResult = methods.filter(({ name }) => "result" in (recorded[name] ?? {}));
    expect(withResult.length).toBeGreaterThan(200);
    expect(new Set(document.methods.filter(({ examples }) => examples).map(({ name }) => name))).toEqual(
      new Set(listed(withResult)),
    );
    for (const { name, params, examples } of document.methods) {
      const given = (examples?.[0]?.params ?? []).map((param) => param.name);
      expect(given, name).toEqual(params.slice(0, given.length).map((param) => param.name));
    }
    expect(document.servers).toEqual([{ name: "Default address", url: "http://127.0.0.1:9190" }]);
  });

  it("lists every callable name once, and no other but rpc.discover itself", () => {
    const names = document.methods.map(({ name }) => name);
    expect(names.toSorted()).toEqual(listed(methods).toSorted());
    for (const name of names) expect(table.find(name)).toBeDefined();
    // Generated clients have members with these names.
    for (const name of names) expect(name).toMatch(/^\w+$/);
  });

  it("describes a method as its definition does", () => {
    const root = method("get_v1_beacon_states_root");
    expect(root).toMatchObject({
      summary: "The hash tree root of a state.",
      tags: [{ name: "Beacon chain" }],
      paramStructure: "either",
      params: [{ name: "state_id", required: true, schema: { anyOf: [{ type: "string" }, { type: "integer" }] } }],
      result: { name: "root", schema: { type: "object", required: ["root"] } },
      deprecated: false,
    });
    expect(root.externalDocs?.description).toContain("GET /eth/v1/beacon/states/{state_id}/root");
    const codes = root.errors.map(({ $ref }) => FAILURES[$ref.split("/").at(-1) as FailureKind].code);
    expect(codes).toEqual([-32602, -32001, -32005, -32000]);
  });

  it("describes both formats of objects that electra changed", () => {
    const forms = (...names: string[]) => names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    expect(method("get_v1_validator_aggregate_attestation").result.schema).toEqual(forms("Attestation")[0]);
    expect(document.components.schemas.Attestation?.title).toBe("Attestation");
    expect(document.components.schemas.Attestation?.oneOf).toEqual(forms("AttestationPhase0", "AttestationElectra"));
    const ofOneValidator = { oneOf: forms("AttestationPhase0", "SingleAttestation") };
    const [first] = method("post_v1_beacon_pool_attestations").params;
    expect(first!.schema).toMatchObject({ anyOf: [ofOneValidator, { type: "array", items: ofOneValidator }] });
    const [later] = method("post_v2_beacon_pool_attestations").params;
    expect(later!.schema).toMatchObject({ type: "array", items: ofOneValidator });
  });

  it("states until which fork REST serves a path", () => {
    const { externalDocs, params } = method("get_v1_validator_aggregate_attestation");
    expect(externalDocs?.description).toMatch(/GET \/eth\/v1\/validator\/aggregate_attestation .*, until electra\.$/);
    expect(params.map(({ name, required }) => [name, required])).toEqual([
      ["slot", true],
      ["attestation_data_root", true],
      ["committee_index", false],
    ]);
  });

  it("describes an alias like its target, and names the target", () => {
    const { name, description, "x-alias-of": target, ...alias } = method("get_v1_beacon_states_stateId_root");
    const { name: _name, description: _description, ...original } = method("get_v1_beacon_states_root");
    expect(alias).toEqual(original);
    expect(target).toBe("get_v1_beacon_states_root");
    expect(description).toContain("Alias of get_v1_beacon_states_root");
  });

  it("has a schema for every result, with valid references", () => {
    for (const { name } of document.methods) {
      expect(() => documentedResult(name), name).not.toThrow();
      expect(() => allDocumentedParams(name), name).not.toThrow();
    }
  });

  it("lists the error codes of the server", () => {
    expect(Object.keys(document.components.errors)).toEqual(Object.keys(FAILURES));
    for (const [kind, { code }] of Object.entries(document.components.errors)) {
      expect(code, kind).toBe(toErrorObject(new Failure(kind as FailureKind, "It failed.")).code);
    }
    const known = new Set(Object.keys(FAILURES).map((kind) => `#/components/errors/${kind}`));
    for (const { errors } of document.methods) for (const { $ref } of errors) expect(known).toContain($ref);
  });

  it("lists the methods that may reject or be unsupported", () => {
    const withError = (kind: FailureKind) =>
      methods
        .flatMap(({ name }) => document.methods.filter((each) => each.name === name))
        .filter(({ errors }) => errors.some(({ $ref }) => $ref.endsWith(`/${kind}`)))
        .map(({ name }) => name);
    const submissions = methods.filter(({ access }) => !isReadOnly(access) && access !== "dev").map(({ name }) => name);
    const onlyChecked = [
      "post_v1_validator_beacon_committee_subscriptions",
      "post_v1_validator_prepare_beacon_proposer",
      "post_v1_validator_sync_committee_subscriptions",
      "setLogLevel",
      "setGraffiti",
    ];
    const toCome = methods.filter(({ example }) => example.isUnsupported).map(({ name }) => name);
    const judged = submissions.filter((name) => !onlyChecked.includes(name) && !toCome.includes(name));
    // What moves a dev chain may be against its rules at the time, and calls of the EVM may revert.
    const controls = methods.filter(({ access, cost }) => access === "dev" || cost === "evm").map(({ name }) => name);
    expect(withError("rejected").filter((name) => !controls.includes(name))).toEqual(judged);
    const numbered = methods.filter(({ number }) => number !== undefined).map(({ name }) => name);
    expect(withError("unsupported").filter((name) => numbered.includes(name))).toEqual([
      "get_v1_validator_block",
      "debug_getChronosFutures",
    ]);
    for (const { name, until, needsConnection } of methods) {
      const isUnsupported = toCome.includes(name) || until || needsConnection;
      if (isUnsupported) expect(withError("unsupported")).toContain(name);
    }
    for (const { name, params } of methods) {
      const isAboutState = params.some((param) => param.name === "state_id");
      if (isAboutState && !toCome.includes(name)) expect(withError("not-found")).toContain(name);
    }
  });

  it("takes no parameters", async () => {
    await expect(table.find("rpc.discover")!.call([1])).rejects.toMatchObject({ kind: "invalid-params" });
  });
});

describe("the groups of methods", () => {
  it("contain every method in order of its number", () => {
    for (const { title, methods } of methodGroups) {
      const numbers = methods.flatMap(({ number }) => number ?? []);
      expect(numbers, title).toEqual(numbers.toSorted((a, b) => a - b));
    }
  });
});
