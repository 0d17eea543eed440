import { expect, it, onTestFinished } from "vitest";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import { serveApi } from "../support/api/served-api.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { SseClient } from "../support/server/events/sse-client.ts";
import { Client } from "../support/server/jsonrpc/websocket/client.ts";

async function openBothServers({ api }: DevChain) {
  const { jsonRpcUrl, restUrl, close } = await serveApi(api);
  onTestFinished(close);
  return { jsonRpcUrl, eventsUrl: `${restUrl}/eth/v1/events`, close };
}

it("SSE and WebSocket deliver the same events in the same order", async () => {
  const { devChain } = await openDevChain();
  const { jsonRpcUrl, eventsUrl } = await openBothServers(devChain);
  const topics = ["head", "block", "block_gossip", "attestation", "finalized_checkpoint"];
  const [sse, webSocket] = [
    await SseClient.connect(`${eventsUrl}?topics=${topics.join(",")}`),
    await Client.connect(jsonRpcUrl),
  ];
  const subscription = await webSocket.subscribe(topics);
  const heads: string[] = [];
  devChain.chain.events.on("head", ({ slot }) => heads.push(String(slot)));

  await devChain.clock.advanceTo(10);

  await webSocket.call("getNodeVersion");
  const told = await webSocket.notifications.take(webSocket.notifications.left);
  expect(told.filter(({ topic }) => topic === "head").map(({ data }) => (data as { slot: string }).slot)).toEqual(
    heads,
  );
  expect(new Set(told.map(({ topic }) => topic))).toEqual(new Set(topics.slice(0, 4)));
  expect(await sse.events.take(told.length)).toEqual(told.map(({ topic, data }) => ({ topic, data })));
  expect(told.every((notification) => notification.subscription === subscription)).toBe(true);
});

it("a stream has only the requested topics, also as repeated parameters", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { eventsUrl } = await openBothServers(devChain);
  const sse = await SseClient.connect(`${eventsUrl}?topics=block&topics=head`);
  const headsOnly = await SseClient.connect(`${eventsUrl}?topics=head`);
  await devChain.clock.advanceTo(1);
  const { root } = await new ByHand(devChain).propose(1, devChain.chain.head.root);
  expect(await sse.events.take(2)).toMatchObject([
    { topic: "block", data: { slot: "1", block: root } },
    { topic: "head", data: { slot: "1", block: root } },
  ]);
  expect(await headsOnly.events.next()).toMatchObject({ topic: "head" });
  expect(headsOnly.events.left).toBe(0);
});

it.each([
  ["an unknown topic", "?topics=head,weather_forecast", "weather_forecast"],
  ["no topics", "", "topics"],
  ["empty topics", "?topics=", "topics"],
])("%s is refused with 400", async (_what, query, named) => {
  const { devChain } = await openDevChain(QUIET);
  const { eventsUrl } = await openBothServers(devChain);
  const response = await fetch(`${eventsUrl}${query}`);
  expect(response.status).toBe(400);
  const body = (await response.json()) as { code: number; message: string };
  expect(body).toMatchObject({ code: 400, message: expect.stringContaining(named) });
});

it("closing the servers ends every subscription", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { jsonRpcUrl, eventsUrl, close } = await openBothServers(devChain);
  const [sse, webSocket] = [await SseClient.connect(`${eventsUrl}?topics=head`), await Client.connect(jsonRpcUrl)];
  await webSocket.subscribe(["head"]);
  await close();
  await sse.closed;
  expect(await webSocket.closed).toMatchObject({ code: 1001 });
});
