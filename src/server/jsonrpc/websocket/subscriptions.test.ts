import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { Channel } from "../../../../test/support/server/events/channel.ts";
import { createSignal } from "../../../../test/support/server/http/http.ts";
import { json, openTestServer, type TestServerOptions } from "../../../../test/support/server/jsonrpc/server.ts";
import { Client, numberOf } from "../../../../test/support/server/jsonrpc/websocket/client.ts";
import type { Caller } from "../../method-table.ts";

/** Opens a server with a method `subscribe` that opens the channel's feed. */
async function serveChannel(channel: Channel, options: TestServerOptions = {}) {
  const server = await openTestServer({
    ...options,
    handlers: {
      subscribe: async (_params, caller) => json(caller?.subscribe(channel.feed)),
      unsubscribe: async (params, caller) => json(caller?.unsubscribe((params as [string])[0])),
      ...options.handlers,
    },
  });
  return server;
}

it("sends events in order with the subscription id", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  expect(id).toMatch(/^0x[0-9a-f]{16}$/);

  for (let number = 0; number < 1000; number++) channel.publish({ number }, number % 2 ? "block" : "head");

  const received = await client.notifications.take(1000);
  expect(received).toEqual(
    Array.from({ length: 1000 }, (_, number) => ({
      subscription: id,
      topic: number % 2 ? "block" : "head",
      data: { number },
    })),
  );
  await server.close();
});

it("sends notifications in the documented format with unchanged data", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  await client.messages.next();

  channel.publish({ slot: "10", text: "é" });

  expect(await client.messages.next()).toBe(
    `{"jsonrpc":"2.0","method":"subscription","params":{"subscription":"${id}","topic":"head","data":{"slot":"10","text":"é"}}}`,
  );
  await server.close();
});

it("sends the response with the id before the first event", async () => {
  const channel = new Channel();
  const go = createSignal();
  const server = await serveChannel(channel, {
    handlers: {
      subscribe: async (_params, caller) => {
        const id = caller?.subscribe(channel.feed);
        channel.publish({ number: 1 });
        await go.promise;
        return json(id);
      },
    },
  });
  const client = await Client.connect(server.url);
  const answer = client.call("subscribe");
  await client.call("echo");
  channel.publish({ number: 2 });
  go.trigger();
  const { result } = await answer;
  channel.publish({ number: 3 });

  await client.messages.next();
  expect(await client.messages.next()).toBe(`{"jsonrpc":"2.0","id":1,"result":"${result}"}`);
  expect((await client.notifications.take(3)).map(numberOf)).toEqual([1, 2, 3]);
  await server.close();
});

it("ends a subscription whose buffer overflows before the response", async () => {
  const channel = new Channel();
  const go = createSignal();
  const server = await serveChannel(channel, {
    webSocketLimits: { eventBytes: 1000 },
    handlers: {
      subscribe: async (_params, caller) => {
        const id = caller?.subscribe(channel.feed);
        await go.promise;
        return json(id);
      },
    },
  });
  const client = await Client.connect(server.url);
  const answer = client.call("subscribe");
  await client.call("echo");
  const published = await channel.publishUntilDisconnected(200);
  go.trigger();
  const { result } = await answer;
  const notifications = await client.notifications.take(1);
  while (!notifications.at(-1)?.error) notifications.push(await client.notifications.next());
  expect(published).toBe(5);
  expect(notifications.at(-1)).toMatchObject({ subscription: result, error: { code: -32005 } });
  expect(notifications.slice(0, -1).map(numberOf)).toEqual([0, 1]);
  await server.close();
});

it("separates two subscriptions of a connection", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  const ids = [await client.subscribe(), await client.subscribe()];
  channel.publish(1);
  expect((await client.notifications.take(2)).map(({ subscription }) => subscription)).toEqual(ids);
  await server.close();
});

it("sends nothing after unsubscribe, and cannot unsubscribe others", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const [client, other] = [await Client.connect(server.url), await Client.connect(server.url)];
  const id = await client.subscribe();
  const staying = await client.subscribe();

  expect(await other.call("unsubscribe", id)).toMatchObject({ result: false });
  expect(await client.call("unsubscribe", id)).toMatchObject({ result: true });
  expect(await client.call("unsubscribe", id)).toMatchObject({ result: false });
  channel.publish(1);

  expect(await client.notifications.next()).toMatchObject({ subscription: staying });
  await client.call("echo");
  expect(client.notifications.left).toBe(0);
  expect(channel.readers).toBe(1);
  await server.close();
});

it("closes subscriptions with their connection", async () => {
  const gone = createSignal();
  const server = await openTestServer({
    handlers: {
      subscribe: async (_params, caller) => json(caller?.subscribe({ topics: [], open: () => gone.trigger })),
    },
  });
  const client = await Client.connect(server.url);
  await client.subscribe();
  client.socket.terminate();
  await gone.promise;
  await server.close();
});

it("rejects subscribing after the connection has closed", async () => {
  const channel = new Channel();
  const called = createSignal();
  const go = createSignal();
  const refused = Promise.withResolvers<unknown>();
  const subscribeLate = async (_params: unknown, caller?: Caller) => {
    called.trigger();
    await go.promise;
    try {
      return json(caller?.subscribe(channel.feed));
    } catch (error) {
      refused.resolve(error);
      throw error;
    }
  };
  const isGone = createSignal();
  const server = await serveChannel(channel, {
    handlers: {
      late: subscribeLate,
      witness: async (_params, caller) => json(caller?.subscribe({ topics: [], open: () => isGone.trigger })),
    },
  });
  const client = await Client.connect(server.url);
  await client.call("witness");
  void client.call("late");
  await called.promise;
  client.socket.terminate();
  await isGone.promise;
  go.trigger();
  expect(await refused.promise).toMatchObject({ kind: "unavailable" });
  expect(channel.readers).toBe(0);
  await server.close();
});

