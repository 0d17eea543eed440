import { expect, it, onTestFinished } from "vitest";
import { currentUpstream, openGateway } from "../../test/support/gateway/gateway.ts";
import { GENESIS_ROOT, ScriptedUpstream } from "../../test/support/gateway/upstream/scripted-upstream.ts";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { FakeTimers, flushPromises } from "../../test/support/time/fake-timers.ts";
import { Gateway } from "./gateway.ts";
import type { ChainSpec } from "./network/chain-spec.ts";
import { DEFAULT_GATEWAY_SETTINGS } from "./settings.ts";

const SECONDS_PER_SLOT = 12;
const ANYWHERE = { host: "127.0.0.1", port: 0 };

/** Opens a gateway with one upstream whose head is at the current slot. */
async function setup({ drainMillis = 0 } = {}) {
  const timers = new FakeTimers();
  const upstream = await new ScriptedUpstream("a").start();
  onTestFinished(() => upstream.stop());
  upstream.genesisTime = Math.floor(timers.unixNow() / 1000) - upstream.headSlot * SECONDS_PER_SLOT;
  const chainSpec: ChainSpec = {
    presetBase: "minimal",
    genesisValidatorsRoot: GENESIS_ROOT,
    genesisTime: upstream.genesisTime,
    secondsPerSlot: SECONDS_PER_SLOT,
    slotsPerEpoch: 8,
    forks: [{ name: "phase0", epoch: 0 }],
  };
  const settings = { ...DEFAULT_GATEWAY_SETTINGS, upstreams: [upstream.options], drainMillis };
  const servers = { limits: {}, rest: ANYWHERE };
  const logger = createRecordingLogger();
  const gateway = await Gateway.open({ settings, chainSpec, servers, metrics: ANYWHERE, timers, logger });
  onTestFinished(() => gateway.close());
  return { timers, gateway, upstream, settings, chainSpec, logger };
}

it("drains before it stops", async () => {
  const { timers, gateway } = await setup({ drainMillis: 5000 });
  const status = async (path: string, url = gateway.restUrl) => (await fetch(new URL(path, url))).status;
  expect(await status("/fanal/v1/ready")).toBe(200);
  expect(await status("/fanal/v1/ready", gateway.metricsUrl)).toBe(200);
  expect(await status("/eth/v1/node/health", gateway.metricsUrl)).toBe(200);
  const closing = gateway.close();
  await flushPromises();
  expect(await status("/fanal/v1/ready")).toBe(503);
  expect(await status("/fanal/v1/ready", gateway.metricsUrl)).toBe(503);
  expect(await status("/eth/v1/node/version")).toBe(200);
  await timers.advance(5000);
  await closing;
  await expect(status("/fanal/v1/ready")).rejects.toThrow();
});

it("logs once that it is not ready with the reasons, and its end", async () => {
  const { timers, gateway, upstream, logger } = await setup();
  const readiness = () =>
    logger.records
      .filter(({ message }) => message.startsWith("Gateway is"))
      .map(({ level, message, fields }) => [level, message, fields]);
  const untilState = async (state: string) => {
    while (gateway.health.of("a").state !== state) await timers.advance(100);
  };
  expect(readiness()).toEqual([]);
  upstream.syncDistance = 20;
  await untilState("behind");
  upstream.syncDistance = 21;
  await timers.advance(SECONDS_PER_SLOT * 1000);
  const reasons = [expect.stringMatching(/^No upstream is ready\. a is behind: It is syncing/)];
  expect(readiness()).toEqual([["warn", "Gateway is not ready", { reasons }]]);
  upstream.syncDistance = 0;
  await untilState("ready");
  expect(readiness().slice(1)).toEqual([["info", "Gateway is ready again", {}]]);
});

it("names the server whose port is taken, in one process and with workers", async () => {
  const { gateway, settings, chainSpec } = await setup();
  const taken = { host: "127.0.0.1", port: Number(new URL(gateway.restUrl!).port) };
  const logger = createRecordingLogger();
  const open = (workers: number) =>
    Gateway.open({
      settings: { ...settings, workers },
      chainSpec,
      servers: { limits: {}, rest: taken },
      timers: new FakeTimers(),
      logger,
    });
  for (const workers of [1, 2]) {
    await expect(open(workers)).rejects.toMatchObject({ name: "ListenError", server: "rest", code: "EADDRINUSE" });
  }
  const where = new URL(gateway.metricsUrl!);
  const metrics = { host: where.hostname, port: Number(where.port) };
  const withMetrics = { settings, chainSpec, servers: { limits: {}, rest: ANYWHERE }, metrics, logger };
  await expect(Gateway.open({ ...withMetrics, timers: new FakeTimers() })).rejects.toMatchObject({ server: "metrics" });
});

it.each([
  ["reads go to the other upstream", 2, 200],
  ["reads fail with its error", 1, 503],
])("when an upstream answers polls but resets reads, %s and its state does not alternate", async (_, count, status) => {
  const upstreams = await Promise.all(["a", "b"].slice(0, count).map(currentUpstream));
  upstreams[0]!.handler = (_request, response) => response.destroy();
  const { request, log, gateway } = await openGateway(upstreams, { memoryBytes: 0 });
  const read = async () => {
    const response = await request("/eth/v1/config/deposit_contract");
    if (response.status === 503) expect(await response.text()).toContain("a closed the connection.");
    return response.status;
  };
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const found = [];
      for (let sent = 0; sent < 50; sent++) found.push(await read());
      return found;
    }),
  );
  expect(new Set(statuses.flat())).toEqual(new Set([status]));
  expect(gateway.health.of("a").state).toBe("ready");
  const warnings = log.filter(({ message }) => message === "Upstream fails requests but answers health polls");
  expect(warnings.length).toBeLessThanOrEqual(1);
  expect(log.filter(({ message }) => message.startsWith("Upstream is "))).toEqual([]);
});
