import { describe, expect, it } from "vitest";
import type { FailureKind } from "../../errors/failure.ts";
import { UpstreamError } from "../exchange.ts";
import { ScriptedGateway } from "./scripted-gateway.test-support.ts";

describe("a refusal", () => {
  const READ = "get_v1_beacon_states_root";
  /** As Lighthouse writes it. */
  const OTHER_VERSION = { code: 400, message: "BAD_REQUEST: Unsupported endpoint version: v2", stacktraces: [] };
  const FEW_COLUMNS = { code: 400, message: "BAD_REQUEST: Insufficient data columns to reconstruct blobs" };
  const SUBMISSION = "post_v2_beacon_pool_attestations";
  it.each<[string, number, unknown, FailureKind, string]>([
    [READ, 400, { code: 400, message: "BAD_REQUEST: invalid state" }, "invalid-params", "BAD_REQUEST: invalid state"],
    [
      READ,
      400,
      OTHER_VERSION,
      "unsupported",
      "does not have what get_v1_beacon_states_root asks for. It says: BAD_REQUEST",
    ],
    [READ, 404, { code: 404, message: "NOT_FOUND: no such state" }, "not-found", "NOT_FOUND: no such state"],
    [READ, 404, { code: 404, message: "Not found" }, "not-found", "Not found"],
    [READ, 404, { code: 404, message: "NOT_FOUND" }, "unsupported", "does not have what"],
    [READ, 404, "404 page not found", "unsupported", "does not have what"],
    [READ, 404, { statusCode: 404, message: "Route GET:/eth/x not found" }, "unsupported", "does not have what"],
    [READ, 405, "", "unsupported", "does not have what"],
    [READ, 413, { message: "Too large." }, "limit-exceeded", "Too large."],
    [READ, 429, "", "overloaded", "answered with the status 429"],
    [READ, 501, { message: "Not yet." }, "unsupported", "Not yet."],
    [READ, 503, { message: "The node is syncing." }, "unavailable", "The node is syncing."],
    [READ, 500, { message: "Oh." }, "server", "The upstream one failed with the status 500: Oh."],
    [READ, 502, "<html>Bad Gateway</html>", "server", "The upstream one failed with the status 502."],
    [READ, 400, FEW_COLUMNS, "not-found", "BAD_REQUEST: Insufficient data columns"],
    [READ, 400, { title: "Bad request", detail: "No such epoch." }, "invalid-params", "Bad request: No such epoch."],
    [SUBMISSION, 400, OTHER_VERSION, "unsupported", "does not have what"],
    [SUBMISSION, 504, "<html>", "server", "failed with the status 504. Whether it has taken what was submitted is not"],
    [SUBMISSION, 500, { message: "Oh." }, "server", "status 500: Oh. Whether it has taken what was submitted is not"],
    [SUBMISSION, 400, { message: "Invalid signature." }, "rejected", "Invalid signature."],
    [SUBMISSION, 400, { message: 'The parameter "attestations" must be' }, "invalid-params", "must be"],
  ])("of %s with %i %j is %s", async (name, status, body, kind, message) => {
    const gateway = new ScriptedGateway(() => ({ status, body }));
    const params = name === READ ? ["head"] : [[{}]];
    await expect(gateway.call(name, params)).rejects.toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  it("says what is wrong with each item, and is bounded", async () => {
    const failures = [{ index: 1, message: "x".repeat(5000) }, { index: "2", message: "no" }, { wrong: true }];
    const message = "The submission was rejected: 2 of 3 items: no";
    const gateway = new ScriptedGateway(() => ({ status: 400, body: { code: 400, message, failures } }));
    await expect(gateway.call(SUBMISSION, [[{}]])).rejects.toMatchObject({
      kind: "rejected",
      message,
      detail: "no",
      failures: [
        { index: 1, message: `${"x".repeat(1000)}…` },
        { index: 2, message: "no" },
      ],
    });
  });

  it("of an upstream that gives no answer names it", async () => {
    const gateway = new ScriptedGateway(() => {
      throw new UpstreamError("one", "one cannot be reached.", { mayHaveArrived: false });
    });
    await expect(gateway.call(READ, ["head"])).rejects.toMatchObject({
      kind: "unavailable",
      message: "one cannot be reached.",
    });
    await expect(gateway.request("/eth/v1/beacon/genesis", "/eth/v1/beacon/genesis")).rejects.toMatchObject({
      kind: "unavailable",
    });
  });

  it("of what is no answer names the upstream", async () => {
    const gateway = new ScriptedGateway(() => ({ body: "<html>" }));
    await expect(gateway.call(READ, ["head"])).rejects.toMatchObject({
      kind: "unavailable",
      message: "What the upstream one answered is no JSON object.",
    });
  });
});
