import { describe, expect, it } from "vitest";
import { flushPromises } from "../../../test/support/fake-timers.ts";
import { UpstreamError } from "../exchange.ts";
import { questionOf } from "./question.test-support.ts";
import { json, type ScriptedUpstream } from "./scripted-upstream.test-support.ts";
import { openUpstreams } from "./upstreams.test-support.ts";

describe("a submission", () => {
  const body = Buffer.from("[]");
  const exits = { url: "/eth/v1/beacon/pool/voluntary_exits", body };
  const refuse = (server: ScriptedUpstream, status: number, message = server.name) => {
    server.handler = (_request, response) => json(response, { code: status, message }, status);
  };

  it("goes to one upstream, and to another only when the first certainly has not taken it", async () => {
    const { upstreams, conditions, server } = await openUpstreams();
    conditions.set("b", { fitness: "behind" });
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "a", status: 200 });
    refuse(server("a"), 400);
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "a", status: 400 });
    expect(server("b").requests).toEqual([]);
    refuse(server("a"), 503);
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "b", status: 200 });
    refuse(server("a"), 400, "BAD_REQUEST: Unsupported endpoint version: v3");
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "b", status: 200 });
    refuse(server("a"), 413);
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "b", status: 200 });
    await server("a").stop();
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "b", status: 200 });
    expect(server("b").requests[0]).toMatchObject({ verb: "POST", url: exits.url, body });
    await server("b").stop();
    await expect(upstreams.submit(questionOf(exits))).rejects.toMatchObject({ mayHaveArrived: false });
  });

  it("that may have arrived is sent to nobody else, and the error says that its outcome is not known", async () => {
    const { upstreams, server } = await openUpstreams();
    for (const name of ["a", "b"]) server(name).handler = (_request, response) => void response.destroy();
    const error = await upstreams.submit(questionOf(exits)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UpstreamError);
    expect((error as UpstreamError).message).toMatch(/closed the connection\. Whether it has taken .* is not known/);
    expect(server("a").requests.length + server("b").requests.length).toBe(1);
  });

  it("that is answered with a page for browsers may never have arrived", async () => {
    const { upstreams, server, conditions } = await openUpstreams();
    conditions.set("b", { fitness: "behind" });
    server("a").handler = (_request, response) => response.setHeader("content-type", "text/html").end("<html></html>");
    await expect(upstreams.submit(questionOf(exits))).rejects.toThrow(
      "a answered with a page for browsers. Whether it has taken what was submitted is not known, and it is not sent again.",
    );
    expect(server("b").requests).toEqual([]);
  });

  it("goes to as many as it is to be sent to, and to all where any of them may be asked for the duty", async () => {
    const names = ["a", "b", "c"];
    const { upstreams, server, conditions } = await openUpstreams({ names, broadcast: 2 });
    conditions.set("c", { fitness: "behind" });
    const sent = () => names.map((name) => server(name).requests.length);
    await upstreams.submit(questionOf(exits));
    while (sent().reduce((sum, each) => sum + each) < 2) await flushPromises();
    expect(sent()).toEqual([1, 1, 0]);
    conditions.set("c", {});
    await upstreams.submit(questionOf({ url: "/eth/v1/validator/prepare_beacon_proposer", body }));
    while (sent().reduce((sum, each) => sum + each) < 5) await flushPromises();
    expect(sent()).toEqual([2, 2, 1]);
  });

  it("is taken when one of several takes it, and refused when all refuse it", async () => {
    const { upstreams, server } = await openUpstreams({ broadcast: "all" });
    refuse(server("a"), 400);
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "b", status: 200 });
    server("b").handler = (_request, response) => void response.destroy();
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ upstream: "a", status: 400 });
    refuse(server("b"), 400);
    expect(await upstreams.submit(questionOf(exits))).toMatchObject({ status: 400 });
    for (const name of ["a", "b"]) server(name).handler = (_request, response) => void response.destroy();
    await expect(upstreams.submit(questionOf(exits))).rejects.toMatchObject({ mayHaveArrived: true });
  });

  it("is taken by who imports it, however soon another has only sent it on", async () => {
    const { upstreams, server } = await openUpstreams({ broadcast: "all" });
    const block = { url: "/eth/v2/beacon/blocks", body: Buffer.from("{}") };
    const sentOn = new Promise<void>((resolve) => {
      server("a").handler = (_request, response) => response.writeHead(202).end(resolve);
    });
    server("b").handler = async (_request, response) => {
      await sentOn;
      json(response, {});
    };
    expect(await upstreams.submit(questionOf(block))).toMatchObject({ upstream: "b", status: 200 });
    refuse(server("b"), 400);
    expect(await upstreams.submit(questionOf(block))).toMatchObject({ upstream: "a", status: 202 });
  });
});
