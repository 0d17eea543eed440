import { afterEach, describe, expect, it, vi } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { createSignal } from "../../../test/support/server/http/http.ts";
import {
  json,
  openTestServer,
  requestText,
  type TestServer,
  type TestServerOptions,
} from "../../../test/support/server/jsonrpc/server.ts";
import { Deadline } from "../http/deadline.ts";
import { createExecutor } from "./execute.ts";

const servers: TestServer[] = [];
const open = async (options?: TestServerOptions) => {
  const server = await openTestServer(options);
  servers.push(server);
  return server;
};
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const notification = (members: Record<string, string> = {}) => requestText({ ...members, id: undefined });

describe("batches", () => {
  it.each<[situation: string, body: string, answer: unknown]>([
    [
      "answers stand in request order, streamed ones in their place",
      `[${requestText({ id: '"a"' })},${requestText({ method: '"stream"', id: "2" })},${requestText({ id: "3" })}]`,
      [
        { jsonrpc: "2.0", id: "a", result: [] },
        { jsonrpc: "2.0", id: 2, result: [1, 2, 3] },
        { jsonrpc: "2.0", id: 3, result: [] },
      ],
    ],
    [
      "equal ids are both answered",
      `[${requestText({ params: "[1]" })},${requestText({ params: "[2]" })}]`,
      [
        { jsonrpc: "2.0", id: 1, result: [1] },
        { jsonrpc: "2.0", id: 1, result: [2] },
      ],
    ],
    [
      "notifications have no entry",
      `[${notification()},${requestText({})},${notification({ method: '"no"' })}]`,
      [{ jsonrpc: "2.0", id: 1, result: [] }],
    ],
    [
      "metadata is given where it is asked for",
      `[${requestText({ method: '"described"', meta: "true" })},${requestText({ method: '"stream"', meta: "true" })}]`,
      [
        { jsonrpc: "2.0", id: 1, result: "block", meta: { version: "deneb", finalized: false } },
        { jsonrpc: "2.0", id: 1, result: [1, 2, 3], meta: { streamed: true } },
      ],
    ],
  ])("%s", async (_situation, body, answer) => {
    const server = await open();
    const received = await server.post(body);
    expect(received.status).toBe(200);
    expect(received.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(received.text)).toEqual(answer);
  });

  it("invalid elements get an error entry each", async () => {
    const server = await open();
    const crash = requestText({ id: "2", method: '"crash"' });
    const broken = requestText({ id: "3", method: '"early_break"' });
    const received = await server.post(`[1,null,[],${crash},1.5,${broken},${requestText({ id: "4" })}]`);
    const outcomes = JSON.parse(received.text).map(({ id, error }: { id: unknown; error?: { code: number } }) => [
      id,
      error?.code,
    ]);
    expect(outcomes).toEqual([
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [2, -32603],
      [null, -32600],
      [3, -32002],
      [4, undefined],
    ]);
  });

  it("only the first unknown method of a batch gets a suggestion", async () => {
    const server = await open({ suggest: () => "echo" });
    const received = await server.post(`[${requestText({ method: '"ecko"' })},${requestText({ method: '"ecko"' })}]`);
    expect(JSON.parse(received.text).map(({ error }: { error: { message: string } }) => error.message)).toEqual([
      'The method "ecko" does not exist. Did you mean "echo"?',
      'The method "ecko" does not exist.',
    ]);
  });

  it("no call of a batch starts after the client has disconnected", async () => {
    const find = vi.fn(() => undefined);
    const suggest = vi.fn(() => undefined);
    const execute = createExecutor({
      table: { find, suggest },
      logger: createRecordingLogger(),
      batchLength: 1000,
      batchBytes: 1000,
      server: "json-rpc",
    });
    const deadline = new Deadline(1000);
    deadline.cancel();
    await execute(
      Buffer.from(
        `[${Array(100)
          .fill(notification({ method: '"ecko"' }))
          .join(",")}]`,
      ),
      deadline,
    );
    expect(find).not.toHaveBeenCalled();
    expect(suggest).not.toHaveBeenCalled();
  });

  it("a thousand elements are answered", async () => {
    const server = await open();
    const requests = Array.from({ length: 1000 }, (_, id) => requestText({ id: String(id), params: `[${id}]` }));
    const answers = JSON.parse((await server.post(`[${requests.join(",")}]`)).text);
    expect(answers).toEqual(Array.from({ length: 1000 }, (_, id) => ({ jsonrpc: "2.0", id, result: [id] })));
  });

  it("large batches and batches with large elements are answered like others", async () => {
    const server = await open();
    const params = [100, 70_000, 2_000_000, 10].map((length) => "x".repeat(length));
    const requests = params.map((text, id) => requestText({ id: String(id), params: `["${text}"]` }));
    const unknown = requestText({ id: "9", method: '"ecko"', params: `["${"x".repeat(70_000)}"]` });
    const received = await server.post(` [${requests.join(", ")},7,[],${unknown},${notification()}]`);
    const answers = JSON.parse(received.text) as { id: unknown; result?: [string]; error?: { code: number } }[];
    expect(answers.slice(0, 4).map(({ id, result }) => [id, result?.[0]])).toEqual([...params.entries()]);
    expect(answers.slice(4).map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32600],
      [null, -32600],
      [9, -32601],
    ]);
  });

  it("a large batch with invalid JSON runs nothing", async () => {
    let calls = 0;
    const server = await open({ handlers: { counted: async () => json(++calls) } });
    const counted = requestText({ method: '"counted"', params: `["${"x".repeat(70_000)}"]` });
    for (const body of [`[${counted},${counted}`, `[${counted} ${counted}]`, `[${counted},{"a":}]`]) {
      expect(JSON.parse((await server.post(body)).text)).toMatchObject({ id: null, error: { code: -32700 } });
    }
    expect(calls).toBe(0);
  });

  it("a batch over the limit runs nothing", async () => {
    let calls = 0;
    const count = async () => json(++calls);
    const server = await open({ handlers: { count }, limits: { batchLength: 2 } });
    const body = (length: number) =>
      `[${Array(length)
        .fill(requestText({ method: '"count"' }))
        .join(",")}]`;
    const refused = JSON.parse((await server.post(body(3))).text);
    expect(refused.id).toBeNull();
    expect(refused.error).toMatchObject({
      code: -32005,
      message: "The batch has 3 requests, the limit is 2. Split it, or raise --max-batch-calls.",
    });
    expect(calls).toBe(0);
    await server.post(body(2));
    expect(calls).toBe(2);
  });

  it("reads run concurrently and are answered in request order", async () => {
    const second = createSignal();
    const server = await open({
      handlers: {
        first: async () => {
          await second.promise;
          return json("first");
        },
        second: async () => {
          second.trigger();
          return json("second");
        },
      },
    });
    const received = await server.post(
      `[${requestText({ method: '"first"' })},${requestText({ method: '"second"' })}]`,
    );
    expect(JSON.parse(received.text).map(({ result }: { result: string }) => result)).toEqual(["first", "second"]);
  });

  it("submissions run sequentially in request order, concurrently with reads", async () => {
    const events: string[] = [];
    const read = createSignal();
    const server = await open({
      handlers: {
        submit: async (params) => {
          const [name] = params as [string];
          events.push(`${name} starts`);
          await read.promise;
          // A submission that wrongly runs concurrently would get its turn here.
          await new Promise(setImmediate);
          events.push(`${name} ends`);
          if (name === "a") throw new Error("a fails");
          return json(true);
        },
        read: async () => {
          events.push("read");
          read.trigger();
          return json(1);
        },
      },
      submissions: ["submit"],
    });
    const submit = (name: string) => ({ method: '"submit"', params: `["${name}"]` });
    await server.post(
      `[${requestText(submit("a"))},${notification(submit("b"))},${requestText(submit("c"))},${requestText({ method: '"read"' })}]`,
    );
    expect(events.filter((event) => event !== "read")).toEqual([
      "a starts",
      "a ends",
      "b starts",
      "b ends",
      "c starts",
      "c ends",
    ]);
    expect(events.indexOf("read")).toBeLessThan(events.indexOf("a ends"));
  });
});

