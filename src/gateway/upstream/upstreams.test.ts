import { describe, expect, it } from "vitest";
import { flushPromises } from "../../../test/support/fake-timers.ts";
import { questionOf } from "./question.test-support.ts";
import { json, type ReceivedRequest, type ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { answersOf, failureOf, HEDGE_MILLIS, openUpstreams } from "./upstreams.test-support.ts";

describe("whom a read goes to", () => {
  it("is shared by weight among those of the first tier that are ready, else those of later ones, else who is behind", async () => {
    const { upstreams, conditions } = await openUpstreams({
      names: ["a", "b", "c"],
      upstreamOptions: { a: { weight: 3 }, c: { tier: 1 } },
    });
    const read = () => upstreams.read(questionOf());
    expect(await answersOf(read, 40)).toEqual({ a: 30, b: 10 });
    conditions.set("a", { fitness: "down" });
    expect(await answersOf(read, 5)).toEqual({ b: 5 });
    conditions.set("a", {});
    expect(await answersOf(read, 40)).toMatchObject({ a: expect.closeTo(30, -1), b: expect.closeTo(10, -1) });
    for (const name of ["a", "b"]) conditions.set(name, { fitness: "behind" });
    expect(await answersOf(read, 5)).toEqual({ c: 5 });
    conditions.set("c", { fitness: "foreign" });
    expect(await answersOf(read, 40)).toEqual({ a: 30, b: 10 });
  });

  it("is nobody who is known not to have it, as long as there is another", async () => {
    const { upstreams, conditions } = await openUpstreams();
    const question = { ...questionOf(), lacking: new Set(["a"]) };
    conditions.set("b", { fitness: "behind" });
    expect(await answersOf(() => upstreams.read(question), 3)).toEqual({ b: 3 });
    conditions.set("b", { fitness: "down" });
    expect(await answersOf(() => upstreams.read(question), 3)).toEqual({ a: 3 });
  });

  it("is who is late when there is no other", async () => {
    const { upstreams, conditions } = await openUpstreams();
    conditions.set("a", { fitness: "late", reasons: ["a did not answer."] });
    expect((await upstreams.read(questionOf())).upstream).toBe("b");
    conditions.set("b", { fitness: "down", reasons: ["b refused the connection."] });
    expect((await upstreams.read(questionOf())).upstream).toBe("a");
  });

  it("is nobody when all are down: the failure says why of each", async () => {
    const { upstreams, conditions } = await openUpstreams();
    conditions.set("a", { fitness: "down", reasons: ["It refused the connection."] });
    conditions.set("b", { fitness: "foreign", reasons: ["It follows another chain."] });
    const failure = await failureOf(upstreams.read(questionOf()));
    expect(failure.kind).toBe("unavailable");
    expect(failure.message).toBe(
      "No upstream can answer. a is down: It refused the connection. b is foreign: It follows another chain.",
    );
  });

  it("is one for each of several answers: where there are fewer, the failure is about the others", async () => {
    const { upstreams, conditions } = await openUpstreams();
    conditions.set("b", { fitness: "down", reasons: ["It refused the connection."] });
    expect(await upstreams.readFromSeveral(questionOf(), 2)).toMatchObject([
      { value: { upstream: "a" } },
      { reason: { message: "No other upstream can answer. b is down: It refused the connection." } },
    ]);
  });

  it("is who has least to do", async () => {
    const { upstreams, server } = await openUpstreams();
    server("a").isFrozen = true;
    const arrived = server("a").received("/eth/v1/x");
    const first = upstreams.read(questionOf({ method: { cost: "heavy" } }));
    await arrived;
    expect(await answersOf(() => upstreams.read(questionOf()), 5)).toEqual({ b: 5 });
    await upstreams.close();
    await failureOf(first);
  });
});

describe("a read that fails on one upstream", () => {
  const cut = (_request: ReceivedRequest, response: Parameters<ScriptedUpstream["handler"]>[1]) =>
    void response.destroy();

  it("goes to another for errors of connection and of the server", async () => {
    const { upstreams, conditions, server, events } = await openUpstreams();
    const a = server("a");
    for (const status of [500, 502, 503, 429, 401]) {
      a.handler = (_request, response) => json(response, { code: status, message: "no" }, status);
      conditions.set("b", { fitness: "behind" });
      expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b", status: 200 });
    }
    a.handler = cut;
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b" });
    expect(events.slice(-3)).toEqual(["a error", "not a: failed", "b 200"]);
    // Of something that stands before it.
    a.handler = (_request, response) => response.writeHead(413, { "content-type": "text/html" }).end("<html></html>");
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b", status: 200 });
    await a.stop();
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b" });
  });

  it("goes to another for what is no answer of a beacon node, though its status is good", async () => {
    const { upstreams, conditions, server, suspects } = await openUpstreams();
    conditions.set("b", { fitness: "behind" });
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
      expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b" });
    }
    server("a").handler = (_request, response) => response.writeHead(204).end();
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b" });
    server("a").handler = (_request, response) => response.writeHead(302, { location: "/" }).end();
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "b" });
    // Whoever answers is there.
    expect(suspects).toEqual([]);
    server("a").handler = (_request, response) =>
      response.setHeader("content-type", "application/octet-stream").end("x");
    expect(await upstreams.read({ ...questionOf(), format: "ssz" })).toMatchObject({ upstream: "a" });
    for (const text of ['{"data":1}\n', '\r\n {"data":1}', "[]", '"text"', "12", "null", "true"]) {
      server("a").handler = (_request, response) => response.setHeader("content-type", "application/json").end(text);
      expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "a" });
    }
  });

  it("fails at once when it cannot be written in HTTP, for which no upstream is to blame", async () => {
    const { upstreams, events, suspects } = await openUpstreams();
    for (let i = 0; i < 6; i++) {
      const { request, ...question } = questionOf();
      const failure = await failureOf(upstreams.read({ ...question, request: { ...request, headers: { x: "a\nb" } } }));
      expect(failure.kind).toBe("invalid-params");
    }
    expect(suspects).toEqual([]);
    expect(events.filter((event) => event.startsWith("not"))).toEqual([]);
  });

  it("fails as overloaded when all have too much to do", async () => {
    const { upstreams, server } = await openUpstreams({ names: ["a"] });
    server("a").isFrozen = true;
    const waiting = Array.from({ length: 2048 }, () => failureOf(upstreams.read(questionOf())));
    expect((await failureOf(upstreams.read(questionOf()))).kind).toBe("overloaded");
    await upstreams.close();
    await Promise.all(waiting);
  });

  it("is no answer to the caller when all refuse the gateway's credentials", async () => {
    const { upstreams, server } = await openUpstreams();
    for (const name of ["a", "b"]) {
      server(name).handler = (_request, response) => json(response, { code: 401, message: "no" }, 401);
    }
    const { kind, message } = await failureOf(upstreams.read(questionOf()));
    expect(kind).toBe("unavailable");
    expect(message).toContain("a refuses the gateway with HTTP status 401: look at the credentials that it is given.");
  });

  it.each([404, 400, 413])("asks one other for what is refused with %i, and believes two", async (status) => {
    const { upstreams, conditions, server } = await openUpstreams({ names: ["a", "b", "c"] });
    const refuse = (name: string) => {
      server(name).handler = (_request, response) => json(response, { code: status, message: name }, status);
    };
    for (const name of ["b", "c"]) conditions.set(name, { fitness: "behind" });
    refuse("a");
    expect(await upstreams.read(questionOf())).toMatchObject({ status: 200 });
    refuse("b");
    refuse("c");
    expect(await upstreams.read(questionOf())).toMatchObject({ upstream: "a", status });
    expect(server("b").questions.length + server("c").questions.length).toBe(2);
  });

  it("asks all others for an operation, a version or a form that one does not have, and believes who has it", async () => {
    const { upstreams, server } = await openUpstreams({ names: ["a", "b", "c"] });
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
      expect(await answersOf(() => upstreams.read(questionOf()), 6)).toEqual({ c: 6 });
      refuse("c", 404, "State not found");
      expect(await answersOf(() => upstreams.read(questionOf()), 6)).toEqual({ c: 6 });
      refuse("c", status, message);
      expect(await upstreams.read(questionOf())).toMatchObject({ status });
    }
  });

  it("tells the health of one as it is", async () => {
    const { upstreams, server } = await openUpstreams();
    for (const name of ["a", "b"]) server(name).handler = (_request, response) => response.writeHead(503).end();
    const health = questionOf({ method: { resultOfStatus: (status) => status } });
    expect(await upstreams.read(health)).toMatchObject({ status: 503 });
    expect(server("a").requests.length + server("b").requests.length).toBe(1);
  });

  it("gives the error of the server when all have one, and a failure with the reasons when none answers", async () => {
    const { upstreams, server } = await openUpstreams();
    for (const name of ["a", "b"]) {
      server(name).handler = (_request, response) => json(response, { code: 500, message: name }, 500);
    }
    expect(await upstreams.read(questionOf())).toMatchObject({ status: 500 });
    for (const name of ["a", "b"]) await server(name).stop();
    const failure = await failureOf(upstreams.read(questionOf()));
    expect(failure.message).toBe("No upstream can answer. a refused the connection. b refused the connection.");
  });

  it("asks the only one again when it broke off, once", async () => {
    const { upstreams, server } = await openUpstreams({ names: ["a"] });
    const a = server("a");
    a.handler = (_request, response) => {
      a.handler = (_again, good) => json(good, { data: 1 });
      response.destroy();
    };
    expect(await upstreams.read(questionOf())).toMatchObject({ status: 200 });
    a.handler = cut;
    a.requests.length = 0;
    expect((await failureOf(upstreams.read(questionOf()))).message).toMatch(/a closed the connection\.$/);
    // One more, because the connection of the first had been idle.
    expect(a.requests).toHaveLength(3);
  });

  it("makes the upstream suspect after some errors in a row", async () => {
    const { upstreams, server, suspects } = await openUpstreams({ names: ["a"] });
    server("a").handler = cut;
    for (let i = 0; i < 2; i++) await failureOf(upstreams.read(questionOf()));
    expect(suspects).toEqual([]);
    await failureOf(upstreams.read(questionOf()));
    expect(suspects).toEqual(["a: 5 requests in a row failed, the last one so: a closed the connection."]);
  });

  it("takes what fails together for one error", async () => {
    const { upstreams, server, suspects, timers } = await openUpstreams({ names: ["a"] });
    const held: (() => void)[] = [];
    server("a").handler = async (request, response) => {
      if (held.push(() => cut(request, response)) < 10) return;
      await timers.advance(1);
      for (const end of held.splice(0)) end();
    };
    // Each is asked again once.
    const readTen = () => Promise.all(Array.from({ length: 10 }, () => failureOf(upstreams.read(questionOf()))));
    for (let i = 0; i < 2; i++) await readTen();
    expect(suspects).toEqual([]);
    await readTen();
    expect(suspects).toHaveLength(1);
  });
});

