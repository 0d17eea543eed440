import { describe, expect, it } from "vitest";
import { CHAIN_SPEC } from "../../../../test/support/gateway/cache/method-calls.ts";
import {
  answersOf,
  failureOf,
  HEDGE_MILLIS,
  openPool,
} from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import {
  json,
  type ReceivedRequest,
  type ScriptedUpstream,
} from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { type FakeTimers, flushPromises } from "../../../../test/support/time/fake-timers.ts";
import { slotAt } from "../../network/chain-spec.ts";

describe("upstream selection", () => {
  it("follows weight and tier, then uses upstreams that are behind", async () => {
    const { upstreams, health } = await openPool({
      names: ["a", "b", "c"],
      upstreamOptions: { a: { weight: 3 }, c: { tier: 1 } },
    });
    const read = () => upstreams.read(createCall());
    expect(await answersOf(read, 40)).toEqual({ a: 30, b: 10 });
    health.set("a", { state: "down" });
    expect(await answersOf(read, 5)).toEqual({ b: 5 });
    health.set("a", {});
    expect(await answersOf(read, 40)).toMatchObject({ a: expect.closeTo(30, -1), b: expect.closeTo(10, -1) });
    for (const name of ["a", "b"]) health.set(name, { state: "behind" });
    expect(await answersOf(read, 5)).toEqual({ c: 5 });
    health.set("c", { state: "foreign" });
    expect(await answersOf(read, 40)).toEqual({ a: 30, b: 10 });
  });

  it("avoids deprioritized upstreams", async () => {
    const { upstreams, health } = await openPool();
    const call = { ...createCall(), deprioritized: new Set(["a"]) };
    health.set("b", { state: "behind" });
    expect(await answersOf(() => upstreams.read(call), 3)).toEqual({ b: 3 });
    health.set("b", { state: "down" });
    expect(await answersOf(() => upstreams.read(call), 3)).toEqual({ a: 3 });
  });

  it("uses a late upstream as a last resort", async () => {
    const { upstreams, health } = await openPool();
    health.set("a", { state: "late", reasons: ["a did not answer."] });
    expect((await upstreams.read(createCall())).upstream).toBe("b");
    health.set("b", { state: "down", reasons: ["b refused the connection."] });
    expect((await upstreams.read(createCall())).upstream).toBe("a");
  });

  it("fails with the reason of each upstream when all are down", async () => {
    const { upstreams, health } = await openPool();
    health.set("a", { state: "down", reasons: ["It refused the connection."] });
    health.set("b", { state: "foreign", reasons: ["It is on another chain."] });
    const failure = await failureOf(upstreams.read(createCall()));
    expect(failure.kind).toBe("unavailable");
    expect(failure.message).toBe(
      "No upstream is available. a is down: It refused the connection. b is foreign: It is on another chain.",
    );
  });

  it("reads from different upstreams, and reports the missing ones", async () => {
    const { upstreams, server } = await openPool();
    await server("b").stop();
    expect(await upstreams.readFromMany(createCall(), 2)).toMatchObject([
      { value: { upstream: "a" } },
      { reason: { message: "No other upstream is available. b refused the connection." } },
    ]);
  });

  it("prefers the lowest load", async () => {
    const { upstreams, server } = await openPool();
    server("a").isFrozen = true;
    const arrived = server("a").received("/eth/v1/x");
    const first = upstreams.read(createCall({ method: { cost: "heavy" } }));
    await arrived;
    expect(await answersOf(() => upstreams.read(createCall()), 5)).toEqual({ b: 5 });
    await upstreams.close();
    await failureOf(first);
  });
});

