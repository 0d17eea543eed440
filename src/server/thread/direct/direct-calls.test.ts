import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { Failure } from "../../../errors/failure.ts";
import { JsonParseError } from "../../../json/parse.ts";
import type { Cancellation, Params } from "../../method-table.ts";
import { SERVER_ERRORS } from "../messages/errors.ts";
import { DirectCalls } from "./direct-calls.ts";
import { type ServedMethod, serveMethods } from "./serve-methods.ts";

const LIMIT_MS = 5000;
const GRACE_MS = 1000;
const TIMEOUT = new Failure("rejected", "execution aborted", { rpc: { code: -32000 } });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return () => vi.useRealTimers();
});

/** Sets up a method that `handle` serves at the other end of a port. */
function connect(handle: ServedMethod["call"], lane = { running: 2, waiting: 1 }) {
  const method = { limitMs: LIMIT_MS, timeout: SERVER_ERRORS.serialize(TIMEOUT) };
  const methods = [
    { ...method, name: "test_call", isShort: false },
    { ...method, name: "test_read", isShort: true },
  ];
  const calls = new DirectCalls({ methods, lane, graceMs: GRACE_MS });
  const stuck: string[] = [];
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const isCacheable = (params: Params) => Array.isArray(params) && params[0] === "cacheable";
  serveMethods(port2, new Map([["test_call", { call: handle, isCacheable }]]));
  const open = () => calls.connect(port1, (name) => stuck.push(name));
  const call = async (params: string, cancellation?: Cancellation) => {
    const result = await calls.call({ method: "test_call", params, isIrregular: undefined }, cancellation);
    return result && { ...result, json: result.json.toString() };
  };
  return { calls, open, call, stuck, end: () => port2.close() };
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** A caller that leaves when the test tells it to. */
function leavingCaller() {
  const controller = new AbortController();
  let listener: ((reason: Failure) => void) | undefined;
  const cancellation: Cancellation = {
    signal: controller.signal,
    onAbort: (added) => {
      listener = added;
      return () => {
        listener = undefined;
      };
    },
  };
  return { cancellation, leave: (reason: Failure) => listener?.(reason) };
}

it("answers calls of its methods at the other end once it is connected", async () => {
  const { calls, open, call } = connect(async (params) => encode(params));
  expect(calls.accepts("test_call")).toBe(false);
  open();
  expect([calls.accepts("test_call"), calls.accepts("test_other")]).toEqual([true, false]);
  const large = JSON.stringify(["é".repeat(10_000)]);
  expect(await Promise.all([call('[1,"a"]'), call('["cacheable"]'), call(large)])).toEqual([
    { json: '[1,"a"]', isCacheable: false },
    { json: '["cacheable"]', isCacheable: true },
    { json: large, isCacheable: false },
  ]);
  expect(calls.load).toEqual({ running: 0, waiting: 0, rejected: 0 });
});

it("accepts short calls while no others run", async () => {
  const release = Promise.withResolvers<void>();
  const { calls, open, call } = connect(async (params) => {
    await release.promise;
    return encode(params);
  });
  expect(calls.accepts("test_read")).toBe(false);
  open();
  expect(calls.accepts("test_read")).toBe(true);
  const called = call("[1]");
  expect([calls.accepts("test_read"), calls.accepts("test_call")]).toEqual([false, true]);
  release.resolve();
  await called;
  expect(calls.accepts("test_read")).toBe(true);
});

it("passes on failures with their class, also of parameters that are no JSON", async () => {
  const { open, call } = connect(async () => {
    throw new Failure("rejected", "execution reverted", { rpc: { code: 3, data: "0x" } });
  });
  open();
  const failure = await call("[]").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({ message: "execution reverted", rpc: { code: 3, data: "0x" } });
  await expect(call("[1,")).rejects.toBeInstanceOf(JsonParseError);
});

it("leaves pending calls to the main thread when the connection closes", async () => {
  const { calls, open, call, end } = connect(() => new Promise(() => {}));
  open();
  const pending = call("[]");
  end();
  expect(await pending).toBeUndefined();
  expect(calls.accepts("test_call")).toBe(false);
});

it("rejects calls at their time limit, and reports those that do not end then", async () => {
  const answers: ((json: Uint8Array) => void)[] = [];
  const { open, call, stuck } = connect(() => new Promise((resolve) => answers.push(resolve)));
  open();
  const ended = call("[1]");
  const endless = call("[2]");
  await expect.poll(() => answers.length).toBe(2);
  vi.advanceTimersByTime(LIMIT_MS);
  for (const pending of [ended, endless]) await expect(pending).rejects.toMatchObject({ message: "execution aborted" });
  answers[0]!(encode(1));
  // The answer to a later call arrives after the answer to this call.
  const third = call("[3]");
  await expect.poll(() => answers.length).toBe(3);
  answers[2]!(encode(3));
  expect(await third).toMatchObject({ json: "3" });
  vi.advanceTimersByTime(GRACE_MS);
  expect(stuck).toEqual(["test_call"]);
});

it("cancels a call whose caller has left", async () => {
  let reason: unknown;
  const { open, call, stuck } = connect(async (params, signal) => {
    if (Array.isArray(params) && params.length > 0) return encode("answered");
    await once(signal, "abort");
    reason = signal.reason;
    throw signal.reason;
  });
  open();
  const { cancellation, leave } = leavingCaller();
  const pending = call("[]", cancellation);
  const left = new Failure("unavailable", "The client has left.");
  leave(left);
  await expect(pending).rejects.toBe(left);
  // The answer to this call arrives after the answer to the cancelled call.
  await call("[1]");
  expect(reason).toMatchObject({ message: "The client has left." });
  vi.advanceTimersByTime(GRACE_MS);
  expect(stuck).toEqual([]);
});

it("runs and queues as many calls as its lane allows", async () => {
  const answers: (() => void)[] = [];
  const { calls, open, call } = connect(() => new Promise((resolve) => answers.push(() => resolve(encode("done")))), {
    running: 1,
    waiting: 1,
  });
  open();
  const pending = [call("[]"), call("[]")];
  await expect(call("[]")).rejects.toMatchObject({ kind: "overloaded" });
  expect(calls.load).toEqual({ running: 1, waiting: 1, rejected: 1 });
  await expect.poll(() => answers.length).toBe(1);
  answers[0]!();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]!();
  expect(await Promise.all(pending)).toMatchObject([{ json: '"done"' }, { json: '"done"' }]);
});
