import { describe, expect, it } from "vitest";
import { openPool } from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import { json, type ScriptedUpstream } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { flushPromises } from "../../../../test/support/time/fake-timers.ts";
import { UpstreamError } from "../upstream-call.ts";
import { withUnknownOutcome } from "./submission.ts";

describe("a submission", () => {
  const body = Buffer.from("[]");
  const exits = { url: "/eth/v1/beacon/pool/voluntary_exits", body };
  const refuse = (server: ScriptedUpstream, status: number, message = server.name) => {
    server.handler = (_request, response) => json(response, { code: status, message }, status);
  };

  it("fails over only if it was certainly not accepted", async () => {
    const { upstreams, health, server } = await openPool();
    health.set("b", { state: "behind" });
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "a", status: 200 });
    refuse(server("a"), 400);
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "a", status: 400 });
    expect(server("b").requests).toEqual([]);
    refuse(server("a"), 503);
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "b", status: 200 });
    refuse(server("a"), 400, "BAD_REQUEST: Unsupported endpoint version: v3");
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "b", status: 200 });
    refuse(server("a"), 413);
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "b", status: 200 });
    await server("a").stop();
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "b", status: 200 });
    expect(server("b").requests[0]).toMatchObject({ verb: "POST", url: exits.url, body });
    await server("b").stop();
    await expect(upstreams.submit(createCall(exits))).rejects.toMatchObject({ mayHaveArrived: false });
  });

  it("is not retried if it may have arrived, and the error says so", async () => {
    const { upstreams, server } = await openPool();
    for (const name of ["a", "b"]) server(name).handler = (_request, response) => void response.destroy();
    const error = await upstreams.submit(createCall(exits)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UpstreamError);
    expect((error as UpstreamError).message).toMatch(/closed the connection\. It is unknown whether it accepted/);
    expect(server("a").requests.length + server("b").requests.length).toBe(1);
  });

  it("that exceeds its time limit fails with an error that names the upstreams", async () => {
    const { upstreams, server, timers } = await openPool({ broadcast: "all", submissionMillis: 2700 });
    for (const name of ["a", "b"]) server(name).isFrozen = true;
    const arrived = Promise.all(["a", "b"].map((name) => server(name).received(exits.url)));
    const error = upstreams.submit(createCall(exits)).catch((reason: unknown) => reason);
    await arrived;
    await timers.advance(2800);
    expect(await error).toMatchObject({
      mayHaveArrived: true,
      message:
        "a and b did not answer the submission within 2.7 s. " +
        "It is unknown whether they accepted the submission, which is not retried.",
    });
  });

  it("of a signed block is sent to another upstream if it may have arrived", async () => {
    const { upstreams, health, server } = await openPool();
    health.set("b", { state: "behind" });
    const block = createCall({ url: "/eth/v2/beacon/blocks", body });
    server("a").handler = (_request, response) => void response.destroy();
    expect(await upstreams.submit(block)).toMatchObject({ upstream: "b", status: 200 });
    // A rejection may be that of a duplicate.
    refuse(server("b"), 400, "already known");
    await expect(upstreams.submit(block)).rejects.toThrow(/^a closed the connection\. It is unknown/);
    server("b").handler = (_request, response) => void response.destroy();
    await expect(upstreams.submit(block)).rejects.toThrow(/^a closed the connection\. It is unknown/);
  });

  it("that is answered with HTML may not have arrived", async () => {
    const { upstreams, server, health } = await openPool();
    health.set("b", { state: "behind" });
    server("a").handler = (_request, response) => response.setHeader("content-type", "text/html").end("<html></html>");
    await expect(upstreams.submit(createCall(exits))).rejects.toThrow(
      "a answered with an HTML page instead of a Beacon API response. It is unknown whether it accepted the submission, which is not retried.",
    );
    expect(server("b").requests).toEqual([]);
  });

  const replyWith = (server: ScriptedUpstream, text: string) => {
    server.handler = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    };
  };

  it.each([
    '{"message":"quota exceeded"}',
    '{"code":500,"message":"Oh."}',
    '{"code":200,"failures":[{"index":0,"message":"Oh."}]}',
    '{"title":"Quota exceeded","status":429}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}',
    '"quota exceeded"',
    "false",
    "[1]",
    "<html></html>",
    "\u0000null",
    " ".repeat(100_000),
  ])("that is answered with %s may not have arrived", async (text) => {
    const { upstreams, server, health } = await openPool();
    health.set("b", { state: "behind" });
    replyWith(server("a"), text);
    await expect(upstreams.submit(createCall(exits))).rejects.toMatchObject({
      mayHaveArrived: true,
      message: expect.stringMatching(/^a answered .* It is unknown whether it accepted/),
    });
    expect(server("b").requests).toEqual([]);
    const block = createCall({ url: "/eth/v2/beacon/blocks", body });
    expect(await upstreams.submit(block)).toMatchObject({ upstream: "b", status: 200 });
    health.set("b", {});
    const broadcast = createCall({ url: "/eth/v1/validator/prepare_beacon_proposer", body });
    expect(await upstreams.submit(broadcast)).toMatchObject({ upstream: "b", status: 200 });
  });

  // Nimbus sends a code and a message.
  it.each([
    "",
    "null",
    "{}",
    '""',
    "[]",
    "true",
    '{"data":null}',
    '{"code":200,"message":"Broadcast"}',
    '{"code":"200","message":""}',
  ])("is accepted with the body %j", async (text) => {
    const { upstreams, server, health } = await openPool();
    health.set("b", { state: "behind" });
    replyWith(server("a"), text);
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "a", status: 200 });
  });

  it("goes to the broadcast count, and to all for duties", async () => {
    const names = ["a", "b", "c"];
    const { upstreams, server, health } = await openPool({ names, broadcast: 2 });
    health.set("c", { state: "behind" });
    const sent = () => names.map((name) => server(name).requests.length);
    await upstreams.submit(createCall(exits));
    while (sent().reduce((sum, each) => sum + each) < 2) await flushPromises();
    expect(sent()).toEqual([1, 1, 0]);
    health.set("c", {});
    await upstreams.submit(createCall({ url: "/eth/v1/validator/prepare_beacon_proposer", body }));
    while (sent().reduce((sum, each) => sum + each) < 5) await flushPromises();
    expect(sent()).toEqual([2, 2, 1]);
  });

  it("succeeds if one upstream accepts it, and fails if all reject it", async () => {
    const { upstreams, server } = await openPool({ broadcast: "all" });
    refuse(server("a"), 400);
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "b", status: 200 });
    server("b").handler = (_request, response) => void response.destroy();
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ upstream: "a", status: 400 });
    refuse(server("b"), 400);
    expect(await upstreams.submit(createCall(exits))).toMatchObject({ status: 400 });
    for (const name of ["a", "b"]) server(name).handler = (_request, response) => void response.destroy();
    await expect(upstreams.submit(createCall(exits))).rejects.toMatchObject({ mayHaveArrived: true });
  });

  it("prefers an import to a broadcast-only response", async () => {
    const { upstreams, server } = await openPool({ broadcast: "all" });
    const block = { url: "/eth/v2/beacon/blocks", body: Buffer.from("{}") };
    const sentOn = new Promise<void>((resolve) => {
      server("a").handler = (_request, response) => response.writeHead(202).end(resolve);
    });
    server("b").handler = async (_request, response) => {
      await sentOn;
      json(response, {});
    };
    expect(await upstreams.submit(createCall(block))).toMatchObject({ upstream: "b", status: 200 });
    refuse(server("b"), 400);
    expect(await upstreams.submit(createCall(block))).toMatchObject({ upstream: "a", status: 202 });
  });
});

it.each([
  ["a closed the connection.", "a closed the connection."],
  ["Internal error", "Internal error."],
  ["Try again!", "Try again!"],
  ["Is the node syncing?", "Is the node syncing?"],
  ["upstream timed out (504)", "upstream timed out (504)."],
])("says after %j that the outcome is unknown, as a further sentence", (message, sentence) => {
  expect(withUnknownOutcome(message)).toBe(
    `${sentence} It is unknown whether it accepted the submission, which is not retried.`,
  );
});