describe("a read that fails on one upstream", () => {
  const cut = (_request: ReceivedRequest, response: Parameters<ScriptedUpstream["handler"]>[1]) =>
    void response.destroy();

  it("fails over on connection and server errors", async () => {
    const { upstreams, health, server, events, timers } = await openPool();
    const a = server("a");
    health.set("b", { state: "behind" });
    for (const status of [500, 502, 503, 429, 401]) {
      a.handler = (_request, response) => json(response, { code: status, message: "no" }, status);
      expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b", status: 200 });
      await timers.advance(60_000);
    }
    expect(a.questions).toHaveLength(5);
    a.handler = cut;
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b" });
    expect(events.slice(-3)).toEqual(["a error", "not a: failed", "b 200"]);
    await timers.advance(60_000);
    // As a proxy does.
    a.handler = (_request, response) => response.writeHead(413, { "content-type": "text/html" }).end("<html></html>");
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b", status: 200 });
    await timers.advance(60_000);
    await a.stop();
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "b" });
  });

  it("fails over on invalid successful responses", async () => {
    const { upstreams, health, server, failing, events, timers } = await openPool();
    health.set("b", { state: "behind" });
    const read = async (call = createCall()) => {
      await timers.advance(60_000);
      return upstreams.read(call);
    };
    for (const [type, text] of [
      ["text/html", "<html></html>"],
      ["application/json", '{"data":'],
      ["application/json", "\u0000\u0001"],
      ["application/json", ""],
      ["text/plain", "OK"],
      ["application/octet-stream", "\u0001"],
      ["text/event-stream", ": alive"],
    ] as const) {
      server("a").handler = (_request, response) => response.setHeader("content-type", type).end(text);
      expect(await read()).toMatchObject({ upstream: "b" });
    }
    server("a").handler = (_request, response) => response.writeHead(204).end();
    expect(await read()).toMatchObject({ upstream: "b" });
    server("a").handler = (_request, response) => response.writeHead(302, { location: "/" }).end();
    expect(await read()).toMatchObject({ upstream: "b" });
    // An upstream that answers is reachable.
    expect(failing).toEqual([]);
    server("a").handler = (_request, response) =>
      response.setHeader("content-type", "application/octet-stream").end("x");
    expect(await read({ ...createCall(), format: "ssz" })).toMatchObject({ upstream: "a" });
    const isAccepted = async (text: string) => {
      server("a").handler = (_request, response) => response.setHeader("content-type", "application/json").end(text);
      return (await read()).upstream === "a";
    };
    for (const text of ['{"data":1}\n', '\r\n {"data":1}']) expect(await isAccepted(text)).toBe(true);
    for (const text of ["[]", '"text"', "12", "null", "true", "{}"]) expect(await isAccepted(text)).toBe(false);
    expect(events.slice(-3)).toEqual(["a invalid", "not a: failed", "b 200"]);
  });

  it("fails at once if the request is invalid", async () => {
    const { upstreams, events, failing } = await openPool();
    for (let i = 0; i < 6; i++) {
      const { request, ...call } = createCall();
      const failure = await failureOf(upstreams.read({ ...call, request: { ...request, headers: { x: "a\nb" } } }));
      expect(failure.kind).toBe("invalid-params");
    }
    expect(failing).toEqual([]);
    expect(events.filter((event) => event.startsWith("not"))).toEqual([]);
  });

  it("fails as overloaded when all upstreams are saturated", async () => {
    const { upstreams, server } = await openPool({ names: ["a"] });
    server("a").isFrozen = true;
    const waiting = Array.from({ length: 2048 }, () => failureOf(upstreams.read(createCall())));
    expect(await failureOf(upstreams.read(createCall()))).toMatchObject({
      kind: "overloaded",
      message: "No upstream is available. a has 2048 pending requests, which is the limit.",
    });
    await upstreams.close();
    await Promise.all(waiting);
  });

  it("fails when all upstreams reject the credentials", async () => {
    const { upstreams, server } = await openPool();
    for (const name of ["a", "b"]) {
      server(name).handler = (_request, response) => json(response, { code: 401, message: "no" }, 401);
    }
    const { kind, message } = await failureOf(upstreams.read(createCall()));
    expect(kind).toBe("unavailable");
    expect(message).toContain("a rejects the gateway with HTTP status 401. Check the credentials of this upstream.");
  });

  it.each([404, 400, 413])("confirms a rejection with %i by one other upstream", async (status) => {
    const { upstreams, health, server } = await openPool({ names: ["a", "b", "c"] });
    const refuse = (name: string) => {
      server(name).handler = (_request, response) => json(response, { code: status, message: name }, status);
    };
    for (const name of ["b", "c"]) health.set(name, { state: "behind" });
    refuse("a");
    expect(await upstreams.read(createCall())).toMatchObject({ status: 200 });
    refuse("b");
    refuse("c");
    expect(await upstreams.read(createCall())).toMatchObject({ upstream: "a", status });
    expect(server("b").questions.length + server("c").questions.length).toBe(2);
  });

  it("tries all upstreams for an unsupported operation, version or format", async () => {
    const { upstreams, server } = await openPool({ names: ["a", "b", "c"] });
    const refuse = (name: string, status: number, message: string) => {
      server(name).handler = (_request, response) => json(response, { code: status, message }, status);
    };
    for (const [status, message] of [
      [400, "BAD_REQUEST: Unsupported endpoint version: v2"],
      [404, "NOT_FOUND"],
      [405, "Method not allowed"],
      [406, "Not acceptable"],
      [410, "Gone"],
      [501, "Not implemented"],
    ] as const) {
      for (const name of ["a", "b"]) refuse(name, status, message);
      server("c").handler = (_request, response) => json(response, { data: 1 });
      expect(await answersOf(() => upstreams.read(createCall()), 6)).toEqual({ c: 6 });
      refuse("c", 404, "State not found");
      expect(await answersOf(() => upstreams.read(createCall()), 6)).toEqual({ c: 6 });
      refuse("c", status, message);
      expect(await upstreams.read(createCall())).toMatchObject({ status });
    }
  });

  it("returns health statuses unchanged", async () => {
    const { upstreams, server } = await openPool();
    for (const name of ["a", "b"]) server(name).handler = (_request, response) => response.writeHead(503).end();
    const health = createCall({ method: { resultForStatus: (status) => status } });
    expect(await upstreams.read(health)).toMatchObject({ status: 503 });
    expect(server("a").requests.length + server("b").requests.length).toBe(1);
  });

  it("returns a server error if all fail, and a failure if none answers", async () => {
    const { upstreams, server } = await openPool();
    for (const name of ["a", "b"]) {
      server(name).handler = (_request, response) => json(response, { code: 500, message: name }, 500);
    }
    expect(await upstreams.read(createCall())).toMatchObject({ status: 500 });
    for (const name of ["a", "b"]) await server(name).stop();
    const failure = await failureOf(upstreams.read(createCall()));
    expect(failure.message).toBe("No upstream is available. a refused the connection. b refused the connection.");
  });

  it("retries the only upstream once after a closed connection", async () => {
    const { upstreams, server } = await openPool({ names: ["a"] });
    const a = server("a");
    a.handler = (_request, response) => {
      a.handler = (_again, good) => json(good, { data: 1 });
      response.destroy();
    };
    expect(await upstreams.read(createCall())).toMatchObject({ status: 200 });
    a.handler = cut;
    a.requests.length = 0;
    expect((await failureOf(upstreams.read(createCall()))).message).toMatch(/a closed the connection\.$/);
    // One more, because the first connection was idle.
    expect(a.requests).toHaveLength(3);
  });

  it("reports an upstream after consecutive errors", async () => {
    const { upstreams, server, failing } = await openPool({ names: ["a"] });
    server("a").handler = cut;
    for (let i = 0; i < 2; i++) await failureOf(upstreams.read(createCall()));
    expect(failing).toEqual([]);
    await failureOf(upstreams.read(createCall()));
    expect(failing).toEqual(["a: 5 requests in a row failed. Last error: a closed the connection."]);
  });

  it("counts concurrent errors once", async () => {
    const { upstreams, server, failing, timers } = await openPool({ names: ["a"] });
    const waiting: (() => void)[] = [];
    server("a").handler = async (request, response) => {
      if (waiting.push(() => cut(request, response)) < 10) return;
      await timers.advance(1);
      for (const end of waiting.splice(0)) end();
    };
    // Each is retried once.
    const readTen = () => Promise.all(Array.from({ length: 10 }, () => failureOf(upstreams.read(createCall()))));
    for (let i = 0; i < 2; i++) await readTen();
    expect(failing).toEqual([]);
    await readTen();
    expect(failing).toHaveLength(1);
  });
});

