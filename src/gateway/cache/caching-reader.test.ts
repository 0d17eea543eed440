import { expect, it } from "vitest";
import {
  CHAIN_SPEC,
  finalAnswer,
  methodCall,
  ROOT,
  response,
} from "../../../test/support/gateway/cache/method-calls.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { FakeTimers, flushPromises } from "../../../test/support/time/fake-timers.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream/upstream-call.ts";
import type { UpstreamHealth } from "../upstream/upstream-health.ts";
import { CachingReader, type CachingReaderOptions } from "./caching-reader.ts";

const FINAL = methodCall("get_v1_beacon_states_root", { state_id: ROOT });
const HEAD = methodCall("get_v1_beacon_headers");
const STATUS = methodCall("get_v1_node_syncing");
const SPEC = methodCall("get_v1_config_spec");

/** Opens a reader of an upstream that answers on demand. */
function open(options: Partial<CachingReaderOptions> = {}) {
  const timers = new FakeTimers();
  const requests: UpstreamCall[] = [];
  const pending: PromiseWithResolvers<UpstreamResponse>[] = [];
  const revision = new Int32Array(2);
  const health = { all: [], headFloor: 10, finalityReverts: 0 };
  const looks: string[] = [];
  const reader = new CachingReader({
    fetch: (methodCall) => {
      requests.push(methodCall);
      const answer = Promise.withResolvers<UpstreamResponse>();
      pending.push(answer);
      return answer.promise;
    },
    revision,
    chainSpec: CHAIN_SPEC,
    settings: { memoryBytes: 64 * 1024, quorum: 1, validation: false },
    health,
    timers,
    logger: createRecordingLogger(),
    observer: { onCacheLookup: (where, found) => looks.push(`${where} ${found}`), onCacheState: () => {} },
    ...options,
  });
  /** Reads, and answers the upstream request if there is one. */
  const read = async (asking: UpstreamCall, body = finalAnswer('{"root":"0x01"}')) => {
    const answer = reader.read(asking);
    await flushPromises();
    pending.shift()?.resolve(response(body));
    return answer;
  };
  return { reader, read, requests, pending, revision, health, timers, looks };
}

const textOf = ({ body }: UpstreamResponse) => String(body);

