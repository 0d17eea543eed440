import { hash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { currentUpstream, openGateway } from "../../test/support/gateway/gateway.ts";
import { json } from "../../test/support/gateway/upstream/scripted-upstream.ts";
import { SseClient } from "../../test/support/server/events/sse-client.ts";
import { Client } from "../../test/support/server/jsonrpc/websocket/client.ts";
import type { Gateway } from "./gateway.ts";
import type { ClientSettings, GatewaySettings } from "./settings.ts";

const PATH = "/eth/v1/beacon/states/head/root";

it("replaces upstreams under load without a failed read or a dropped connection", async () => {
  const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
  const { gateway, settings, request } = await openGateway([a, b], { memoryBytes: 0 });
  await gateway.reload({ ...settings, upstreams: [a.options] });
  const socket = await Client.connect(gateway.jsonRpcUrl!);
  const failures: number[] = [];
  /** Upstreams of the last answers. */
  const servedBy: (string | null)[] = [];
  let isDone = false;
  onTestFinished(() => {
    isDone = true;
  });
  const readers = Array.from({ length: 8 }, async () => {
    while (!isDone) {
      const response = await request(PATH);
      await response.arrayBuffer();
      if (response.status !== 200) failures.push(response.status);
      servedBy.push(response.headers.get("Fanal-Upstream"));
    }
  });
  for (const upstreams of [[b.options], [a.options, b.options], [a.options], [b.options]]) {
    await gateway.reload({ ...settings, upstreams });
    expect(gateway.health.all.map(({ upstream }) => upstream)).toEqual(upstreams.map(({ name }) => name));
    const before = servedBy.length;
    await expect.poll(() => servedBy.length).toBeGreaterThan(before + 40);
    expect(new Set(servedBy.slice(-20))).toEqual(new Set(upstreams.map(({ name }) => name)));
  }
  isDone = true;
  await Promise.all(readers);
  expect(failures).toEqual([]);
  expect(await socket.call("getNodeVersion")).toHaveProperty("result");
});

it("lets running requests to a removed upstream finish", async () => {
  const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
  const { gateway, settings, request } = await openGateway([a, b]);
  await gateway.reload({ ...settings, upstreams: [a.options] });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  a.handler = (_, response) => void released.then(() => json(response, { data: { root: "late" } }));
  const received = a.received(PATH);
  const slow = request(PATH);
  await received;
  await gateway.reload({ ...settings, upstreams: [b.options] });
  release();
  expect((await slow).headers.get("Fanal-Upstream")).toBe("a");
});

describe("a read that has not been answered at the reload", () => {
  /** Opens a gateway whose only upstream is below the head floor, and a read that waits for it. */
  async function readBelowHeadFloor() {
    const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
    const opened = await openGateway([a, b], { memoryBytes: 0 });
    const reload = (changes: Partial<GatewaySettings>) => opened.gateway.reload({ ...opened.settings, ...changes });
    await reload({ upstreams: [a.options] });
    opened.gateway.health.raiseHeadFloor(a.headSlot + 1);
    const reading = opened.request(PATH);
    // Sent after it on another connection, so the read has begun.
    await (await opened.request("/eth/v1/config/spec")).text();
    expect(a.questions).not.toContain(PATH);
    return { a, b, reload, reading };
  }

  it("is sent to an added upstream if it waited for a removed one to reach the head floor", async () => {
    const { b, reload, reading } = await readBelowHeadFloor();
    b.headSlot++;
    await reload({ upstreams: [b.options] });
    expect((await reading).headers.get("Fanal-Upstream")).toBe("b");
  });

  it("is sent to a kept upstream once that has reached the head floor", async () => {
    const { a, reload, reading } = await readBelowHeadFloor();
    await reload({ upstreams: [a.options], quorum: 2 });
    a.headSlot++;
    // Polls the upstream.
    await reload({ upstreams: [{ ...a.options, weight: 2 }] });
    const response = await reading;
    expect([response.status, response.headers.get("Fanal-Upstream")]).toEqual([200, "a"]);
  });

  it("is sent to an added upstream if the removed one fails", async () => {
    const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
    const { gateway, settings, request } = await openGateway([a, b], { memoryBytes: 0 });
    await gateway.reload({ ...settings, upstreams: [a.options] });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    a.handler = (_, response) => void released.then(() => response.destroy());
    const received = a.received(PATH);
    const reading = request(PATH);
    await received;
    await gateway.reload({ ...settings, upstreams: [b.options] });
    release();
    expect((await reading).headers.get("Fanal-Upstream")).toBe("b");
  });

  it("is repeated if the upstreams disagreed before", async () => {
    const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
    const { gateway, settings, request } = await openGateway([a, b], { memoryBytes: 0, quorum: 2 });
    const answered = Promise.all([a, b].map((each) => each.received(PATH)));
    const reading = request(PATH);
    await answered;
    // Answered after it, so the read waits for its repetition, because the answers differ.
    await (await request("/eth/v1/config/spec")).text();
    for (const each of [a, b]) each.handler = (_, response) => json(response, { data: { root: "same" } });
    await gateway.reload({ ...settings, hedgeDelayMillis: settings.hedgeDelayMillis + 1 });
    expect(await (await reading).json()).toEqual({ data: { root: "same" } });
  });
});

const KEY = "a-key-of-sufficient-length";
const OTHER_KEY = "another-key-of-sufficient-length";
const client = (name: string, key: string, rest: Partial<ClientSettings> = {}): ClientSettings => ({
  name,
  keyHash: hash("sha256", key),
  classes: ["read"],
  budget: {},
  ...rest,
});

/** Opens a WebSocket with a subscription and an event stream, with the key in the path if there is one. */
async function openConnections(gateway: Gateway, key?: string) {
  const prefix = key === undefined ? "" : `/${key}`;
  const socket = await Client.connect(`${gateway.jsonRpcUrl}${prefix}`);
  await socket.subscribe(["head"]);
  const stream = await SseClient.connect(`${gateway.restUrl}${prefix}/eth/v1/events?topics=head`);
  expect(stream.response.statusCode).toBe(200);
  return { socket, stream };
}

const REVOKED = "The API key was revoked.";

it("closes open connections of a removed key with the reason, and no others", async () => {
  const [wallet, other] = [client("wallet", KEY), client("other", OTHER_KEY)];
  const { gateway, settings, log } = await openGateway([await currentUpstream("a")], { clients: [wallet, other] });
  const removed = await openConnections(gateway, KEY);
  const remaining = await openConnections(gateway, OTHER_KEY);
  await gateway.reload({ ...settings, clients: [{ ...other, name: "renamed" }] });
  expect(await removed.socket.notifications.next()).toMatchObject({
    error: { message: `Subscription ended. ${REVOKED}`, data: { status: 403 } },
  });
  expect(await removed.socket.closed).toEqual({ code: 1008, reason: REVOKED });
  expect(await removed.stream.events.next()).toEqual({ topic: "error", data: { code: 401, message: REVOKED } });
  await removed.stream.closed;
  expect(await remaining.socket.call("getNodeVersion")).toHaveProperty("result");
  expect(remaining.stream.response.closed).toBe(false);
  expect(log).toContainEqual(
    expect.objectContaining({ message: "Closed WebSocket connections without access", fields: { connections: 1 } }),
  );
  expect(log).toContainEqual(
    expect.objectContaining({ message: "Closed event streams without access", fields: { streams: 1 } }),
  );
});

it("closes open connections without a key when keys become required", async () => {
  const { gateway, settings } = await openGateway([await currentUpstream("a")]);
  const { socket, stream } = await openConnections(gateway);
  await gateway.reload({ ...settings, clients: [client("wallet", KEY)] });
  expect(await socket.closed).toEqual({ code: 1008, reason: "The server requires an API key now." });
  await stream.closed;
});

it("applies changed rights of a client to the next call on an open WebSocket", async () => {
  const wallet = client("wallet", KEY);
  const { gateway, settings } = await openGateway([await currentUpstream("a")], { clients: [wallet] });
  const { socket } = await openConnections(gateway, KEY);
  expect(await socket.call("getNodeVersion")).toHaveProperty("result");
  await gateway.reload({ ...settings, clients: [{ ...wallet, methods: ["get_v1_*"] }] });
  expect(await socket.call("getNodeVersion")).toMatchObject({
    error: { message: 'Client "wallet" may not call getNodeVersion.' },
  });
  await gateway.reload(settings);
  expect(await socket.call("getNodeVersion")).toHaveProperty("result");
});

it("replaces an upstream of the same name", async () => {
  const [a, b] = [await currentUpstream("a"), await currentUpstream("b")];
  const { gateway, settings, request } = await openGateway([a, b], { memoryBytes: 0 });
  await gateway.reload({ ...settings, upstreams: [{ ...b.options, name: "a" }] });
  expect(await (await request("/eth/v1/config/deposit_contract")).text()).toContain('"b"');
  expect(gateway.health.of("a")).toMatchObject({ state: "ready", version: "Scripted/b" });
});

it("applies a changed quorum to readiness, too", async () => {
  const a = await currentUpstream("a");
  const { gateway, settings, request } = await openGateway([a]);
  const statuses = async () => {
    const other = await fetch(`${gateway.metricsUrl}/fanal/v1/ready`);
    return [(await request("/fanal/v1/ready")).status, other.status];
  };
  expect(await statuses()).toEqual([200, 200]);
  await gateway.reload({ ...settings, quorum: 2 });
  expect(await statuses()).toEqual([503, 503]);
  await gateway.reload(settings);
  expect(await statuses()).toEqual([200, 200]);
});
