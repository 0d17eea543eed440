import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stringify } from "yaml";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { currentUpstream, openGateway } from "../support/gateway/gateway.ts";
import { alerts, dashboard, GATEWAY_ALERTS } from "./expressions.ts";
import { skipWithout } from "./prometheus.ts";

const DASHBOARD = "gateway-dashboard.json";

it("the alerts and the dashboard of a gateway use only existing metrics", async () => {
  const { metrics } = await openGateway([await currentUpstream("a")]);
  const names = new Set([...(await metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
  const expressions = [...alerts(GATEWAY_ALERTS), ...dashboard(DASHBOARD)];
  const used = expressions.flatMap((expression) => [...expression.matchAll(/\b(?:fanal|process|nodejs)_\w+/g)]);
  expect(used.length).toBeGreaterThan(30);
  const isKnown = (name: string) => names.has(name) || names.has(name.replace(/_(?:bucket|sum|count)$/, ""));
  expect(used.map(([name]) => name).filter((name) => !isKnown(name))).toEqual([]);
});

it("the panels of the dashboard have ids of their own and do not overlap", () => {
  const path = join(import.meta.dirname, "../../docs/monitoring", DASHBOARD);
  const { panels } = JSON.parse(readFileSync(path, "utf8")) as {
    panels: { id: number; title: string; gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.get(`${x} ${y}`), title).toBeUndefined();
        taken.set(`${x} ${y}`, title);
      }
    }
  }
});

it("Prometheus accepts the alerts, and they fire", (context) => {
  skipWithout("promtool", context);
  const promtool = (...args: string[]) => spawnSync("promtool", args, { encoding: "utf8" });
  const rules = promtool("check", "rules", GATEWAY_ALERTS);
  expect(rules, rules.stderr).toMatchObject({ status: 0 });
  const test = join(tempDirectory(), "alerts.test.yml");
  writeFileSync(test, stringify(RULE_TESTS));
  const tested = promtool("test", "rules", test);
  expect(tested, tested.stdout + tested.stderr).toMatchObject({ status: 0 });
});

const INSTANCE = 'instance="gateway", job="fanal-gateway"';
const condition = (upstream: string, state: string, values: string) => ({
  series: `fanal_upstream_condition{${INSTANCE}, upstream="${upstream}", condition="${state}"}`,
  values,
});
const counter = (name: string, labels: string, values: string) => ({
  series: `${name}{${INSTANCE}, ${labels}}`,
  values,
});

/** Series with one value per minute, in promtool's notation, and the alerts they trigger. */
const RULE_TESTS = {
  rule_files: [GATEWAY_ALERTS],
  evaluation_interval: "1m",
  tests: [
    {
      interval: "1m",
      input_series: [
        condition("a", "ready", "1x20 0x40"),
        condition("a", "down", "0x20 1x40"),
        condition("b", "ready", "0x60"),
        condition("b", "foreign", "1x60"),
        { series: `fanal_gateway_cache_up{${INSTANCE}}`, values: "1x20 0x40" },
        { series: `fanal_gateway_cache_up{instance="other", job="fanal-gateway"}`, values: "0x60" },
        counter("fanal_upstream_requests_total", 'upstream="a", outcome="200"', "0+60x60"),
        counter("fanal_upstream_requests_total", 'upstream="a", outcome="500"', "0x20 0+60x40"),
        counter("fanal_gateway_client_calls_total", 'client="wallet", outcome="admitted"', "0+60x60"),
        counter("fanal_gateway_client_calls_total", 'client="wallet", outcome="rejected"', "0+20x60"),
        counter("fanal_upstream_circuit_opened_total", 'upstream="a"', "0+1x2 2x18 2+1x40"),
        counter("fanal_upstream_disagreements_total", 'method="getGenesis"', "0x30 1x30"),
      ],
      alert_rule_test: [
        { alertname: "FanalGatewayNoReadyUpstream", eval_time: "19m", exp_alerts: [] },
        { alertname: "FanalGatewayCacheDown", eval_time: "20m", exp_alerts: [] },
        { alertname: "FanalGatewayUpstreamErrors", eval_time: "20m", exp_alerts: [] },
        { alertname: "FanalGatewayCircuitBreakerFlapping", eval_time: "20m", exp_alerts: [] },
        { alertname: "FanalGatewayDisagreement", eval_time: "29m", exp_alerts: [] },
      ],
      promql_expr_test: [
        firing("FanalGatewayNoReadyUpstream", "25m", "critical"),
        firing("FanalGatewayForeignUpstream", "5m", "critical", 'upstream="b", condition="foreign"'),
        firing("FanalGatewayCacheDown", "30m", "warning"),
        firing("FanalGatewayUpstreamErrors", "50m", "warning", 'upstream="a"'),
        firing("FanalGatewayClientOverBudget", "30m", "info", 'client="wallet"'),
        firing("FanalGatewayCircuitBreakerFlapping", "50m", "warning", 'upstream="a"'),
        firing("FanalGatewayDisagreement", "35m", "critical", 'method="getGenesis"'),
      ],
    },
  ],
};

function firing(alertname: string, evalTime: string, severity: string, labels?: string) {
  const own = labels === undefined ? "" : `, ${labels}`;
  return {
    expr: `ALERTS{alertname="${alertname}", alertstate="firing"}`,
    eval_time: evalTime,
    exp_samples: [
      {
        labels: `ALERTS{alertname="${alertname}", alertstate="firing", severity="${severity}", ${INSTANCE}${own}}`,
        value: 1,
      },
    ],
  };
}