describe("a question about the head", () => {
  const aboutHead = { url: "/eth/v1/beacon/headers/head", params: { block_id: "head" } };

  it("goes only to upstreams that have come as far as clients have been told, and raises that", async () => {
    const { upstreams, conditions, server } = await openUpstreams();
    conditions.set("b", { headSlot: 101 });
    conditions.floor = 101;
    expect(await answersOf(() => upstreams.read(questionOf(aboutHead)), 5)).toEqual({ b: 5 });
    conditions.set("b", { headSlot: 102 });
    server("b").headSlot = 102;
    await upstreams.read(questionOf(aboutHead));
    expect(conditions.floor).toBe(102);
    await upstreams.read(questionOf({ url: "/eth/v1/beacon/headers/5", params: { block_id: "5" } }));
    expect(server("a").requests).toHaveLength(1);
  });

  it("raises that to the slot that the answer tells, though its upstream is not known to have come there", async () => {
    const { upstreams, conditions, server } = await openUpstreams({ names: ["a"] });
    const told = async (asked: Parameters<typeof questionOf>[0], data: unknown) => {
      conditions.floor = 0;
      server("a").everything = (_request, response) => json(response, { execution_optimistic: false, data });
      await upstreams.read(questionOf(asked));
      return conditions.floor;
    };
    const message = { slot: "101" };
    const dependsOn = { method: { dependsOn: "head" } } as const;
    expect(await told(aboutHead, { root: "0x00", canonical: true, header: { message } })).toBe(101);
    expect(await told({ url: "/eth/v2/beacon/blocks/head", params: { block_id: "head" } }, { message })).toBe(101);
    expect(await told({ url: "/eth/v1/beacon/headers", ...dependsOn }, [{ header: { message } }])).toBe(101);
    expect(await told({ url: "/eth/v1/node/syncing", ...dependsOn }, { head_slot: "101" })).toBe(101);
    expect(await told(aboutHead, { header: { message: { slot: "99" } } })).toBe(99);
    expect(await told({ url: "/eth/v1/beacon/states/head/root", params: { state_id: "head" } }, { message })).toBe(100);
    const finalized = { url: "/eth/v1/beacon/headers/finalized", params: { block_id: "finalized" } };
    expect(await told(finalized, { header: { message: { slot: "80" } } })).toBe(100);
  });

  it("goes to one that does not know its head while nobody was told of any", async () => {
    const { upstreams, conditions } = await openUpstreams({ names: ["a"] });
    conditions.set("a", { fitness: "behind", head: undefined });
    expect(await upstreams.read(questionOf(aboutHead))).toMatchObject({ upstream: "a" });
  });

  it("waits for one to come as far, also when the one that had is gone", async () => {
    const { upstreams, conditions, server } = await openUpstreams();
    conditions.set("b", { headSlot: 101 });
    conditions.floor = 101;
    await server("b").stop();
    const answer = upstreams.read(questionOf(aboutHead));
    const arrived = server("a").received(aboutHead.url);
    await flushPromises();
    conditions.set("b", { fitness: "down" });
    expect(server("a").requests).toEqual([]);
    conditions.set("a", { headSlot: 101 });
    await arrived;
    expect(await answer).toMatchObject({ upstream: "a" });
  });

  it("fails after some seconds when none comes", async () => {
    const { upstreams, conditions, timers } = await openUpstreams({ names: ["a"] });
    conditions.floor = 105;
    const failure = failureOf(upstreams.read(questionOf(aboutHead)));
    await timers.advance(10_100);
    expect(await failure).toMatchObject({
      kind: "unavailable",
      message: "No upstream has come to slot 105, which clients have been told of.",
    });
  });
});

