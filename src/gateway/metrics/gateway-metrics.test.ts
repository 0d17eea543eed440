import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { RemoteHealth } from "../workers/remote-health.ts";
import { GatewayCounters } from "./gateway-counters.ts";
import { GatewayMetrics, type ServerProcesses } from "./gateway-metrics.ts";

const CONDITIONS = new RemoteHealth(
  {
    health: [
      {
        upstream: "a",
        state: "ready",
        reasons: [],
        head: { slot: 9, root: "0x00" },
        finalized: { epoch: 1, root: "0x00" },
        syncDistance: 0,
      },
      { upstream: "b", state: "down", reasons: ["It is not there."] },
    ],
    headFloor: 8,
    finalityReverts: 0,
  },
  () => {},
);

const LOAD = { connections: 3, requests: 1, requestBytes: 0, responseBytes: 0 };
const REFUSED = { connections: 0, "request rate": 0, "request bytes": 0, "answer bytes": 0 };

/** Creates the metrics of two serving processes, and their counters. */
function setup() {
  const tallies = new GatewayCounters();
  const metrics = new GatewayMetrics({
    health: CONDITIONS,
    events: { eventCounts: new Map([["head", 5]]) },
    hasCache: true,
  });
  onTestFinished(() => metrics.close());
  const processes: ServerProcesses = {
    running: 2,
    replaced: 1,
    subscriberCounts: new Map([["head", 4]]),
    loads: [["rest", { ...LOAD, refused: REFUSED }]],
    lag: undefined,
    refresh: async () => metrics.add({ calls: [], gateway: tallies.take() }),
  };
  metrics.watch(processes);
  return { metrics, tallies };
}

it("reports health, requests and cache lookups", async () => {
  const { metrics, tallies } = setup();
  tallies.onCacheState("up");
  tallies.onRequestEnd("a", "getChainHead", 200, 4);
  tallies.onRequestEnd("a", "getChainHead", 200, 40);
  tallies.onRequestEnd("a", "getChainHead", "error", 400);
  await metrics.text();
  tallies.onFailover("a", "slow");
  tallies.onFailover("a", "slow");
  tallies.onDisagreement("get_v1_beacon_states_root");
  tallies.onCacheLookup("memory", true);
  tallies.onCacheLookup("cache", false);
  const lines = (await metrics.text()).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      'fanal_upstream_condition{upstream="a",condition="ready"} 1',
      'fanal_upstream_condition{upstream="b",condition="ready"} 0',
      'fanal_upstream_condition{upstream="b",condition="down"} 1',
      'fanal_upstream_head_slot{upstream="a"} 9',
      'fanal_upstream_finalized_epoch{upstream="a"} 1',
      "fanal_gateway_floor_slot 8",
      'fanal_upstream_requests_total{upstream="a",outcome="200"} 2',
      'fanal_upstream_requests_total{upstream="a",outcome="error"} 1',
      'fanal_upstream_request_seconds_bucket{le="0.005",upstream="a"} 1',
      'fanal_upstream_request_seconds_count{upstream="a"} 3',
      'fanal_upstream_asked_another_total{upstream="a",reason="slow"} 2',
      'fanal_upstream_disagreements_total{method="get_v1_beacon_states_root"} 1',
      'fanal_gateway_lookups_total{where="memory",outcome="found"} 1',
      'fanal_gateway_lookups_total{where="cache",outcome="missing"} 1',
      "fanal_gateway_cache_up 1",
      'fanal_gateway_events_total{topic="head"} 5',
      'fanal_event_subscribers{topic="head"} 4',
      "fanal_gateway_workers 2",
      "fanal_gateway_workers_replaced_total 1",
      'fanal_server_connections{server="rest"} 3',
    ]),
  );
  expect(lines.filter((line) => line.startsWith('fanal_upstream_head_slot{upstream="b"}'))).toEqual([]);
});

it("is documented", async () => {
  const { metrics } = setup();
  const text = await metrics.text();
  const measured = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(
    ([, name, help, type]) => `${name} ${type} ${help}`,
  );
  const rows = (document: string) => {
    const file = readFileSync(new URL(`../../../docs/${document}`, import.meta.url), "utf8");
    return [...file.matchAll(/^\| `(\w+)` \| (\w+) \| [\w, ]* \| (.+) \|$/gm)].map(
      ([, name, type, meaning]) => `${name} ${type} ${meaning}`,
    );
  };
  const ofNodes = new Set(rows("monitoring.md"));
  const isOwn = (row: string) => !ofNodes.has(row) && !/^(process|nodejs)_/.test(row);
  expect(measured.filter(isOwn).toSorted()).toEqual(rows("reference/gateway-operations.md").toSorted());
});
