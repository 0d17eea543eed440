import { describe, expect, it } from "vitest";
import { Answer, root, scriptedProbe } from "../../../test/support/gateway/doctor/scripted-probe.ts";
import { methods } from "../../api/method-groups.ts";
import { checkOperation } from "./operation-check.ts";
import { operationsOf } from "./operations.ts";

const URL_ASKED = "/asked";
const operations = operationsOf(methods);

function found(path: string, script: Record<string, unknown> | undefined, verb: "GET" | "POST" = "GET") {
  const operation = operations.find((each) => each.path.path === path && each.path.verb === verb)!;
  return checkOperation(scriptedProbe(script), operation, { verb, url: URL_ASKED, headers: {} });
}

const refusing = (status: number) => ({ [URL_ASKED]: new Answer(status, "application/json", '{"message":"because"}') });
/** As Lighthouse writes it. */
const OTHER_VERSION = '{"code":400,"message":"BAD_REQUEST: Unsupported endpoint version: v2","stacktraces":[]}';
const ROOT_PATH = "/eth/v1/beacon/states/{state_id}/root";
const LOOKAHEAD_PATH = "/eth/v1/beacon/states/{state_id}/proposer_lookahead";

describe("an operation check", () => {
  it("is ok if the answer matches the schema, and returns it for comparison", async () => {
    const answer = { data: { root: root("a") }, finalized: true, took: 3 };
    expect(await found(ROOT_PATH, { [URL_ASKED]: answer })).toEqual({
      finding: { outcome: "ok", millis: expect.any(Number) },
      data: { root: root("a") },
      metadata: { finalized: true },
    });
  });

  const judged: [what: string, path: string, script: Record<string, unknown> | undefined, finding: object][] = [
    [
      "another form",
      ROOT_PATH,
      { [URL_ASKED]: { data: {} } },
      { outcome: "wrong-form", reason: "data.root is missing" },
    ],
    ["no JSON", ROOT_PATH, { [URL_ASKED]: new Answer(200, "text/html", "<p>") }, { outcome: "wrong-form" }],
    [
      "JSON that is nested beyond all measure",
      "/eth/v1/config/spec",
      { [URL_ASKED]: new Answer(200, "application/json", `{"data":{"X":${"[".repeat(1000)}${"]".repeat(1000)}}}`) },
      { outcome: "wrong-form" },
    ],
    ["nothing there", ROOT_PATH, refusing(404), { outcome: "absent", reason: "HTTP status 404: because" }],
    ["another verb", ROOT_PATH, refusing(405), { outcome: "absent" }],
    ["nothing there any more", ROOT_PATH, refusing(410), { outcome: "absent" }],
    ["nothing implemented", ROOT_PATH, refusing(501), { outcome: "absent" }],
    [
      "nothing there of what every node has",
      "/eth/v1/config/spec",
      refusing(404),
      { outcome: "error", reason: "HTTP status 404: because, although every beacon node must have it" },
    ],
    [
      "another version there",
      ROOT_PATH,
      { [URL_ASKED]: new Answer(400, "application/json", OTHER_VERSION) },
      { outcome: "absent" },
    ],
    ["a refusal", ROOT_PATH, refusing(400), { outcome: "refused", reason: "HTTP status 400: because" }],
    ["a refusal of JSON", ROOT_PATH, refusing(406), { outcome: "refused" }],
    ["a refusal of so many", ROOT_PATH, refusing(429), { outcome: "refused" }],
    ["a node that is not ready", ROOT_PATH, refusing(503), { outcome: "error" }],
    ["a failure", ROOT_PATH, refusing(500), { outcome: "error", reason: "HTTP status 500: because" }],
    ["silence", ROOT_PATH, undefined, { outcome: "error", reason: "a refused the connection." }],
    ["the status of a node that is not ready", "/eth/v1/node/health", refusing(503), { outcome: "ok" }],
    ["events", "/eth/v1/events", { [URL_ASKED]: new Answer(200, "text/event-stream", "") }, { outcome: "ok" }],
    ["no events", "/eth/v1/events", { [URL_ASKED]: {} }, { outcome: "wrong-form" }],
    ["an answer without data", "/eth/v1/beacon/light_client/updates", { [URL_ASKED]: [] }, { outcome: "ok" }],
    [
      "SSZ",
      LOOKAHEAD_PATH,
      { [URL_ASKED]: { data: [] }, [`SSZ ${URL_ASKED}`]: new Answer(200, "application/octet-stream", "") },
      { outcome: "ok", ssz: "ok" },
    ],
    [
      "JSON where SSZ was asked for",
      LOOKAHEAD_PATH,
      { [URL_ASKED]: { data: [] }, [`SSZ ${URL_ASKED}`]: { data: [] } },
      { outcome: "ok", ssz: "absent", reason: "as SSZ, it answers with application/json" },
    ],
    [
      "no SSZ",
      LOOKAHEAD_PATH,
      { [URL_ASKED]: { data: [] }, [`SSZ ${URL_ASKED}`]: new Answer(415, "application/json", "{}") },
      { outcome: "ok", ssz: "absent", reason: "as SSZ, HTTP status 415" },
    ],
    [
      "a refusal of SSZ alone",
      LOOKAHEAD_PATH,
      { [URL_ASKED]: { data: [] }, [`SSZ ${URL_ASKED}`]: new Answer(400, "application/json", "{}") },
      { outcome: "ok", ssz: "refused", reason: "as SSZ, HTTP status 400" },
    ],
    [
      "a failure of SSZ alone",
      LOOKAHEAD_PATH,
      { [URL_ASKED]: { data: [] }, [`SSZ ${URL_ASKED}`]: new Answer(500, "application/json", "{}") },
      { outcome: "ok", ssz: "error", reason: "as SSZ, HTTP status 500" },
    ],
  ];
  const SYNCING_PATH = "/eth/v1/node/syncing";
  const BLOBS_PATH = "/eth/v1/beacon/blobs/{block_id}";
  const RETIRED_PATH = "/eth/v1/beacon/blocks/{block_id}/attestations";
  const excused: typeof judged = [
    ...["is_syncing", "is_optimistic", "el_offline"].map((state): (typeof judged)[number] => [
      `503 of a node that reports ${state}`,
      ROOT_PATH,
      { ...refusing(503), [SYNCING_PATH]: { data: { [state]: true } } },
      { outcome: "not-ready", reason: "HTTP status 503: because" },
    ]),
    [
      "503 of a node that is ready",
      ROOT_PATH,
      { ...refusing(503), [SYNCING_PATH]: { data: { is_syncing: false, is_optimistic: false, el_offline: false } } },
      { outcome: "error" },
    ],
    [
      "503 of a syncing node to what every node answers",
      "/eth/v1/beacon/genesis",
      { ...refusing(503), [SYNCING_PATH]: { data: { is_syncing: true } } },
      { outcome: "error" },
    ],
    [
      "500 of a syncing node",
      ROOT_PATH,
      { ...refusing(500), [SYNCING_PATH]: { data: { is_syncing: true } } },
      { outcome: "error" },
    ],
    [
      "503 of a syncing node to SSZ alone",
      LOOKAHEAD_PATH,
      {
        [URL_ASKED]: { data: [] },
        [`SSZ ${URL_ASKED}`]: new Answer(503, "application/json", "{}"),
        [SYNCING_PATH]: { data: { is_syncing: true } },
      },
      { outcome: "ok", ssz: "not-ready" },
    ],
    ["too few columns, with Lighthouse's status", BLOBS_PATH, refusing(400), { outcome: "absent" }],
    ["too few columns, with Lodestar's status", BLOBS_PATH, refusing(503), { outcome: "absent" }],
    ["a failure to read blobs", BLOBS_PATH, refusing(500), { outcome: "error" }],
    ["a refusal of a retired path", RETIRED_PATH, refusing(400), { outcome: "absent" }],
    ["a failure of a retired path", RETIRED_PATH, refusing(500), { outcome: "absent" }],
    ["another form at a retired path", RETIRED_PATH, { [URL_ASKED]: { data: {} } }, { outcome: "absent" }],
    ["silence at a retired path", RETIRED_PATH, undefined, { outcome: "error" }],
  ];
  for (const [what, path, script, finding] of [...judged, ...excused]) {
    it(`is judged: ${what}`, async () => {
      expect((await found(path, script)).finding).toMatchObject(finding);
    });
  }

  it("accepts a declined empty submission", async () => {
    const submitted = async (status: number) =>
      (await found("/eth/v2/beacon/pool/attestations", refusing(status), "POST")).finding.outcome;
    expect(await Promise.all([200, 400, 404, 403, 415, 500].map(submitted))).toEqual([
      "ok",
      "declined",
      "absent",
      "refused",
      "refused",
      "error",
    ]);
  });
});