describe("a head-bound read", () => {
  const aboutHead = { url: "/eth/v1/beacon/headers/head", params: { block_id: "head" } };

  it("goes to upstreams at the head floor, and raises it", async () => {
    const { upstreams, health, server } = await openPool();
    health.set("b", { headSlot: 101 });
    server("b").headSlot = 101;
    health.headFloor = 101;
    expect(await answersOf(() => upstreams.read(createCall(aboutHead)), 5)).toEqual({ b: 5 });
    health.set("b", { headSlot: 102 });
    server("b").headSlot = 102;
    await upstreams.read(createCall(aboutHead));
    expect(health.headFloor).toBe(102);
    await upstreams.read(createCall({ url: "/eth/v1/beacon/headers/5", params: { block_id: "5" } }));
    expect(server("a").requests).toHaveLength(1);
  });

  it("raises the head floor to the slot in the answer", async () => {
    const { upstreams, health, server } = await openPool({ names: ["a"] });
    const reportedFloor = async (options: Parameters<typeof createCall>[0], data: unknown) => {
      health.headFloor = 0;
      server("a").everything = (_request, response) => json(response, { execution_optimistic: false, data });
      await upstreams.read(createCall(options));
      return health.headFloor;
    };
    const message = { slot: "101" };
    const dependsOn = { method: { dependsOn: "head" } } as const;
    expect(await reportedFloor(aboutHead, { root: "0x00", canonical: true, header: { message } })).toBe(101);
    expect(await reportedFloor({ url: "/eth/v2/beacon/blocks/head", params: { block_id: "head" } }, { message })).toBe(
      101,
    );
    expect(await reportedFloor({ url: "/eth/v1/beacon/headers", ...dependsOn }, [{ header: { message } }])).toBe(101);
    expect(await reportedFloor({ url: "/eth/v1/node/syncing", ...dependsOn }, { head_slot: "101" })).toBe(101);
    expect(await reportedFloor(aboutHead, { header: { message: { slot: "99" } } })).toBe(99);
    expect(
      await reportedFloor({ url: "/eth/v1/beacon/states/head/root", params: { state_id: "head" } }, { message }),
    ).toBe(100);
    const finalized = { url: "/eth/v1/beacon/headers/finalized", params: { block_id: "finalized" } };
    expect(await reportedFloor(finalized, { header: { message: { slot: "80" } } })).toBe(100);
  });

  const syncing = { url: "/eth/v1/node/syncing", method: { dependsOn: "status" } } as const;
  const clockSlot = (timers: FakeTimers) => slotAt(CHAIN_SPEC, timers.unixNow());
  const answersHead = (upstream: ScriptedUpstream, slot: number) => {
    upstream.everything = ({ url }, response) =>
      json(response, {
        data: url === syncing.url ? { head_slot: String(slot) } : { header: { message: { slot: String(slot) } } },
      });
  };

  it("asks another upstream when a head is beyond the clock, and does not raise the head floor", async () => {
    const { upstreams, health, events, server, timers } = await openPool();
    for (const call of [aboutHead, syncing]) {
      answersHead(server("a"), clockSlot(timers) + 2);
      answersHead(server("b"), 100);
      for (let i = 0; i < 4; i++) expect((await upstreams.read(createCall(call))).upstream).toBe("b");
      expect(health.headFloor).toBe(100);
    }
    expect(events).toContain("a invalid");
  });

  it("accepts a head beyond the clock that a second upstream confirms", async () => {
    const { upstreams, health, server, timers } = await openPool();
    for (const name of ["a", "b"]) answersHead(server(name), clockSlot(timers) + 400);
    expect((await upstreams.read(createCall(aboutHead))).status).toBe(200);
    expect(health.headFloor).toBe(0);
  });

  it("passes on a head beyond the clock of the only upstream without raising the head floor", async () => {
    const { upstreams, health, server } = await openPool({ names: ["a"] });
    answersHead(server("a"), 2 ** 53);
    expect((await upstreams.read(createCall(syncing))).status).toBe(200);
    expect(health.headFloor).toBe(0);
  });

  it("asks another upstream when an answer is below the head floor", async () => {
    const { upstreams, health, server } = await openPool();
    health.headFloor = 100;
    for (const call of [aboutHead, syncing]) {
      answersHead(server("a"), 24);
      answersHead(server("b"), 100);
      for (let i = 0; i < 4; i++) expect((await upstreams.read(createCall(call))).upstream).toBe("b");
    }
    const message = { body: { attestations: [{ data: { slot: "70" } }] }, slot: "100" };
    server("b").everything = (_request, response) => json(response, { data: { message } });
    const block = { url: "/eth/v2/beacon/blocks/head", params: { block_id: "head" } };
    expect((await upstreams.read(createCall(block))).upstream).toBe("b");
  });

  it("serves a head below the floor only once the floor is lowered", async () => {
    const { upstreams, health, server, timers } = await openPool({ names: ["a"] });
    health.headFloor = 100;
    answersHead(server("a"), 24);
    let isAnswered = false;
    const answer = upstreams.read(createCall(aboutHead)).finally(() => {
      isAnswered = true;
    });
    while (server("a").requests.length < 3) await timers.advance(20);
    expect(isAnswered).toBe(false);
    health.headFloor = 24;
    while (!isAnswered) await timers.advance(20);
    expect((await answer).status).toBe(200);

    health.headFloor = 100;
    const failure = failureOf(upstreams.read(createCall(aboutHead)));
    for (let i = 0; i < 110; i++) await timers.advance(100);
    expect(await failure).toMatchObject({
      kind: "unavailable",
      message: "No upstream has reached slot 100, the newest head that clients have seen. a answered with slot 24.",
    });
  });

  it("goes to an upstream without a known head while the floor is 0", async () => {
    const { upstreams, health } = await openPool({ names: ["a"] });
    health.set("a", { state: "behind", head: undefined });
    expect(await upstreams.read(createCall(aboutHead))).toMatchObject({ upstream: "a" });
  });

  it("waits for an upstream to reach the head floor", async () => {
    const { upstreams, health, server } = await openPool();
    health.set("b", { headSlot: 101 });
    health.headFloor = 101;
    await server("b").stop();
    const answer = upstreams.read(createCall(aboutHead));
    const arrived = server("a").received(aboutHead.url);
    await flushPromises();
    health.set("b", { state: "down" });
    expect(server("a").requests).toEqual([]);
    server("a").headSlot = 101;
    health.set("a", { headSlot: 101 });
    await arrived;
    expect(await answer).toMatchObject({ upstream: "a" });
  });

  it("fails when no upstream reaches the head floor in time", async () => {
    const { upstreams, health, timers } = await openPool({ names: ["a"] });
    health.headFloor = 105;
    const failure = failureOf(upstreams.read(createCall(aboutHead)));
    await timers.advance(10_100);
    expect(await failure).toMatchObject({
      kind: "unavailable",
      message: "No upstream has reached slot 105, the newest head that clients have seen. a is ready, at slot 100.",
    });
  });
});