it("ends the subscription of a slow reader with an error, and lets it resubscribe", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel, { webSocketLimits: { eventBytes: 256 * 1024 } });
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  client.socket.pause();

  const published = await channel.publishUntilDisconnected(32 * 1024);
  client.socket.resume();

  const received = await client.notifications.take(published);
  const last = received.pop();
  expect(received.map(numberOf)).toEqual(Array.from({ length: published - 1 }, (_, n) => n));
  expect(last).toEqual({
    subscription: id,
    error: { code: -32005, message: expect.stringContaining("reads too slowly"), data: { status: 413 } },
  });
  expect(await client.call("unsubscribe", id)).toMatchObject({ result: false });
  const again = await client.subscribe();
  channel.publish(1);
  expect(await client.notifications.next()).toMatchObject({ subscription: again, data: 1 });
  await server.close();
});

it("sends an error to readers disconnected on overload", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  channel.publish(1);
  channel.disconnectAll();
  expect(channel.readers).toBe(0);
  expect(await client.notifications.take(2)).toEqual([
    { subscription: id, topic: "head", data: 1 },
    {
      subscription: id,
      error: { code: -32005, message: expect.stringContaining("more subscribers than"), data: { status: 413 } },
    },
  ]);
  await server.close();
});

it("limits the subscriptions of all clients", async () => {
  const server = await serveChannel(new Channel(), { webSocketLimits: { allSubscriptions: 3 } });
  const [first, second] = [await Client.connect(server.url), await Client.connect(server.url)];
  await first.subscribe();
  const id = await first.subscribe();
  await second.subscribe();
  expect(await second.call("subscribe")).toMatchObject({
    error: { code: -32005, message: expect.stringContaining("3 subscriptions") },
  });
  await first.call("unsubscribe", id);
  await second.subscribe();
  first.socket.terminate();
  await expect.poll(() => second.call("subscribe")).toHaveProperty("result");
  await server.close();
});

it.each([
  ["too far behind", 2 ** 18, 2 ** 15, { code: -32005, message: expect.stringContaining("reads too slowly") }],
  ["not too far behind", 2 ** 30, 2 ** 20, { code: -32002, message: expect.stringContaining("neither read") }],
])(
  "sends the reason to a stalled reader, %s, before it is disconnected",
  async (_where, eventBytes, eachBytes, error) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const channel = new Channel();
    const server = await serveChannel(channel, { webSocketLimits: { eventBytes, pingMillis: 1000 } });
    const client = await Client.connect(server.url);
    const id = await client.subscribe();
    client.socket.pause();
    // More events than the socket buffers can hold.
    for (let number = 0; number < 32 && channel.readers > 0; number++) {
      channel.publish({ number, padding: "x".repeat(eachBytes) });
    }
    for (let check = 0; check < 10 || channel.readers > 0; check++) {
      vi.advanceTimersByTime(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }

    client.socket.resume();
    expect(await client.closed).toEqual({ code: 1008, reason: expect.stringContaining("neither read") });
    const received = await client.notifications.take(client.notifications.left);
    expect(received.pop()).toMatchObject({ subscription: id, error });
    expect(received.length).toBeGreaterThan(0);
    expect(received.map(numberOf)).toEqual(received.map((_, number) => number));
    await server.close();
  },
);

it("does not delay other readers for a slow one", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel, { webSocketLimits: { eventBytes: 256 * 1024 } });
  const [slow, quick] = [await Client.connect(server.url), await Client.connect(server.url)];
  await slow.subscribe();
  await quick.subscribe();
  slow.socket.pause();
  for (let number = 0; channel.readers > 1; number++) {
    channel.publish({ number, padding: "x".repeat(32 * 1024) });
    expect(numberOf(await quick.notifications.next())).toBe(number);
  }
  channel.publish("after");
  expect((await quick.notifications.next()).data).toBe("after");
  slow.socket.terminate();
  await server.close();
});

it("sends events after a fragmented response in progress", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel, {
    handlers: {
      slow: async () => ({
        body: (async function* () {
          yield Buffer.from('["first",');
          // The first fragment is written when the next one is requested.
          channel.publish("during");
          yield Buffer.from('"middle",');
          channel.publish("late");
          yield Buffer.from('"last"]');
        })(),
      }),
    },
  });
  const client = await Client.connect(server.url);
  await client.subscribe();
  expect(await client.call("slow")).toMatchObject({ result: ["first", "middle", "last"] });
  expect((await client.notifications.take(2)).map(({ data }) => data)).toEqual(["during", "late"]);
  await server.close();
});

it("limits the subscriptions of a connection", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel, { webSocketLimits: { subscriptions: 2 } });
  const client = await Client.connect(server.url);
  const first = await client.subscribe();
  await client.subscribe();
  expect(await client.call("subscribe")).toMatchObject({ error: { code: -32005 } });
  await client.call("unsubscribe", first);
  await client.subscribe();
  await server.close();
});

it("rejects subscriptions over HTTP and names the WebSocket URL", async () => {
  const server = await serveChannel(new Channel());
  const answer = JSON.parse((await server.post('{"jsonrpc":"2.0","id":1,"method":"subscribe"}')).text);
  expect(answer.error).toMatchObject({ code: -32004, data: { status: 501 } });
  expect(answer.error.message).toContain(`ws://127.0.0.1:${server.port}`);
  await server.close();
});

it("closes connections with a reason on shutdown", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  await client.subscribe();
  const closed = once(client.socket, "close");
  await server.close();
  await closed;
  expect(await client.closed).toEqual({ code: 1001, reason: "The node is shutting down." });
  expect(channel.readers).toBe(0);
});
