import { describe, expect, it } from "vitest";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import { unavailable } from "../../errors/failure.ts";
import type { UpstreamResponse } from "../exchange.ts";
import type { GatewayObserver } from "../observer.ts";
import { questionOf } from "./question.test-support.ts";
import { Quorum } from "./quorum.ts";

const FINALIZED = { url: "/eth/v1/beacon/states/head/finality_checkpoints", params: { state_id: "head" } };

function said(upstream: string, text: string, status = 200): UpstreamResponse {
  return { upstream, status, headers: {}, body: Buffer.from(text) };
}

/** Upstreams that answer one round after the other so, and the last one again and again. */
function open(...rounds: (UpstreamResponse | Error)[][]) {
  const timers = new FakeTimers();
  const disagreements: unknown[] = [];
  const observer = {
    disagreed: (method: string, upstreams: readonly string[]) => void disagreements.push([method, ...upstreams]),
  } as Partial<GatewayObserver> as GatewayObserver;
  let asked = 0;
  const quorum = new Quorum({
    upstreams: {
      read: async () => said("alone", "{}"),
      readFromSeveral: async (_question, count) => {
        const round = rounds[Math.min(asked++, rounds.length - 1)]!;
        return Promise.allSettled(
          round.slice(0, count).map((each) => (each instanceof Error ? Promise.reject(each) : Promise.resolve(each))),
        );
      },
    },
    count: 2,
    timers,
    observer,
  });
  return { quorum, timers, disagreements, asked: () => asked };
}

/** More than it waits before it asks again, all together. */
async function passAllWaits(timers: FakeTimers): Promise<void> {
  for (let i = 0; i < 50; i++) await timers.advance(100);
}

describe("a quorum of two", () => {
  it("answers when both say the same, however they write it and whatever stands beside", async () => {
    const first = said("a", '{"finalized":true,"data":{"epoch":"1","root":"0x01"}}');
    const { quorum } = open([first, said("b", '{"data": {"root": "0x01", "epoch": "1"}, "finalized": false}')]);
    expect(await quorum.read(questionOf(FINALIZED))).toEqual(first);
  });

  it("asks again when they differ, since one may have been earlier", async () => {
    const late = said("b", '{"data":1}');
    const { quorum, timers, asked } = open(
      [said("a", '{"data":2}'), late],
      [said("a", '{"data":2}'), said("b", '{"data":2}')],
    );
    const answer = quorum.read(questionOf(FINALIZED));
    await timers.advance(1);
    await timers.advance(500);
    expect((await answer).upstream).toBe("a");
    expect(asked()).toBe(2);
  });

  it("fails with what each says when they go on to differ, and tells of it", async () => {
    const { quorum, timers, disagreements } = open([
      said("a", '{"data":{"root":"0x01"}}'),
      said("b", '{"data":{"root":"0x02"}}'),
    ]);
    const answer = expect(quorum.read(questionOf(FINALIZED))).rejects.toMatchObject({
      kind: "unavailable",
      message: 'The upstreams a and b do not agree. a says {"root":"0x01"}. b says {"root":"0x02"}.',
    });
    await passAllWaits(timers);
    await answer;
    expect(disagreements).toEqual([["x", "a", "b"]]);
  });

  it("compares SSZ byte by byte", async () => {
    const { quorum, timers } = open([said("a", "\x01\x02"), said("b", "\x01\x03")]);
    const answer = expect(quorum.read(questionOf(FINALIZED))).rejects.toMatchObject({
      message: expect.stringContaining("a says 0x0102. b says 0x0103."),
    });
    await passAllWaits(timers);
    await answer;
  });

  it("compares what is nested more deeply than can be written by its bytes", async () => {
    const deep = `{"data":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    expect((await open([said("a", deep), said("b", deep)]).quorum.read(questionOf(FINALIZED))).upstream).toBe("a");
  });

  it("fails when too few can answer, and gives what all of them say is not there", async () => {
    const missing = unavailable("No other upstream can answer. b is down: It refused the connection.");
    await expect(open([said("a", "{}"), missing]).quorum.read(questionOf(FINALIZED))).rejects.toMatchObject({
      message:
        "Fewer upstreams than the 2 that have to agree can answer. a answered with the HTTP status 200. No other upstream can answer. b is down: It refused the connection.",
    });
    const notFound = said("a", "{}", 404);
    expect(await open([notFound, said("b", "{}", 404)]).quorum.read(questionOf(FINALIZED))).toBe(notFound);
    await expect(open([notFound, missing]).quorum.read(questionOf(FINALIZED))).rejects.toMatchObject({
      message: expect.stringContaining("a answered with the HTTP status 404. No other upstream can answer."),
    });
  });

  it("waits a little for what one has and the other has not yet", async () => {
    const block = said("a", '{"data":1}');
    const late = said("b", '{"message":"no such block"}', 404);
    const { quorum, timers } = open([block, late], [block, said("b", '{"data":1}')]);
    const answer = quorum.read(questionOf(FINALIZED));
    await timers.advance(1);
    await timers.advance(100);
    expect(await answer).toMatchObject({ upstream: "a", status: 200 });

    const pruned = open([block, late]);
    const failure = expect(pruned.quorum.read(questionOf(FINALIZED))).rejects.toMatchObject({
      message: "The upstreams a and b do not agree. a says 1. b says nothing, but the HTTP status 404.",
    });
    await passAllWaits(pruned.timers);
    await failure;
    expect(pruned.asked()).toBe(3);
  });

  it("leaves all other questions to one", async () => {
    const { quorum, asked } = open([]);
    expect((await quorum.read(questionOf({ url: "/eth/v1/beacon/states/head/validators" }))).upstream).toBe("alone");
    expect(asked()).toBe(0);
  });
});