describe("sticky routes", () => {
  it("use the upstream of the first request while it is available", async () => {
    const { upstreams, health } = await openPool({ names: ["a", "b", "c"] });
    const upstreamFor = async (url: string) => (await upstreams.read(createCall({ url }))).upstream;
    const found = new Set<string>();
    for (let slot = 30; slot < 36; slot++) {
      const first = await upstreamFor(`/eth/v1/validator/attestation_data?slot=${slot}&committee_index=0`);
      for (let i = 0; i < 4; i++) {
        const url = `/eth/v2/validator/aggregate_attestation?attestation_data_root=0x00&slot=${slot}&committee_index=1`;
        expect(await upstreamFor(url)).toBe(first);
      }
      found.add(first);
    }
    expect(found.size).toBe(3);
    const produced = await upstreamFor("/eth/v3/validator/blocks/40?randao_reveal=0x00");
    const block = { message: { slot: "40", body: { attestations: [{ data: { slot: "39" } }] } }, signature: "0x00" };
    const publish = () =>
      upstreams.submit(createCall({ url: "/eth/v2/beacon/blocks", body: Buffer.from(JSON.stringify(block)) }));
    for (let i = 0; i < 4; i++) expect((await publish()).upstream).toBe(produced);
    health.set(produced, { state: "behind" });
    expect((await publish()).upstream).not.toBe(produced);
  });

  it("send a blinded block to the upstream with its payload", async () => {
    const { upstreams, health } = await openPool({ names: ["a", "b", "c"] });
    const { upstream } = await upstreams.read(createCall({ url: "/eth/v3/validator/blocks/40?randao_reveal=0x00" }));
    const body = Buffer.from('{"message":{"slot":"40"}}');
    const publish = async () =>
      (await upstreams.submit(createCall({ url: "/eth/v2/beacon/blinded_blocks", body }))).upstream;
    health.set(upstream, { state: "behind" });
    expect(await publish()).toBe(upstream);
    health.set(upstream, { state: "down" });
    expect(await publish()).not.toBe(upstream);
  });

  it("select the same upstream on all gateways", async () => {
    const [one, other] = [await openPool({ names: ["a", "b", "c"] }), await openPool({ names: ["a", "b", "c"] })];
    for (let slot = 40; slot < 46; slot++) {
      const { upstream } = await one.upstreams.read(
        createCall({ url: `/eth/v3/validator/blocks/${slot}?graffiti=0x00` }),
      );
      const body = Buffer.from(JSON.stringify({ message: { slot: String(slot) } }));
      expect(await other.upstreams.submit(createCall({ url: "/eth/v2/beacon/blocks", body }))).toMatchObject({
        upstream,
      });
    }
  });

  it("stay on a slow upstream until it is unresponsive", async () => {
    const { upstreams, timers, server } = await openPool();
    const url = (path: string) => `/eth/v1/validator/${path}?slot=30&committee_index=0`;
    const { upstream } = await upstreams.read(createCall({ url: url("attestation_data") }));
    const other = server(upstream === "a" ? "b" : "a");
    server(upstream).isFrozen = true;
    const arrived = server(upstream).received(url("aggregate_attestation"));
    const answer = upstreams.read(createCall({ url: url("aggregate_attestation") }));
    await arrived;
    await timers.advance(HEDGE_MILLIS + 10);
    expect(other.questions).toEqual([]);
    await timers.advance(2000);
    expect(await answer).toMatchObject({ upstream: other.name });
  });
});