async function* inChunks(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

it("fetches a final answer once and returns the same object again", async () => {
  const { read, requests, revision, health, timers, looks } = open();
  const first = await read(FINAL);
  const second = await read(FINAL);
  revision.fill(1);
  health.headFloor = 11;
  await timers.advance(1e9);
  expect(await read(FINAL)).toBe(second);
  expect([first.cachedIn, second.cachedIn]).toEqual([undefined, "memory"]);
  expect(second.body).toEqual(first.body);
  expect(requests).toHaveLength(1);
  expect(looks).toEqual(["memory false", "memory true", "memory true"]);
});

it("retries on another upstream if the end of a large answer states the wrong fork", async () => {
  const forks = [...CHAIN_SPEC.forks, { name: "altair", epoch: 5 }];
  const settings = { memoryBytes: 8 * 1024 * 1024, quorum: 1, validation: true };
  const { reader, requests, pending } = open({ settings, chainSpec: { ...CHAIN_SPEC, forks } });
  const call = methodCall("get_v1_beacon_states_stateId_pending_deposits", { state_id: "8" });
  const deposit = {
    pubkey: `0x${"00".repeat(48)}`,
    withdrawal_credentials: ROOT,
    amount: "1",
    signature: `0x${"00".repeat(96)}`,
    slot: "0",
  };
  const answer = reader.read(call);
  for (const version of ["altair", "phase0"]) {
    await flushPromises();
    const data = Array.from({ length: 200 }, () => deposit);
    pending.shift()!.resolve(response(JSON.stringify({ data, finalized: true, version }), { upstream: version }));
  }
  expect(await answer).toMatchObject({ upstream: "phase0" });
  expect([...requests[1]!.deprioritized!]).toEqual(["altair"]);
});

it("retries a truncated answer on another upstream", async () => {
  const { reader, requests, pending } = open();
  const answer = reader.read(FINAL);
  await flushPromises();
  async function* broken() {
    yield Buffer.from('{"data":');
    throw new UpstreamError("hanging", "hanging broke off its answer.", { mayHaveArrived: true });
  }
  pending.shift()!.resolve({ ...response(""), upstream: "hanging", body: broken() });
  await flushPromises();
  expect(requests.map(({ deprioritized }) => deprioritized && [...deprioritized])).toEqual([undefined, ["hanging"]]);
  pending.shift()!.resolve(response(finalAnswer('{"root":"0x01"}')));
  expect(textOf(await answer)).toContain("0x01");
});

it("drops final answers after a revert behind finality", async () => {
  const { reader, read, requests, pending, health } = open();
  await read(FINAL);
  health.finalityReverts++;
  await read(FINAL);
  expect(requests).toHaveLength(2);
  expect((await read(FINAL)).cachedIn).toBe("memory");
  const other = methodCall("get_v1_beacon_states_root", { state_id: ROOT.replace("0x", "0x1").slice(0, -1) });
  const early = reader.read(other);
  await flushPromises();
  health.finalityReverts++;
  pending.shift()!.resolve(response(finalAnswer('{"root":"0x01"}')));
  await early;
  expect((await read(other)).cachedIn).toBeUndefined();
});

it("fetches again after a change of head, status or head floor, or after a slot", async () => {
  const { read, requests, revision, health, timers } = open();
  const asksFor = async (asking: UpstreamCall) => {
    const before = requests.length;
    await read(asking);
    return requests.length > before;
  };
  const all = async () => [await asksFor(HEAD), await asksFor(STATUS), await asksFor(SPEC)];
  expect(await all()).toEqual([true, true, true]);
  expect(await all()).toEqual([false, false, false]);
  revision[1]!++;
  expect(await all()).toEqual([false, true, false]);
  revision[0]!++;
  expect(await all()).toEqual([true, false, false]);
  await timers.advance(500);
  health.headFloor++;
  expect(await all()).toEqual([true, true, false]);
  await timers.advance(5_999);
  expect(await all()).toEqual([false, false, false]);
  await timers.advance(1);
  expect(await all()).toEqual([true, true, false]);
  await timers.advance(180_000);
  expect(await all()).toEqual([true, true, true]);
});

it("does not cache an answer from before a head change", async () => {
  const { reader, read, requests, pending, revision } = open();
  const early = reader.read(HEAD);
  await flushPromises();
  revision[0]!++;
  const late = reader.read(HEAD);
  await flushPromises();
  expect(requests).toHaveLength(2);
  pending.shift()!.resolve(response('{"data":"before"}'));
  pending.shift()!.resolve(response('{"data":"after"}'));
  expect([textOf(await early), textOf(await late)]).toEqual(['{"data":"before"}', '{"data":"after"}']);
  expect(textOf(await read(HEAD))).toBe('{"data":"after"}');
});

it("does not cache an answer about an earlier head than announced", async () => {
  const header = methodCall("get_v1_beacon_headers_blockId", { block_id: "head" });
  const headerOf = (slot: number) => `{"data":{"root":"0x01","header":{"message":{"slot":"${slot}"}}}}`;
  const head = { slot: 12, root: ROOT };
  const all: UpstreamHealth[] = [{ upstream: "first", state: "ready", reasons: [], head }];
  const health = { all, headFloor: 11, finalityReverts: 0 };
  const { read, revision } = open({ health });
  revision[0]!++;
  for (const slot of [10, 11, 12]) expect(textOf(await read(header, headerOf(slot)))).toBe(headerOf(slot));
  expect((await read(header)).cachedIn).toBe("memory");
  health.all = [];
  health.headFloor = 13;
  for (const slot of [12, 13]) expect(textOf(await read(header, headerOf(slot)))).toBe(headerOf(slot));
  expect((await read(header)).cachedIn).toBe("memory");
});

it("caches an answer without a slot for half a second after a head change", async () => {
  const { read, revision, timers } = open();
  const root = methodCall("get_v1_beacon_states_root", { state_id: "head" });
  revision[0]!++;
  await read(root);
  await timers.advance(499);
  expect((await read(root)).cachedIn).toBe("memory");
  await timers.advance(1);
  expect((await read(root)).cachedIn).toBeUndefined();
  await timers.advance(5_999);
  expect((await read(root)).cachedIn).toBe("memory");
});

it("caches neither errors nor uncacheable methods", async () => {
  const { reader, requests, pending } = open();
  const peers = methodCall("get_v1_node_peers");
  for (const [asking, status] of [
    [FINAL, 404],
    [FINAL, 200],
    [peers, 200],
    [peers, 200],
  ] as const) {
    const answer = reader.read(asking);
    await flushPromises();
    pending.shift()!.resolve(response(finalAnswer("{}"), { status }));
    expect((await answer).status).toBe(status);
  }
  expect(requests).toHaveLength(4);
});

it("distinguishes formats and bodies", async () => {
  const { read, requests } = open();
  const validators = (body: string, format: "json" | "ssz" = "json") =>
    methodCall("post_v1_beacon_states_stateId_validators", { state_id: ROOT }, { body, format });
  for (const asking of [validators("[1]"), validators("[2]"), validators("[2]", "ssz"), validators("[1]")]) {
    await read(asking);
  }
  expect(requests).toHaveLength(3);
});

it("shares one fetch between concurrent callers, also an error", async () => {
  const { reader, requests, pending } = open();
  const all = Array.from({ length: 100 }, () => reader.read(FINAL));
  await flushPromises();
  expect(requests).toHaveLength(1);
  pending.shift()!.reject(new Error("refused"));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(Array(100).fill("rejected"));
  const next = reader.read(FINAL);
  await flushPromises();
  pending.shift()!.resolve(response(finalAnswer("{}")));
  expect(textOf(await next)).toBe(finalAnswer("{}"));
});

it("cancels a shared fetch when all callers have cancelled", async () => {
  const { reader, requests } = open();
  const [first, second] = [new AbortController(), new AbortController()];
  const fetch = ({ signal }: AbortController) =>
    reader.read(methodCall("get_v1_beacon_headers", {}, { signal })).catch(() => {});
  void fetch(first);
  void fetch(second);
  await flushPromises();
  first.abort();
  expect(requests[0]!.cancellation.signal.aborted).toBe(false);
  second.abort();
  expect(requests[0]!.cancellation.signal.aborted).toBe(true);
  void fetch(new AbortController());
  await flushPromises();
  expect(requests).toHaveLength(2);
});

it("buffers a short stream, and gives a long one to the first caller only", async () => {
  const { reader, requests, pending } = open();
  const answer = finalAnswer(`"${"5".repeat(3000)}"`);
  const both = [reader.read(FINAL), reader.read(FINAL)];
  await flushPromises();
  pending.shift()!.resolve(response(inChunks(answer.slice(0, 1000), answer.slice(1000))));
  expect((await Promise.all(both)).map(textOf)).toEqual([answer, answer]);
  expect(requests).toHaveLength(1);

  const long = [HEAD, HEAD, HEAD].map((asking) => reader.read(asking));
  await flushPromises();
  const chunks = ["{", "5".repeat(4000), "6".repeat(4000), "}"];
  pending.shift()!.resolve(response(inChunks(...chunks)));
  await flushPromises();
  expect(pending).toHaveLength(2);
  for (const { resolve } of pending.splice(0)) resolve(response("{}"));
  const [first, ...others] = await Promise.all(long);
  const received: Buffer[] = [];
  for await (const chunk of first!.body as AsyncIterable<Buffer>) received.push(chunk);
  expect(String(Buffer.concat(received))).toBe(chunks.join(""));
  expect(others.map(textOf)).toEqual(["{}", "{}"]);
});

it("buffers a long stream only if it has a Content-Length", async () => {
  const { reader, pending } = open({ settings: { memoryBytes: 256 * 1024 * 1024, quorum: 1, validation: false } });
  const chunk = Buffer.alloc(1024 * 1024, "5");
  const chunks = [Buffer.from('{"data":"'), ...Array.from({ length: 6 }, () => chunk), Buffer.from('"}')];
  const length = Buffer.concat(chunks).length;
  const answered = async (headers: Record<string, string>) => {
    let sent = 0;
    async function* stream() {
      for (const each of chunks) {
        sent += each.length;
        yield each;
      }
    }
    const answer = reader.read(HEAD);
    await flushPromises();
    pending.shift()!.resolve(response(stream(), { headers: { "content-type": "application/json", ...headers } }));
    return { isBuffered: Buffer.isBuffer((await answer).body), sent };
  };
  const untold = await answered({});
  expect(untold.isBuffered).toBe(false);
  expect(untold.sent).toBeLessThan(length);
  expect(await answered({ "content-length": String(length) })).toEqual({ isBuffered: true, sent: length });
});

it("ends a stream when its reader stops early", async () => {
  const { reader, pending } = open();
  let isOver = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(3000);
    } finally {
      isOver = true;
    }
  }
  const answer = reader.read(FINAL);
  await flushPromises();
  pending.shift()!.resolve(response(endless()));
  for await (const chunk of (await answer).body as AsyncIterable<Buffer>) {
    expect(chunk).toHaveLength(3000);
    break;
  }
  expect(isOver).toBe(true);
});