describe("notifications", () => {
  it.each<[situation: string, body: string]>([
    ["one", notification()],
    ["of an unknown method", notification({ method: '"no"' })],
    ["that fails", notification({ method: '"crash"' })],
    ["with metadata asked for", notification({ method: '"described"', meta: "true" })],
    ["a batch of them", `[${notification()},${notification()}]`],
  ])("%s: 204 and no body", async (_situation, body) => {
    const server = await open();
    const received = await server.post(body);
    expect(received.status).toBe(204);
    expect(received.text).toBe("");
  });

  it("are run", async () => {
    const run = createSignal();
    const server = await open({
      handlers: {
        run: async () => {
          run.trigger();
          return json(null);
        },
      },
    });
    await server.post(notification({ method: '"run"' }));
    await run.promise;
  });

  it("close a streamed result unread", async () => {
    const left = createSignal();
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error("Nobody wants this stream.")),
        return: async () => {
          left.trigger();
          return { done: true as const, value: undefined };
        },
      }),
    };
    const server = await open({ handlers: { stream: async () => ({ body }) } });
    expect((await server.post(notification({ method: '"stream"' }))).status).toBe(204);
    await left.promise;
  });
});

describe("the time limit", () => {
  it("turns a slow call into a server error", async () => {
    const server = await open({ limits: { requestMillis: 20 } });
    const { error } = JSON.parse((await server.post(requestText({ method: '"never"' }))).text);
    expect(error.code).toBe(-32000);
    expect(error.message).toBe("The call exceeded its time limit of 20 ms.");
    expect(error.data).toEqual({ status: 500 });
  });

  it("applies to a batch as a whole: finished calls are answered, queued submissions do not run", async () => {
    const started: unknown[] = [];
    const server = await open({
      handlers: {
        submit: (params) => {
          started.push(params);
          return new Promise(() => {});
        },
      },
      submissions: ["submit"],
      limits: { requestMillis: 20 },
    });
    const submit = (n: number) => requestText({ id: String(n), method: '"submit"', params: `[${n}]` });
    const answers = JSON.parse((await server.post(`[${submit(1)},${submit(2)},${requestText({ id: "3" })}]`)).text);
    expect(answers.map(({ error }: { error?: { code: number } }) => error?.code)).toEqual([-32000, -32000, undefined]);
    // Only the call that is running may still take effect.
    expect(answers.slice(0, 2).map(({ error }: { error: { data: object } }) => error.data)).toEqual([
      { status: 500, detail: "It may still take effect." },
      { status: 500 },
    ]);
    expect(started).toEqual([[1]]);
  });

  it("applies to the first byte of a stream, which is closed", async () => {
    const firstByte = createSignal();
    const left = createSignal();
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          await firstByte.promise;
          return { done: false as const, value: Buffer.from("1") };
        },
        return: async () => {
          left.trigger();
          return { done: true as const, value: undefined };
        },
      }),
    };
    const server = await open({ handlers: { slow: async () => ({ body }) }, limits: { requestMillis: 20 } });
    const { error } = JSON.parse((await server.post(requestText({ method: '"slow"' }))).text);
    expect(error.code).toBe(-32000);
    firstByte.trigger();
    await left.promise;
  });
});
