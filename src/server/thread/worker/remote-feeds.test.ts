import { afterAll, beforeAll, expect, it } from "vitest";
import { SseClient } from "../../../../test/support/server/events/sse-client.ts";
import { Client } from "../../../../test/support/server/jsonrpc/websocket/client.ts";
import { TestServers } from "../../../../test/support/server/thread/test-servers.ts";

const servers = new TestServers();
const { api, call } = servers;
beforeAll(() => servers.start());
afterAll(() => servers.close());

it("opens a feed before the response of an event stream, and closes it after the last reader", async () => {
  const reader = await SseClient.connect(`${servers.restUrl}/events`);
  expect(api.channel.readers).toBe(1);
  api.channel.publish({ number: 1 });
  expect(await reader.events.next()).toEqual({ topic: "head", data: { number: 1 } });
  reader.response.destroy();
  while (api.channel.readers > 0) await call("echo");
});

it("transfers events once for all readers of a feed, after the responses, and counts the readers", async () => {
  const clients = [await Client.connect(servers.rpcUrl), await Client.connect(servers.rpcUrl)];
  const ids = [];
  for (const client of clients) ids.push(await client.subscribe());
  expect(api.channel.readers).toBe(1);
  // The response containing the subscription id comes first.
  const [first, second] = [await clients[0]!.messages.next(), await clients[0]!.messages.next()];
  expect(JSON.parse(first)).toMatchObject({ result: ids[0] });
  expect(JSON.parse(second).params).toMatchObject({ subscription: ids[0], data: { number: "before the response" } });
  api.channel.publish({ number: 7 });
  for (const client of clients) {
    let notification = await client.notifications.next();
    while ((notification.data as { number: unknown }).number !== 7) notification = await client.notifications.next();
  }
  expect((await clients[0]!.call("unsubscribe", ids[0])).result).toBe(true);
  expect((await clients[0]!.call("unsubscribe", ids[0])).result).toBe(false);
  expect((await call("unsubscribe", [ids[1]])).error?.message).toContain("WebSocket");
});