it("stops buffering when the caller cancels", async () => {
  const { reader, pending } = open();
  const ended = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const next = Promise.withResolvers<IteratorResult<Buffer>>();
  const stuck = {
    next: () => {
      read.resolve();
      return next.promise;
    },
    return: async () => {
      ended.resolve();
      next.resolve({ done: true, value: undefined });
      return { done: true as const, value: undefined };
    },
    [Symbol.asyncIterator]: () => stuck,
  };
  const leaving = new AbortController();
  const answer = reader.read({ ...FINAL, cancellation: { signal: leaving.signal } });
  await flushPromises();
  pending.shift()!.resolve(response(stuck));
  await read.promise;
  leaving.abort(new Error("left"));
  await ended.promise;
  await expect(answer).rejects.toThrow("left");
});

it("fails when a stream breaks off while it is buffered", async () => {
  const { reader, pending } = open();
  const answer = reader.read(FINAL);
  await flushPromises();
  pending.shift()!.resolve(
    response(
      (async function* () {
        yield Buffer.from("{");
        throw new Error("cut off");
      })(),
    ),
  );
  await expect(answer).rejects.toThrow("cut off");
});

it("distinguishes request headers", async () => {
  const { reader, requests, pending } = open();
  const asks = (headers: Record<string, string>) => ({ ...HEAD, request: { ...HEAD.request, headers } });
  const sent: Record<string, string>[] = [{ accept: "application/json" }, { accept: "*/*" }, { "eth-x": "none" }];
  const answers = sent.map((headers) => reader.read(asks(headers)));
  await flushPromises();
  expect(requests).toHaveLength(2);
  pending.shift()!.resolve(response('{"data":[]}'));
  pending.shift()!.resolve(response('{"message":"There is no such fork."}', { status: 400 }));
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 400]);
});

