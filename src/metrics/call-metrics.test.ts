import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { CallStatsCollector } from "../server/call-stats.ts";
import { CallMetrics } from "./call-metrics.ts";
import { Instruments } from "./instruments.ts";

it("measures duration, errors, bytes and calls in flight by server and method", async () => {
  const registry = new Registry();
  let now = 0;
  const metrics = new CallMetrics(new Instruments(registry));
  const calls = new CallStatsCollector({ now: () => now });
  const report = () => {
    for (const tally of calls.drain()) metrics.add(tally);
  };
  const first = calls.begin("rest", "getChainHead");
  const second = calls.begin("rest", "getChainHead");
  const nameless = calls.begin("json-rpc", undefined);
  report();
  now = 40;
  first.end();
  first.bytes(10);
  first.bytes(5);
  nameless.end(-32601);
  report();
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      'fanal_api_call_seconds_count{server="rest",method="getChainHead"} 1',
      'fanal_api_call_seconds_sum{server="rest",method="getChainHead"} 0.04',
      'fanal_api_call_seconds_bucket{le="0.025",server="rest",method="getChainHead"} 0',
      'fanal_api_call_seconds_bucket{le="0.05",server="rest",method="getChainHead"} 1',
      'fanal_api_calls_in_flight{server="rest",method="getChainHead"} 1',
      'fanal_api_answer_bytes_total{server="rest",method="getChainHead"} 15',
      'fanal_api_calls_in_flight{server="json-rpc",method="unknown"} 0',
      'fanal_api_call_errors_total{server="json-rpc",method="unknown",code="-32601"} 1',
    ]),
  );
  second.end(503);
  report();
  expect(await registry.getSingleMetricAsString("fanal_api_call_errors_total")).toContain(
    '{server="rest",method="getChainHead",code="503"} 1',
  );
});