describe("requests that belong together", () => {
  it("stay on the upstream that gave the first, as long as it is there", async () => {
    const { upstreams, conditions } = await openUpstreams({ names: ["a", "b", "c"] });
    const upstreamFor = async (url: string) => (await upstreams.read(questionOf({ url }))).upstream;
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
      upstreams.submit(questionOf({ url: "/eth/v2/beacon/blocks", body: Buffer.from(JSON.stringify(block)) }));
    for (let i = 0; i < 4; i++) expect((await publish()).upstream).toBe(produced);
    conditions.set(produced, { fitness: "behind" });
    expect((await publish()).upstream).not.toBe(produced);
  });

  it("are a block without its payload and the upstream that has it, as long as that can be asked", async () => {
    const { upstreams, conditions } = await openUpstreams({ names: ["a", "b", "c"] });
    const { upstream } = await upstreams.read(questionOf({ url: "/eth/v3/validator/blocks/40?randao_reveal=0x00" }));
    const body = Buffer.from('{"message":{"slot":"40"}}');
    const publish = async () =>
      (await upstreams.submit(questionOf({ url: "/eth/v2/beacon/blinded_blocks", body }))).upstream;
    conditions.set(upstream, { fitness: "behind" });
    expect(await publish()).toBe(upstream);
    conditions.set(upstream, { fitness: "down" });
    expect(await publish()).not.toBe(upstream);
  });

  it("find each other also where the first was asked for at another gateway", async () => {
    const [one, other] = [
      await openUpstreams({ names: ["a", "b", "c"] }),
      await openUpstreams({ names: ["a", "b", "c"] }),
    ];
    for (let slot = 40; slot < 46; slot++) {
      const { upstream } = await one.upstreams.read(
        questionOf({ url: `/eth/v3/validator/blocks/${slot}?graffiti=0x00` }),
      );
      const body = Buffer.from(JSON.stringify({ message: { slot: String(slot) } }));
      expect(await other.upstreams.submit(questionOf({ url: "/eth/v2/beacon/blocks", body }))).toMatchObject({
        upstream,
      });
    }
  });

  it("stay there when it is slow, until it is stuck", async () => {
    const { upstreams, timers, server } = await openUpstreams();
    const url = (path: string) => `/eth/v1/validator/${path}?slot=30&committee_index=0`;
    const { upstream } = await upstreams.read(questionOf({ url: url("attestation_data") }));
    const other = server(upstream === "a" ? "b" : "a");
    server(upstream).isFrozen = true;
    const arrived = server(upstream).received(url("aggregate_attestation"));
    const answer = upstreams.read(questionOf({ url: url("aggregate_attestation") }));
    await arrived;
    await timers.advance(HEDGE_MILLIS + 10);
    expect(other.questions).toEqual([]);
    await timers.advance(2000);
    expect(await answer).toMatchObject({ upstream: other.name });
  });
});
