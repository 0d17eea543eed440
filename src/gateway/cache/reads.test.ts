import { expect, it } from "vitest";
import { FakeTimers, flushPromises } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import type { Condition } from "../condition.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import { FACTS, finalAnswer, question, ROOT, response } from "./questions.test-support.ts";
import { Reads, type ReadsOptions } from "./reads.ts";

const FINAL = question("get_v1_beacon_states_root", { state_id: ROOT });
const HEAD = question("get_v1_beacon_headers");
const STATUS = question("get_v1_node_syncing");
const SPEC = question("get_v1_config_spec");

/** Reads before an upstream that answers when the test says so. */
function open(given: Partial<ReadsOptions> = {}) {
  const timers = new FakeTimers();
  const asked: Question[] = [];
  const waiting: PromiseWithResolvers<UpstreamResponse>[] = [];
  const revision = new Int32Array(2);
  const conditions = { all: [], floor: 10, rewinds: 0 };
  const looks: string[] = [];
  const reads = new Reads({
    ask: (question) => {
      asked.push(question);
      const answer = Promise.withResolvers<UpstreamResponse>();
      waiting.push(answer);
      return answer.promise;
    },
    revision,
    facts: FACTS,
    memoryBytes: 64 * 1024,
    conditions,
    timers,
    logger: createRecordingLogger(),
    observer: { looked: (where, found) => looks.push(`${where} ${found}`), cacheIs: () => {} },
    ...given,
  });
  /** Asks, and has an upstream answer if it is asked. */
  const read = async (asking: Question, body = finalAnswer('{"root":"0x01"}')) => {
    const answer = reads.read(asking);
    await flushPromises();
    waiting.shift()?.resolve(response(body));
    return answer;
  };
  return { reads, read, asked, waiting, revision, conditions, timers, looks };
}

const textOf = ({ body }: UpstreamResponse) => String(body);

