import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { Channel } from "../../events/channel.test-support.ts";
import { createSignal } from "../../http/http.test-support.ts";
import type { Caller } from "../../method-table.ts";
import { json, openTestServer, type TestServerOptions } from "../server.test-support.ts";
import { Client, numberOf } from "./client.test-support.ts";

/** A server whose method `subscribe` leads to the channel. */
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

it("every event arrives, in order, with the id of its subscription", async () => {
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

it("a notification has the form that the interface gives it, and the data's own bytes", async () => {
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

it("the answer with the id comes before the first event, even one that happens during the call", async () => {
  const channel = new Channel();
  const go = createSignal();
  const server = await serveChannel(channel, {
    handlers: {
      subscribe: async (_params, caller) => {
        const id = caller?.subscribe(channel.feed);
        channel.publish({ number: 1 });
        await go.happened;
        return json(id);
      },
    },
  });
  const client = await Client.connect(server.url);
  const answer = client.call("subscribe");
  await client.call("echo");
  channel.publish({ number: 2 });
  go.happen();
  const { result } = await answer;
  channel.publish({ number: 3 });

  await client.messages.next();
  expect(await client.messages.next()).toBe(`{"jsonrpc":"2.0","id":1,"result":"${result}"}`);
  expect((await client.notifications.take(3)).map(numberOf)).toEqual([1, 2, 3]);
  await server.close();
});

it("more events before the answer than may wait end the subscription after it", async () => {
  const channel = new Channel();
  const go = createSignal();
  const server = await serveChannel(channel, {
    webSocketLimits: { eventBytes: 1000 },
    handlers: {
      subscribe: async (_params, caller) => {
        const id = caller?.subscribe(channel.feed);
        await go.happened;
        return json(id);
      },
    },
  });
  const client = await Client.connect(server.url);
  const answer = client.call("subscribe");
  await client.call("echo");
  const published = await channel.publishUntilCut(200);
  go.happen();
  const { result } = await answer;
  const told = await client.notifications.take(1);
  while (!told.at(-1)?.error) told.push(await client.notifications.next());
  expect(published).toBe(5);
  expect(told.at(-1)).toMatchObject({ subscription: result, error: { code: -32005 } });
  expect(told.slice(0, -1).map(numberOf)).toEqual([0, 1]);
  await server.close();
});

it("two subscriptions of a connection are told apart", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  const ids = [await client.subscribe(), await client.subscribe()];
  channel.publish(1);
  expect((await client.notifications.take(2)).map(({ subscription }) => subscription)).toEqual(ids);
  await server.close();
});

it("who has unsubscribed is told nothing more, and of no other's subscription", async () => {
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

it("a connection that ends takes its subscriptions with it", async () => {
  const gone = createSignal();
  const server = await openTestServer({
    handlers: {
      subscribe: async (_params, caller) => json(caller?.subscribe({ topics: [], open: () => gone.happen })),
    },
  });
  const client = await Client.connect(server.url);
  await client.subscribe();
  client.socket.terminate();
  await gone.happened;
  await server.close();
});

it("a call that outlives its connection cannot subscribe any more", async () => {
  const channel = new Channel();
  const called = createSignal();
  const go = createSignal();
  const refused = Promise.withResolvers<unknown>();
  const subscribeLate = async (_params: unknown, caller?: Caller) => {
    called.happen();
    await go.happened;
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
      witness: async (_params, caller) => json(caller?.subscribe({ topics: [], open: () => isGone.happen })),
    },
  });
  const client = await Client.connect(server.url);
  await client.call("witness");
  void client.call("late");
  await called.happened;
  client.socket.terminate();
  await isGone.happened;
  go.happen();
  expect(await refused.promise).toMatchObject({ kind: "unavailable" });
  expect(channel.readers).toBe(0);
  await server.close();
});

it("a reader that is too slow gets all events up to a point, is told so, and can subscribe again", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel, { webSocketLimits: { eventBytes: 256 * 1024 } });
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  client.socket.pause();

  const published = await channel.publishUntilCut(32 * 1024);
  client.socket.resume();

  const received = await client.notifications.take(published);
  const last = received.pop();
  expect(received.map(numberOf)).toEqual(Array.from({ length: published - 1 }, (_, n) => n));
  expect(last).toEqual({
    subscription: id,
    error: { code: -32005, message: expect.stringContaining("read too slowly"), data: { status: 413 } },
  });
  expect(await client.call("unsubscribe", id)).toMatchObject({ result: false });
  const again = await client.subscribe();
  channel.publish(1);
  expect(await client.notifications.next()).toMatchObject({ subscription: again, data: 1 });
  await server.close();
});

it("a reader that is cut off because there are too many is told so", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel);
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  channel.publish(1);
  channel.cutOffAll();
  expect(channel.readers).toBe(0);
  expect(await client.notifications.take(2)).toEqual([
    { subscription: id, topic: "head", data: 1 },
    {
      subscription: id,
      error: { code: -32005, message: expect.stringContaining("as many readers"), data: { status: 413 } },
    },
  ]);
  await server.close();
});

it("all clients together may have so many subscriptions, and who leaves makes room", async () => {
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
  ["too far behind", 2 ** 18, 2 ** 15, { code: -32005, message: expect.stringContaining("read too slowly") }],
  ["not too far behind", 2 ** 30, 2 ** 20, { code: -32002, message: expect.stringContaining("neither read") }],
])("a reader that stood still, %s, reads last why it was cut off", async (_where, eventBytes, eachBytes, error) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const channel = new Channel();
  const server = await serveChannel(channel, { webSocketLimits: { eventBytes, checkMillis: 1000 } });
  const client = await Client.connect(server.url);
  const id = await client.subscribe();
  client.socket.pause();
  // More than the operating system holds for a reader that does not read.
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
});

it("a slow reader does not hold up the others", async () => {
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

it("an event during an answer that is sent in pieces comes after it", async () => {
  const channel = new Channel();
  const server = await serveChannel(channel, {
    handlers: {
      slow: async () => ({
        body: (async function* () {
          yield Buffer.from('["first",');
          // Whoever asks for more has written the first piece.
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

it("a connection may have only so many subscriptions", async () => {
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

it("over HTTP, subscriptions are unsupported, and the answer says where they are not", async () => {
  const server = await serveChannel(new Channel());
  const answer = JSON.parse((await server.post('{"jsonrpc":"2.0","id":1,"method":"subscribe"}')).text);
  expect(answer.error).toMatchObject({ code: -32004, data: { status: 501 } });
  expect(answer.error.message).toContain(`ws://127.0.0.1:${server.port}`);
  await server.close();
});

it("closing the server ends subscriptions and tells the reader why", async () => {
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
