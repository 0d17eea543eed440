import { describe, expect, it } from "vitest";
import { createCall } from "../../../../test/support/gateway/upstream/upstream-call.ts";
import { FakeTimers } from "../../../../test/support/time/fake-timers.ts";
import { unavailable } from "../../../errors/failure.ts";
import type { GatewayObserver } from "../../metrics/gateway-observer.ts";
import type { UpstreamResponse } from "../upstream-call.ts";
import { QuorumReader } from "./quorum.ts";

const FINALIZED = { url: "/eth/v1/beacon/states/head/finality_checkpoints", params: { state_id: "head" } };

function responseOf(upstream: string, text: string, status = 200): UpstreamResponse {
  return { upstream, status, headers: {}, body: Buffer.from(text) };
}

/** Upstreams that answer one round after the other, and repeat the last one. */
function open(...rounds: (UpstreamResponse | Error)[][]) {
  const timers = new FakeTimers();
  const disagreements: unknown[] = [];
  const observer = {
    onDisagreement: (method: string, upstreams: readonly string[]) => void disagreements.push([method, ...upstreams]),
  } as Partial<GatewayObserver> as GatewayObserver;
  let attempts = 0;
  const quorum = new QuorumReader({
    upstreams: {
      read: async () => responseOf("alone", "{}"),
      readFromMany: async (_question, count) => {
        const round = rounds[Math.min(attempts++, rounds.length - 1)]!;
        return Promise.allSettled(
          round.slice(0, count).map((each) => (each instanceof Error ? Promise.reject(each) : Promise.resolve(each))),
        );
      },
    },
    settings: { quorum: 2 },
    timers,
    observer,
  });
  return { quorum, timers, disagreements, attempts: () => attempts };
}

/** Longer than all retry delays together. */
async function passAllWaits(timers: FakeTimers): Promise<void> {
  for (let i = 0; i < 50; i++) await timers.advance(100);
}

