import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { failureOf, openPool } from "../../../../test/support/gateway/upstream/requests/upstream-pool.ts";
import type { ScriptedUpstream } from "../../../../test/support/gateway/upstream/scripted-upstream.ts";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { flushPromises } from "../../../../test/support/time/fake-timers.ts";
import type { UpstreamResponse } from "../upstream-call.ts";

const KIB = 1024;
/** More than the chunks that are held back to check the end. */
const HELD_BYTES = 200 * KIB;

/** Sends headers and a first piece. Returns the responses, whose bodies go on as the test writes. */
function drip(upstream: ScriptedUpstream, first = "{", headers: Record<string, string> = {}): ServerResponse[] {
  const responses: ServerResponse[] = [];
  upstream.handler = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.write(first);
    responses.push(response);
  };
  return responses;
}

/** Lets the sockets of this process deliver what was sent. */
async function untilReceived(): Promise<void> {
  for (let i = 0; i < 20; i++) await flushPromises();
}

type Setting = Awaited<ReturnType<typeof openPool>>;

/** Sends one byte per half second to all readers. */
async function dripFor(millis: number, responses: readonly ServerResponse[], { timers }: Setting): Promise<void> {
  for (let passed = 0; passed < millis; passed += 500) {
    for (const response of responses) if (!response.destroyed) response.write(" ");
    await untilReceived();
    await timers.advance(500);
  }
}

describe("a body of one byte per half second", () => {
  it.each(["cheap", "state"] as const)("does not hold a %s read, and its upstream is avoided", async (cost) => {
    const setting = await openPool();
    const { upstreams, server, health, events, timers } = setting;
    const responses = drip(server("a"));
    let reads = 0;
    while (!events.includes("circuit of a open")) {
      health.set("b", { state: "behind" });
      const read = upstreams.read(createCall({ method: { cost } }));
      let isDone = false;
      void read.finally(() => {
        isDone = true;
      });
      while (responses.length === reads) await flushPromises();
      health.set("b", {});
      const startedAt = timers.now();
      while (!isDone && timers.now() - startedAt < 3000) await dripFor(500, responses.slice(-1), setting);
      expect(timers.now() - startedAt).toBeLessThan(2000);
      expect(await read).toMatchObject({ upstream: "b" });
      reads++;
    }
    expect(reads).toBeGreaterThan(20);
    expect(reads).toBeLessThan(40);
  });

  it("ends with an error if there is no other upstream", async () => {
    const setting = await openPool({ names: ["a"] });
    const responses = drip(setting.server("a"));
    const failure = failureOf(setting.upstreams.read(createCall()));
    while (responses.length === 0) await flushPromises();
    await dripFor(11_000, responses, setting);
    expect((await failure).message).toMatch(/a sent less than 65536 bytes of its response in 10 s/);
    expect(setting.server("a").questions).toHaveLength(1);
  });

  it("gives a heavy read more time", async () => {
    const setting = await openPool();
    const { upstreams, server, events, timers, health } = setting;
    const responses = drip(server("a"));
    health.set("b", { state: "behind" });
    const read = upstreams.read(createCall({ method: { cost: "heavy" } }));
    while (responses.length === 0) await flushPromises();
    await untilReceived();
    health.set("b", {});
    await timers.advance(9000);
    expect(events).toEqual([]);
    responses[0]!.end('"data":{}}');
    expect(await read).toMatchObject({ upstream: "a" });
  });
});

describe("a large body", () => {
  const size = (bytes: number) => ({ "content-length": String(bytes) });

  async function open(
    bytes: number,
  ): Promise<{ setting: Setting; response: ServerResponse; body: UpstreamResponse["body"] }> {
    const setting = await openPool({ names: ["a"] });
    const start = JSON.stringify({ data: "x".repeat(5 * KIB) }).slice(0, -2);
    const responses = drip(setting.server("a"), start, size(bytes));
    const { body } = await setting.upstreams.read(createCall());
    return { setting, response: responses[0]!, body };
  }

  it("is cut off if it slows down", async () => {
    const { setting, response, body } = await open(1000 * KIB);
    const read = failureOf(Array.fromAsync(body as AsyncIterable<Buffer>));
    await untilReceived();
    await dripFor(11_000, [response], setting);
    expect((await read).message).toMatch(/a sent less than 65536 bytes/);
  });

  it("may take hours, also because of its reader", async () => {
    const { setting, response, body } = await open(8000 * KIB);
    const { timers } = setting;
    const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    let read = 0;
    const readTo = async (bytes: number) => {
      while (read < bytes - HELD_BYTES) read += (await chunks.next()).value.length;
    };
    // At 10 KiB per second.
    let sent = 5 * KIB;
    for (let i = 0; i < 20; i++) {
      response.write(Buffer.alloc(100 * KIB, " "));
      sent += 100 * KIB;
      await readTo(sent);
      await timers.advance(10_000);
    }
    // A reader that pauses.
    response.write(Buffer.alloc(4000 * KIB, " "));
    sent += 4000 * KIB;
    await untilReceived();
    await timers.advance(60 * 60_000);
    await readTo(sent);
    await chunks.return?.();
  });
});