async function* inChunks(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

it("asks once for what is final, and gives the same object again", async () => {
  const { read, asked, revision, conditions, timers, looks } = open();
  const first = await read(FINAL);
  const second = await read(FINAL);
  revision.fill(1);
  conditions.floor = 11;
  await timers.advance(1e9);
  expect(await read(FINAL)).toBe(second);
  expect([first.kept, second.kept]).toEqual([undefined, "memory"]);
  expect(second.body).toEqual(first.body);
  expect(asked).toHaveLength(1);
  expect(looks).toEqual(["memory false", "memory true", "memory true"]);
});

it("asks another upstream for an answer that breaks off before anybody has seen any of it", async () => {
  const { reads, asked, waiting } = open();
  const answer = reads.read(FINAL);
  await flushPromises();
  async function* broken() {
    yield Buffer.from('{"data":');
    throw new UpstreamError("hanging", "hanging broke off its answer.", { mayHaveArrived: true });
  }
  waiting.shift()!.resolve({ ...response(""), upstream: "hanging", body: broken() });
  await flushPromises();
  expect(asked.map(({ lacking }) => lacking && [...lacking])).toEqual([undefined, ["hanging"]]);
  waiting.shift()!.resolve(response(finalAnswer('{"root":"0x01"}')));
  expect(textOf(await answer)).toContain("0x01");
});

it("keeps nothing of what was final, or asked for, before the chain went back behind it", async () => {
  const { reads, read, asked, waiting, conditions } = open();
  await read(FINAL);
  conditions.rewinds++;
  await read(FINAL);
  expect(asked).toHaveLength(2);
  expect((await read(FINAL)).kept).toBe("memory");
  const other = question("get_v1_beacon_states_root", { state_id: ROOT.replace("0x", "0x1").slice(0, -1) });
  const early = reads.read(other);
  await flushPromises();
  conditions.rewinds++;
  waiting.shift()!.resolve(response(finalAnswer('{"root":"0x01"}')));
  await early;
  expect((await read(other)).kept).toBeUndefined();
});

it("asks again when the head, the status or the floor has changed, and after a slot at the latest", async () => {
  const { read, asked, revision, conditions, timers } = open();
  const asksFor = async (asking: Question) => {
    const before = asked.length;
    await read(asking);
    return asked.length > before;
  };
  const all = async () => [await asksFor(HEAD), await asksFor(STATUS), await asksFor(SPEC)];
  expect(await all()).toEqual([true, true, true]);
  expect(await all()).toEqual([false, false, false]);
  revision[1]!++;
  expect(await all()).toEqual([false, true, false]);
  revision[0]!++;
  expect(await all()).toEqual([true, false, false]);
  await timers.advance(500);
  conditions.floor++;
  expect(await all()).toEqual([true, true, false]);
  await timers.advance(5_999);
  expect(await all()).toEqual([false, false, false]);
  await timers.advance(1);
  expect(await all()).toEqual([true, true, false]);
  await timers.advance(180_000);
  expect(await all()).toEqual([true, true, true]);
});

it("does not keep what the upstream answered before the head changed", async () => {
  const { reads, read, asked, waiting, revision } = open();
  const early = reads.read(HEAD);
  await flushPromises();
  revision[0]!++;
  const late = reads.read(HEAD);
  await flushPromises();
  expect(asked).toHaveLength(2);
  waiting.shift()!.resolve(response('{"data":"before"}'));
  waiting.shift()!.resolve(response('{"data":"after"}'));
  expect([textOf(await early), textOf(await late)]).toEqual(['{"data":"before"}', '{"data":"after"}']);
  expect(textOf(await read(HEAD))).toBe('{"data":"after"}');
});

it("does not keep an answer that tells of an earlier head than its upstream did", async () => {
  const header = question("get_v1_beacon_headers_blockId", { block_id: "head" });
  const told = (slot: number) => `{"data":{"root":"0x01","header":{"message":{"slot":"${slot}"}}}}`;
  const head = { slot: 12, root: ROOT };
  const all: Condition[] = [{ upstream: "first", fitness: "ready", reasons: [], head }];
  const conditions = { all, floor: 11, rewinds: 0 };
  const { read, revision } = open({ conditions });
  revision[0]!++;
  for (const slot of [10, 11, 12]) expect(textOf(await read(header, told(slot)))).toBe(told(slot));
  expect((await read(header)).kept).toBe("memory");
  conditions.all = [];
  conditions.floor = 13;
  for (const slot of [12, 13]) expect(textOf(await read(header, told(slot)))).toBe(told(slot));
  expect((await read(header)).kept).toBe("memory");
});

it("keeps what is answered at once after the head has changed, and does not tell of which it is, for half a second", async () => {
  const { read, revision, timers } = open();
  const root = question("get_v1_beacon_states_root", { state_id: "head" });
  revision[0]!++;
  await read(root);
  await timers.advance(499);
  expect((await read(root)).kept).toBe("memory");
  await timers.advance(1);
  expect((await read(root)).kept).toBeUndefined();
  await timers.advance(5_999);
  expect((await read(root)).kept).toBe("memory");
});

it("keeps neither errors nor what is not to be kept", async () => {
  const { reads, asked, waiting } = open();
  const peers = question("get_v1_node_peers");
  for (const [asking, status] of [
    [FINAL, 404],
    [FINAL, 200],
    [peers, 200],
    [peers, 200],
  ] as const) {
    const answer = reads.read(asking);
    await flushPromises();
    waiting.shift()!.resolve(response(finalAnswer("{}"), { status }));
    expect((await answer).status).toBe(status);
  }
  expect(asked).toHaveLength(4);
});

it("tells apart formats and bodies", async () => {
  const { read, asked } = open();
  const validators = (body: string, format: "json" | "ssz" = "json") =>
    question("post_v1_beacon_states_stateId_validators", { state_id: ROOT }, { body, format });
  for (const asking of [validators("[1]"), validators("[2]"), validators("[2]", "ssz"), validators("[1]")]) {
    await read(asking);
  }
  expect(asked).toHaveLength(3);
});

it("shares one answer among all who ask at the same time, also an error", async () => {
  const { reads, asked, waiting } = open();
  const all = Array.from({ length: 100 }, () => reads.read(FINAL));
  await flushPromises();
  expect(asked).toHaveLength(1);
  waiting.shift()!.reject(new Error("refused"));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(Array(100).fill("rejected"));
  const next = reads.read(FINAL);
  await flushPromises();
  waiting.shift()!.resolve(response(finalAnswer("{}")));
  expect(textOf(await next)).toBe(finalAnswer("{}"));
});

it("goes on as long as somebody waits, and stops asking when nobody does", async () => {
  const { reads, asked } = open();
  const [first, second] = [new AbortController(), new AbortController()];
  const ask = ({ signal }: AbortController) =>
    reads.read(question("get_v1_beacon_headers", {}, { signal })).catch(() => {});
  void ask(first);
  void ask(second);
  await flushPromises();
  first.abort();
  expect(asked[0]!.waiting.signal.aborted).toBe(false);
  second.abort();
  expect(asked[0]!.waiting.signal.aborted).toBe(true);
  void ask(new AbortController());
  await flushPromises();
  expect(asked).toHaveLength(2);
});

it("keeps a stream that is short enough, and gives a longer one to the first who asked while the others ask themselves", async () => {
  const { reads, asked, waiting } = open();
  const answer = finalAnswer(`"${"5".repeat(3000)}"`);
  const both = [reads.read(FINAL), reads.read(FINAL)];
  await flushPromises();
  waiting.shift()!.resolve(response(inChunks(answer.slice(0, 1000), answer.slice(1000))));
  expect((await Promise.all(both)).map(textOf)).toEqual([answer, answer]);
  expect(asked).toHaveLength(1);

  const long = [HEAD, HEAD, HEAD].map((asking) => reads.read(asking));
  await flushPromises();
  const chunks = ["{", "5".repeat(4000), "6".repeat(4000), "}"];
  waiting.shift()!.resolve(response(inChunks(...chunks)));
  await flushPromises();
  expect(waiting).toHaveLength(2);
  for (const { resolve } of waiting.splice(0)) resolve(response("{}"));
  const [first, ...others] = await Promise.all(long);
  const received: Buffer[] = [];
  for await (const chunk of first!.body as AsyncIterable<Buffer>) received.push(chunk);
  expect(String(Buffer.concat(received))).toBe(chunks.join(""));
  expect(others.map(textOf)).toEqual(["{}", "{}"]);
});

it("gathers a long stream only when it tells its length before", async () => {
  const { reads, waiting } = open({ memoryBytes: 256 * 1024 * 1024 });
  const chunk = Buffer.alloc(1024 * 1024, "5");
  const chunks = [Buffer.from('{"data":"'), ...Array.from({ length: 6 }, () => chunk), Buffer.from('"}')];
  const length = Buffer.concat(chunks).length;
  const answered = async (headers: Record<string, string>) => {
    let given = 0;
    async function* stream() {
      for (const each of chunks) {
        given += each.length;
        yield each;
      }
    }
    const answer = reads.read(HEAD);
    await flushPromises();
    waiting.shift()!.resolve(response(stream(), { headers: { "content-type": "application/json", ...headers } }));
    return { isWhole: Buffer.isBuffer((await answer).body), given };
  };
  const untold = await answered({});
  expect(untold.isWhole).toBe(false);
  expect(untold.given).toBeLessThan(length);
  expect(await answered({ "content-length": String(length) })).toEqual({ isWhole: true, given: length });
});

it("ends a stream that was begun when its reader stops early", async () => {
  const { reads, waiting } = open();
  let isOver = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(3000);
    } finally {
      isOver = true;
    }
  }
  const answer = reads.read(FINAL);
  await flushPromises();
  waiting.shift()!.resolve(response(endless()));
  for await (const chunk of (await answer).body as AsyncIterable<Buffer>) {
    expect(chunk).toHaveLength(3000);
    break;
  }
  expect(isOver).toBe(true);
});