describe("a quorum of two", () => {
  it("accepts equal data whatever the member order and metadata", async () => {
    const first = responseOf("a", '{"finalized":true,"data":{"epoch":"1","root":"0x01"}}');
    const { quorum } = open([first, responseOf("b", '{"data": {"root": "0x01", "epoch": "1"}, "finalized": true}')]);
    expect(await quorum.read(createCall(FINALIZED))).toEqual(first);
  });

  it.each([
    [
      { finalized: true, execution_optimistic: false },
      { finalized: false, execution_optimistic: false },
    ],
    [
      { finalized: true, execution_optimistic: false },
      { finalized: false, execution_optimistic: true },
    ],
    [
      { finalized: false, execution_optimistic: false },
      { finalized: true, execution_optimistic: true },
    ],
  ])("answers with the least finality of %o and %o", async (one, other) => {
    const data = { epoch: "1", root: "0x01" };
    const first = {
      ...responseOf("a", JSON.stringify({ ...one, data })),
      headers: {
        "content-type": "application/json",
        "content-length": "80",
        "eth-consensus-finalized": "true",
        etag: '"a"',
      },
    };
    const { quorum } = open([first, responseOf("b", JSON.stringify({ ...other, data }))]);
    const response = await quorum.read(createCall(FINALIZED));
    expect(JSON.parse(String(response.body))).toEqual({
      data,
      finalized: false,
      execution_optimistic: one.execution_optimistic || other.execution_optimistic,
    });
    expect(response).toMatchObject({ upstream: "a", headers: { "content-type": "application/json" } });
    expect(Object.keys(response.headers)).toEqual(["content-type"]);
  });

  it("retries when the answers differ", async () => {
    const late = responseOf("b", '{"data":1}');
    const { quorum, timers, attempts } = open(
      [responseOf("a", '{"data":2}'), late],
      [responseOf("a", '{"data":2}'), responseOf("b", '{"data":2}')],
    );
    const answer = quorum.read(createCall(FINALIZED));
    await timers.advance(1);
    await timers.advance(500);
    expect((await answer).upstream).toBe("a");
    expect(attempts()).toBe(2);
  });

  it("fails with both answers when they keep differing, and reports it", async () => {
    const { quorum, timers, disagreements } = open([
      responseOf("a", '{"data":{"epoch":"1","root":"0x01"}}'),
      responseOf("b", '{"data":{"epoch":"1","root":"0x02","slot":7}}'),
    ]);
    const answer = expect(quorum.read(createCall(FINALIZED))).rejects.toMatchObject({
      kind: "unavailable",
      message:
        'Upstreams a and b disagree on x with state_id "head": data.root is "0x01" on a and "0x02" on b; ' +
        "data.slot is missing on a and 7 on b. Compare them with `fanal doctor`.",
    });
    await passAllWaits(timers);
    await answer;
    expect(disagreements).toEqual([["x", "a", "b"]]);
  });

  it("shows the first differences only", async () => {
    const listOf = (name: string, value: number) =>
      responseOf(name, JSON.stringify({ data: Array<number>(8).fill(value) }));
    const { quorum, timers } = open([listOf("a", 1), listOf("b", 2)]);
    const answer = expect(quorum.read(createCall(FINALIZED))).rejects.toMatchObject({
      message: expect.stringMatching(/: data\[0] is 1 on a and 2 on b; .*data\[4] .* on b; 3 more members differ\./),
    });
    await passAllWaits(timers);
    await answer;
  });

  it("compares SSZ byte by byte", async () => {
    const { quorum, timers } = open([responseOf("a", "\x01\x02"), responseOf("b", "\x01\x03")]);
    const answer = expect(quorum.read(createCall(FINALIZED))).rejects.toMatchObject({
      message: expect.stringContaining("their bodies differ (a sent 2 bytes, b 2 bytes)."),
    });
    await passAllWaits(timers);
    await answer;
  });

  it("compares deeply nested bodies byte by byte", async () => {
    const deep = `{"data":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    expect(
      (await open([responseOf("a", deep), responseOf("b", deep)]).quorum.read(createCall(FINALIZED))).upstream,
    ).toBe("a");
  });

  it("fails when too few answer, and returns a common 404", async () => {
    const missing = unavailable("No other upstream is available. b is down: It refused the connection.");
    await expect(open([responseOf("a", "{}"), missing]).quorum.read(createCall(FINALIZED))).rejects.toMatchObject({
      message:
        'The quorum requires 2 answers to x with state_id "head". a answered. No other upstream is available. b is down: It refused the connection.',
    });
    const notFound = responseOf("a", "{}", 404);
    expect(await open([notFound, responseOf("b", "{}", 404)]).quorum.read(createCall(FINALIZED))).toBe(notFound);
    await expect(open([notFound, missing]).quorum.read(createCall(FINALIZED))).rejects.toMatchObject({
      message: expect.stringContaining("a answered with HTTP status 404. No other upstream is available."),
    });
  });

  it("retries what one upstream does not have yet", async () => {
    const block = responseOf("a", '{"data":1}');
    const late = responseOf("b", '{"message":"no such block"}', 404);
    const { quorum, timers } = open([block, late], [block, responseOf("b", '{"data":1}')]);
    const answer = quorum.read(createCall(FINALIZED));
    await timers.advance(1);
    await timers.advance(100);
    expect(await answer).toMatchObject({ upstream: "a", status: 200 });

    const pruned = open([block, late]);
    const failure = expect(pruned.quorum.read(createCall(FINALIZED))).rejects.toMatchObject({
      message: expect.stringContaining("a answers with HTTP status 200, b with 404."),
    });
    await passAllWaits(pruned.timers);
    await failure;
    expect(pruned.attempts()).toBe(3);
  });

  it("forwards other calls to one upstream", async () => {
    const { quorum, attempts } = open([]);
    expect((await quorum.read(createCall({ url: "/eth/v1/beacon/states/head/validators" }))).upstream).toBe("alone");
    expect(attempts()).toBe(0);
  });
});
