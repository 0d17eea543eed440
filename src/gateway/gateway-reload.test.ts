import { hash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { Client } from "../server/jsonrpc/websocket/client.test-support.ts";
import { currentUpstream, openGateway } from "./gateway.test-support.ts";
import { json } from "./upstream/scripted-upstream.test-support.ts";

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
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  a.handler = (_, response) => void held.then(() => json(response, { data: { root: "late" } }));
  const received = a.received(PATH);
  const slow = request(PATH);
  await received;
  await gateway.reload({ ...settings, upstreams: [b.options] });
  release();
  expect((await slow).headers.get("Fanal-Upstream")).toBe("a");
});

it("revokes keys of open connections", async () => {
  const key = "a-key-of-sufficient-length";
  const client = { name: "wallet", keyHash: hash("sha256", key), classes: ["read"] as const, budget: {} };
  const other = { ...client, name: "other", keyHash: hash("sha256", "another") };
  const { gateway, settings } = await openGateway([await currentUpstream("a")], { clients: [client, other] });
  const socket = await Client.connect(`${gateway.jsonRpcUrl}/${key}`);
  expect(await socket.call("getNodeVersion")).toHaveProperty("result");
  await gateway.reload({ ...settings, clients: [other] });
  expect(await socket.call("getNodeVersion")).toMatchObject({ error: { message: "The API key was revoked." } });
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