it("bounds the memory of bodies being buffered, and streams the others", async () => {
  // Bodies of 16 KiB may be cached, and four of them may be in flight.
  const { reader, pending } = open({ settings: { memoryBytes: 256 * 1024, quorum: 1, validation: false } });
  const hold = Promise.withResolvers<void>();
  async function* slowly() {
    yield Buffer.alloc(16 * 1024, " ");
    await hold.promise;
  }
  const answers = Array.from({ length: 6 }, (_, slot) =>
    reader.read(methodCall("get_v1_beacon_states_root", { state_id: `0x${String(slot).padStart(64, "0")}` })),
  );
  await flushPromises();
  for (const { resolve } of pending) resolve(response(slowly()));
  const first = await Promise.race(answers.map(async (answer, index) => ({ index, body: (await answer).body })));
  expect(Buffer.isBuffer(first.body)).toBe(false);
  expect(first.index).toBeGreaterThanOrEqual(4);
  hold.resolve();
  const bodies = (await Promise.all(answers)).map(({ body }) => Buffer.isBuffer(body));
  expect(bodies).toEqual([true, true, true, true, false, false]);
});

it("counts the overhead of an entry", async () => {
  const { reader, requests, pending } = open();
  const headers = { "eth-x": "y".repeat(14_000), server: "z".repeat(1e6) };
  const fetch = async (slot: number) => {
    const answer = reader.read(
      methodCall("get_v1_beacon_states_root", { state_id: `0x${String(slot).padStart(64, "0")}` }),
    );
    await flushPromises();
    pending.shift()?.resolve(response(finalAnswer('{"root":"0x01"}'), { headers }));
    return answer;
  };
  for (const slot of [1, 2, 3, 4, 5, 5, 1]) await fetch(slot);
  expect(requests).toHaveLength(6);
});