it("does not gather a stream for which nobody waits any more", async () => {
  const { reads, waiting } = open();
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
  const answer = reads.read({ ...FINAL, waiting: { signal: leaving.signal } });
  await flushPromises();
  waiting.shift()!.resolve(response(stuck));
  await read.promise;
  leaving.abort(new Error("left"));
  await ended.promise;
  await expect(answer).rejects.toThrow("left");
});

it("fails when a stream breaks off while it is gathered", async () => {
  const { reads, waiting } = open();
  const answer = reads.read(FINAL);
  await flushPromises();
  waiting.shift()!.resolve(
    response(
      (async function* () {
        yield Buffer.from("{");
        throw new Error("cut off");
      })(),
    ),
  );
  await expect(answer).rejects.toThrow("cut off");
});

it("keeps apart what was asked with other headers", async () => {
  const { reads, asked, waiting } = open();
  const asks = (headers: Record<string, string>) => ({ ...HEAD, request: { ...HEAD.request, headers } });
  const sent: Record<string, string>[] = [{ accept: "application/json" }, { accept: "*/*" }, { "eth-x": "none" }];
  const answers = sent.map((headers) => reads.read(asks(headers)));
  await flushPromises();
  expect(asked).toHaveLength(2);
  waiting.shift()!.resolve(response('{"data":[]}'));
  waiting.shift()!.resolve(response('{"message":"There is no such fork."}', { status: 400 }));
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 400]);
});

it("gathers no more bodies at a time than there is room for, and passes on the others as they come", async () => {
  // A body of 16 KiB may be kept, and four of them may be on their way.
  const { reads, waiting } = open({ memoryBytes: 256 * 1024 });
  const hold = Promise.withResolvers<void>();
  async function* slowly() {
    yield Buffer.alloc(16 * 1024, " ");
    await hold.promise;
  }
  const answers = Array.from({ length: 6 }, (_, slot) =>
    reads.read(question("get_v1_beacon_states_root", { state_id: `0x${String(slot).padStart(64, "0")}` })),
  );
  await flushPromises();
  for (const { resolve } of waiting) resolve(response(slowly()));
  const first = await Promise.race(answers.map(async (answer, place) => ({ place, body: (await answer).body })));
  expect(Buffer.isBuffer(first.body)).toBe(false);
  expect(first.place).toBeGreaterThanOrEqual(4);
  hold.resolve();
  const bodies = (await Promise.all(answers)).map(({ body }) => Buffer.isBuffer(body));
  expect(bodies).toEqual([true, true, true, true, false, false]);
});

it("counts what an answer has beside its body", async () => {
  const { reads, asked, waiting } = open();
  const headers = { "eth-x": "y".repeat(14_000), server: "z".repeat(1e6) };
  const ask = async (slot: number) => {
    const answer = reads.read(
      question("get_v1_beacon_states_root", { state_id: `0x${String(slot).padStart(64, "0")}` }),
    );
    await flushPromises();
    waiting.shift()?.resolve(response(finalAnswer('{"root":"0x01"}'), { headers }));
    return answer;
  };
  for (const slot of [1, 2, 3, 4, 5, 5, 1]) await ask(slot);
  expect(asked).toHaveLength(6);
});
