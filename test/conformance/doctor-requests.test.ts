import { ForkName } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { exampleChainAt, UntestableOperation } from "../../src/gateway/doctor/example-chain.ts";
import { inspect, readPubkeys } from "../../src/gateway/doctor/inspection.ts";
import { measureLatencies } from "../../src/gateway/doctor/latency.ts";
import { operationsOf, RETIRED_PATHS, requestOf } from "../../src/gateway/doctor/operations.ts";
import { Probe } from "../../src/gateway/doctor/probe.ts";
import type { UpstreamRequest } from "../../src/gateway/upstream/upstream-call.ts";
import { healthyScript, root, scriptedProbe } from "../support/gateway/doctor/scripted-probe.ts";
import { OpenApiRequests } from "./openapi-requests.ts";

const OLDER = new OpenApiRequests("v2.5.0");
const NEWER = new OpenApiRequests("v4.0.0");
const DOCUMENTS = [NEWER, OLDER];

/** Operations in neither document: an older one, and newer ones than version 4.0.0. */
const UNDOCUMENTED = new Set([
  "GET /eth/v1/debug/beacon/heads",
  "GET /eth/v2/debug/fork_choice",
  "GET /eth/v2/node/version",
  "GET /eth/v2/validator/duties/proposer/{epoch}",
]);

const PEER_ID = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N";
const pubkeys = new Map(Array.from({ length: 6 }, (_, index) => [index, `0x${"ab".repeat(48)}`]));
const PLACES = {
  "a phase0 chain": { fork: ForkName.phase0, slot: 25, epoch: 3 },
  "a fulu chain": { fork: ForkName.fulu, slot: 25, epoch: 3 },
  "a fulu chain that is older than a sync committee period": { fork: ForkName.fulu, slot: 900_001, epoch: 112_500 },
  "a chain at genesis": { fork: ForkName.fulu, slot: 1, epoch: 0 },
};

function violationsOf(request: UpstreamRequest): string[] {
  for (const document of DOCUMENTS) {
    const violations = document.violationsOf(request);
    if (violations !== undefined) return violations;
  }
  return ["the documents do not have it"];
}

it.each(Object.entries(PLACES))("doctor asks for operations as the standard has them on %s", async (_chain, place) => {
  const chain = exampleChainAt({ ...place, headRoot: root("2"), peerId: PEER_ID, pubkeys });
  const violations: Record<string, string[]> = {};
  let asked = 0;
  for (const operation of operationsOf(methods)) {
    const name = `${operation.path.verb} ${operation.path.path}`;
    const request = await requestOf(operation, chain, { withStates: true }).catch((error: unknown) => {
      if (!(error instanceof UntestableOperation)) throw error;
    });
    // Submissions are sent as empty lists, which clients may decline.
    if (request === undefined || String(request.body) === "[]" || UNDOCUMENTED.has(name)) continue;
    asked++;
    const check = violationsOf(request);
    if (check.length > 0) violations[name] = check;
  }
  expect(violations).toEqual({});
  expect(asked).toBeGreaterThan(40);
});

it("doctor inspects and measures upstreams with standard requests", async () => {
  const asked: UpstreamRequest[] = [];
  const { client } = scriptedProbe(healthyScript);
  const request: typeof client.request = (request, options) => {
    asked.push(request);
    return client.request(request, options);
  };
  const probe = new Probe({ name: "a", request }, 1000);
  await inspect(probe);
  await readPubkeys(probe);
  await measureLatencies([probe]);
  expect(asked.length).toBeGreaterThan(20);
  for (const request of asked) expect(violationsOf(request), request.url).toEqual([]);
});

it("retired operations are those that version 4.0.0 has removed or deprecated", () => {
  const asked = operationsOf(methods).map(({ path }) => `${path.verb} ${path.path}`);
  const isRetired = (operation: string) =>
    NEWER.stateOf(operation) === "deprecated" ||
    (NEWER.stateOf(operation) === "absent" && OLDER.stateOf(operation) !== "absent");
  const retired = [...RETIRED_PATHS].filter((operation) => !UNDOCUMENTED.has(operation));
  expect(retired.toSorted()).toEqual(asked.filter(isRetired).toSorted());
});

describe("the check of requests fails", () => {
  const get = (url: string) => violationsOf({ verb: "GET", url, headers: {} });
  const post = (url: string, body: unknown) =>
    violationsOf({ verb: "POST", url, headers: {}, body: Buffer.from(JSON.stringify(body)) });

  it("for a public key where the standard requires indices", () => {
    expect(post("/eth/v1/validator/duties/attester/3", ["3", "4"])).toEqual([]);
    expect(post("/eth/v1/validator/duties/attester/3", ["3", "ab".repeat(48)])).toHaveLength(1);
    expect(post("/eth/v1/validator/duties/attester/3", ["3", `0x${"ab".repeat(48)}`])).toHaveLength(1);
  });

  it("for a list in one query parameter", () => {
    expect(get("/eth/v1/beacon/states/head/validators?id=0&id=1")).toEqual([]);
    expect(get("/eth/v1/beacon/states/head/validators?id=0,1")).toHaveLength(1);
  });

  it("for an unknown path, parameter or format", () => {
    expect(get("/eth/v1/beacon/unheard_of")).toHaveLength(1);
    expect(get("/eth/v1/node/version?verbose=1")).toHaveLength(1);
    expect(get("/eth/v1/validator/duties/proposer/0x3")).toHaveLength(1);
    expect(get("/eth/v1/beacon/light_client/updates?start_period=0")).toHaveLength(1);
    expect(post("/eth/v2/beacon/pool/attestations", [])).toContain("header parameter Eth-Consensus-Version is []");
  });
});
