import { describe, expect, it } from "vitest";
import { ScriptedGateway } from "../../../../test/support/gateway/calls/scripted-gateway.ts";
import type { FailureKind } from "../../../errors/failure.ts";
import { UpstreamError } from "../../upstream/upstream-call.ts";

describe("an error response", () => {
  const READ = "get_v1_beacon_states_root";
  /** As Lighthouse writes it. */
  const OTHER_VERSION = { code: 400, message: "BAD_REQUEST: Unsupported endpoint version: v2", stacktraces: [] };
  const FEW_COLUMNS = { code: 400, message: "BAD_REQUEST: Insufficient data columns to reconstruct blobs" };
  const SUBMISSION = "post_v2_beacon_pool_attestations";
  it.each<[string, number, unknown, FailureKind, string]>([
    [READ, 400, { code: 400, message: "BAD_REQUEST: invalid state" }, "invalid-params", "BAD_REQUEST: invalid state"],
    [READ, 400, OTHER_VERSION, "unsupported", "does not support get_v1_beacon_states_root. Its error: BAD_REQUEST"],
    [READ, 404, { code: 404, message: "NOT_FOUND: no such state" }, "not-found", "NOT_FOUND: no such state"],
    [READ, 404, { code: 404, message: "Not found" }, "not-found", "Not found"],
    [READ, 404, { code: 404, message: "NOT_FOUND" }, "unsupported", "does not support"],
    [READ, 404, "404 page not found", "unsupported", "does not support"],
    [READ, 404, { statusCode: 404, message: "Route GET:/eth/x not found" }, "unsupported", "does not support"],
    [READ, 405, "", "unsupported", "does not support"],
    [READ, 413, { message: "Too large." }, "limit-exceeded", "Too large."],
    [READ, 429, "", "overloaded", "Upstream one answered with HTTP status 429. The limit is that of the upstream"],
    [SUBMISSION, 429, { message: "Slow down." }, "overloaded", "HTTP status 429: Slow down. The limit is that of"],
    [READ, 501, { message: "Not yet." }, "unsupported", "Not yet."],
    [READ, 503, { message: "The node is syncing." }, "unavailable", "The node is syncing."],
    [READ, 500, { message: "Oh." }, "server", "Upstream one failed with HTTP status 500: Oh."],
    [READ, 502, "<html>Bad Gateway</html>", "server", "Upstream one failed with HTTP status 502."],
    [READ, 400, FEW_COLUMNS, "not-found", "BAD_REQUEST: Insufficient data columns"],
    [READ, 400, { title: "Bad request", detail: "No such epoch." }, "invalid-params", "Bad request: No such epoch."],
    [SUBMISSION, 400, OTHER_VERSION, "unsupported", "does not support"],
    [SUBMISSION, 504, "<html>", "server", "failed with HTTP status 504. It is unknown whether it accepted"],
    [SUBMISSION, 500, { message: "Oh." }, "server", "status 500: Oh. It is unknown whether it accepted"],
    [SUBMISSION, 400, { message: "Invalid signature." }, "rejected", "Invalid signature."],
    [SUBMISSION, 400, { message: "It must be a list.", kind: "invalid-params" }, "invalid-params", "must be"],
    [SUBMISSION, 400, { message: "Invalid signature.", kind: "rejected" }, "rejected", "Invalid signature."],
    [READ, 404, { message: "No such endpoint. Not found.", kind: "not-found" }, "not-found", "No such endpoint."],
    [READ, 404, { message: "Unknown path /eth/x.", kind: "unsupported" }, "unsupported", "does not support"],
  ])("of %s with %i %j is %s", async (name, status, body, kind, message) => {
    const gateway = new ScriptedGateway(() => ({ status, body }));
    const params = name === READ ? ["head"] : [[{}]];
    await expect(gateway.call(name, params)).rejects.toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  it("has bounded failures of each item", async () => {
    const failures = [{ index: 1, message: "x".repeat(5000) }, { index: "2", message: "no" }, { wrong: true }];
    const message = "The submission was rejected: 2 of 3 items: no";
    const gateway = new ScriptedGateway(() => ({
      status: 400,
      body: { code: 400, message, kind: "rejected", detail: "no", failures },
    }));
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

  it("names an upstream without a response", async () => {
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

  it("names an upstream with an invalid body", async () => {
    const gateway = new ScriptedGateway(() => ({ body: "<html>" }));
    await expect(gateway.call(READ, ["head"])).rejects.toMatchObject({
      kind: "unavailable",
      message: "The answer of upstream one is not a JSON object.",
    });
  });
});
