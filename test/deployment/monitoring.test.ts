import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "@lodestar/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { Servers } from "../../src/node/servers/servers.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { send } from "../support/server/http/http.ts";
import { ALERTS, alerts, dashboard, GATEWAY_ALERTS } from "./expressions.ts";
import { skipWithout } from "./prometheus.ts";

const ROOT = join(import.meta.dirname, "../..");
const ANYWHERE = { host: "127.0.0.1", port: 0 };
const HISTORY_SLOTS = 4 * 8;

interface Described {
  type: string;
  meaning: string;
}

let opened: OpenedDevChain;
let servers: Servers;
beforeAll(async () => {
  opened = await startQuietDevChain(HISTORY_SLOTS, {
    forks: [{ fork: "altair", epoch: 0 }],
    monitorValidators: { indices: [0, 1, 1000], pubkeys: [] },
  });
  servers = await opened.node.serve({ jsonRpc: ANYWHERE, rest: ANYWHERE, metrics: ANYWHERE });
});
afterAll(() => opened.close());

async function scrape(): Promise<string> {
  const response = await fetch(`${servers.metricsUrl}/metrics`);
  expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return response.text();
}

/** Samples of a scrape by name and labels, unparsed. */
async function samples(): Promise<Map<string, number>> {
  const lines = (await scrape()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

async function metricsOfNode(): Promise<Map<string, Described>> {
  const text = await scrape();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  return new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [
      name!,
      { type: types.get(name!)!, meaning: help!.replace(/\.$/, "") },
    ]),
  );
}

const ROW = /^\| `(\w+)` \| (\w+) \| ([\w, ]*) \| (.+) \|$/gm;

function documentedMetrics(): { name: string; described: Described; labels: string[] }[] {
  const text = readFileSync(join(ROOT, "docs/monitoring.md"), "utf8");
  return [...text.matchAll(ROW)].map(([, name, type, labels, meaning]) => ({
    name: name!,
    described: { type: type!, meaning: meaning! },
    labels: labels!.split(", ").filter((label) => label !== ""),
  }));
}

describe("the metrics of a node", () => {
  it("follow its chain: head, finality, blocks, missed slots and reorgs", async () => {
    const { chain } = opened.node;
    const { clock } = opened.devChain;
    const byHand = new ByHand(opened.devChain);
    const first = HISTORY_SLOTS + 3;
    const before = chain.head.root;
    await clock.advanceTo(first);
    await byHand.propose(first, before);
    // There are no votes, so the proposer boost of the timely block decides the head.
    await clock.advanceTo(first + 1);
    await byHand.propose(first + 1, before);

    const values = await samples();
    expect(Object.fromEntries(values)).toMatchObject({
      beacon_head_slot: first + 1,
      beacon_head_root: Number(Buffer.from(chain.head.root.slice(-16), "hex").readBigInt64LE()),
      beacon_finalized_epoch: chain.finalizedCheckpoint.epoch,
      beacon_current_justified_epoch: 3,
      beacon_previous_justified_epoch: 2,
      beacon_current_active_validators: 16,
      'beacon_current_validators{status="active"}': 16,
      'beacon_current_validators{status="pending"}': 0,
      beacon_processed_deposits_total: chain.headState.eth1DepositIndex,
      'fanal_participation_ratio{epoch="previous"}': 1,
      beacon_reorgs_total: 1,
      fanal_blocks_imported_total: 2,
      fanal_block_import_seconds_count: 2,
      fanal_block_delay_seconds_count: 2,
      fanal_missed_slots_total: 2,
      fanal_clock_slot: first + 1,
      fanal_sync_distance_slots: 0,
      'fanal_sync_state{state="synced"}': 1,
      'fanal_sync_state{state="syncing"}': 0,
      fanal_head_optimistic: 0,
      beacon_custody_groups: 128,
      fanal_blocks_waiting_for_data: 0,
      fanal_data_pool_bytes: 0,
      fanal_data_bytes: 0,
      libp2p_peers: 0,
    });
    expect(values.get('fanal_pool_size{pool="attestations"}')).toBe(
      chain.pools.attestations.slots().flatMap((slot) => chain.pools.attestations.groupsAt(slot).flat()).length,
    );
    expect(values.get("fanal_database_bytes")).toBeGreaterThan(10_000);
  });

  it("have series of monitored validators, individually and in total", async () => {
    const monitored = Object.fromEntries([...(await samples())].filter(([name]) => name.startsWith("fanal_monitor_")));
    expect(monitored).toMatchObject({
      'fanal_monitor_validators{status="unknown"}': 1,
      'fanal_monitor_attestations_total{validator="total",outcome="missed"}': 0,
      'fanal_monitor_slashed{validator="total"}': 0,
    });
  });

  it("count calls by method name, and not by arbitrary names of callers", async () => {
    const call = (method: string) =>
      fetch(servers.jsonRpcUrl!, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
      }).then((response) => response.text());
    await call("getChainHead");
    await call("madeUpByACaller");
    await fetch(`${servers.restUrl}/eth/v1/beacon/headers/head`).then((response) => response.text());
    await fetch(`${servers.restUrl}/made/up/by/a/caller`).then((response) => response.text());
    const endEvents = opened.node.api.context.events.feed([routes.events.EventType.head]).open({
      deliver: () => {},
      disconnect: () => {},
    });
    const values = Object.fromEntries(await samples());
    expect(values).toMatchObject({
      'fanal_api_call_seconds_count{server="json-rpc",method="getChainHead"}': 1,
      'fanal_api_calls_in_flight{server="json-rpc",method="getChainHead"}': 0,
      'fanal_api_call_errors_total{server="json-rpc",method="unknown",code="-32601"}': 1,
      'fanal_api_call_seconds_count{server="rest",method="get_v1_beacon_headers_blockId"}': 1,
      'fanal_api_call_errors_total{server="rest",method="unknown",code="404"}': 1,
      'fanal_event_subscribers{topic="head"}': 1,
      'fanal_server_refused_total{server="rest",limit="connections"}': 0,
      'fanal_api_lane_waiting{lane="duty"}': 0,
    });
    expect(Object.keys(values).filter((name) => /made/i.test(name))).toEqual([]);
    endEvents();
    expect((await samples()).get('fanal_event_subscribers{topic="head"}')).toBe(0);
  });

  it("are served at one path, and rejected for rebound host names", async () => {
    const ask = (path: string, method = "GET") => fetch(servers.metricsUrl + path, { method });
    expect((await ask("/")).status).toBe(404);
    expect((await ask("/metrics?x=1")).status).toBe(200);
    const post = await ask("/metrics", "POST");
    expect([post.status, post.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
    const askAs = (host: string) => send(servers.metricsUrl!, { path: "/metrics", headers: { Host: host } });
    expect((await askAs("localhost:8008")).status).toBe(200);
    expect((await askAs("page.example")).status).toBe(403);
  });
});

describe("the documents", () => {
  /** Metrics of a library differ between systems. */
  const isOwn = (name: string) => !/^(process|nodejs)_/.test(name);

  it("list every metric with type, help and labels, and no other", async () => {
    const documented = documentedMetrics();
    const measured = await metricsOfNode();
    const described = new Map(documented.map(({ name, described }) => [name, described]));
    expect(described.size).toBe(documented.length);
    const own = (metrics: Map<string, Described>) => [...metrics].filter(([name]) => isOwn(name)).toSorted();
    expect(own(described)).toEqual(own(measured));
    expect([...described]).toEqual(expect.arrayContaining([...measured]));
    for (const sample of (await samples()).keys()) {
      const name = sample.replace(/\{.*/, "");
      const { labels } = documented.find((each) => each.name === name || each.name === withoutSuffix(name))!;
      const given = [...sample.matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== "le");
      expect(given.toSorted(), name).toEqual(labels.toSorted());
    }
  });

  it.each([
    ["docs/monitoring.md", ALERTS],
    ["docs/reference/gateway-operations.md", GATEWAY_ALERTS],
  ])("list every alert with its severity and duration: %s", (path, file) => {
    const rules = rulesIn(file);
    const listed = alertsListedIn(path);
    expect(listed.map(({ alert }) => alert)).toEqual(rules.map(({ alert }) => alert));
    for (const each of listed) expectAsInRules(each, rules);
    expect(rules.filter(({ annotations }) => annotations.description === undefined)).toEqual([]);
  });

  it("list the critical alerts in the guide", () => {
    const rules = rulesIn(ALERTS);
    const listed = alertsListedIn("docs/guides/monitor.md");
    const critical = rules.filter(({ labels }) => labels.severity === "critical").map(({ alert }) => alert);
    expect(listed.map(({ alert }) => alert)).toEqual(expect.arrayContaining(critical));
    for (const each of listed) expectAsInRules(each, rules);
  });

  it("use only existing metrics in the alerts and the dashboard", async () => {
    const measured = await metricsOfNode();
    const used = [...alerts(), ...dashboard()].flatMap((expression) => [
      ...expression.matchAll(/\b(?:fanal|beacon|libp2p|process|nodejs)_\w+/g),
    ]);
    expect(used.length).toBeGreaterThan(50);
    const unknown = used.map(([name]) => name).filter((name) => !measured.has(name) && !isPartOf(measured, name));
    expect(unknown).toEqual([]);
  });
});

interface AlertRule {
  alert: string;
  for?: string;
  labels: { severity: string };
  annotations: { description?: string };
}

const rulesIn = (file: string): AlertRule[] =>
  (parse(readFileSync(file, "utf8")) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);

type ListedAlert = Record<"alert" | "severity" | "condition", string>;

function alertsListedIn(path: string): ListedAlert[] {
  const rows = readFileSync(join(ROOT, path), "utf8").matchAll(/^\| `(Fanal\w+)` \| (\w+) \| (.*) \|$/gm);
  return Array.from(rows, ([, alert, severity, condition]) => ({
    alert: alert!,
    severity: severity!,
    condition: condition!,
  }));
}

function expectAsInRules({ alert, severity, condition }: ListedAlert, rules: readonly AlertRule[]): void {
  const rule = rules.find((each) => each.alert === alert);
  expect(severity, alert).toBe(rule?.labels.severity);
  if (rule?.for !== undefined)
    expect(condition).toMatch(new RegExp(`for ${Number.parseInt(rule.for, 10)} minutes?\\b`));
}

function withoutSuffix(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, "");
}

function isPartOf(measured: Map<string, Described>, name: string): boolean {
  return name !== withoutSuffix(name) && measured.get(withoutSuffix(name))?.type === "histogram";
}

/** Runs wherever Prometheus is installed, for example by "apt-get install prometheus". */
describe("Prometheus", () => {
  it("accepts the rules", async (context) => {
    skipWithout("promtool", context);
    const promtool = (args: string[], input = "") => spawnSync("promtool", args, { input, encoding: "utf8" });
    const checked = promtool(["check", "metrics"], await scrape());
    expect(checked).toMatchObject({ status: 0, stdout: "", stderr: "" });
    const rules = promtool(["check", "rules", ALERTS]);
    expect(rules, rules.stderr).toMatchObject({ status: 0 });

    const test = join(tempDirectory(), "alerts.test.yml");
    writeFileSync(test, stringify(RULE_TESTS));
    const tested = promtool(["test", "rules", test]);
    expect(tested, tested.stdout + tested.stderr).toMatchObject({ status: 0 });
  });
});

const INSTANCE = 'job="fanal", instance="node"';
const TOTAL = 'validator="total"';

/** Series with one value per minute, in promtool's notation, and the alerts they trigger. */
const RULE_TESTS = {
  rule_files: [ALERTS],
  evaluation_interval: "1m",
  tests: [
    {
      interval: "1m",
      input_series: [{ series: `beacon_head_slot{${INSTANCE}}`, values: "100x60" }],
      alert_rule_test: [
        // A new node has no earlier values to compare with.
        { alertname: "FanalHeadStandsStill", eval_time: "9m", exp_alerts: [] },
      ],
      promql_expr_test: [firing("FanalHeadStandsStill", "12m")],
    },
    {
      interval: "1m",
      input_series: [
        { series: `beacon_head_slot{${INSTANCE}}`, values: "100+5x60" },
        { series: `beacon_finalized_epoch{${INSTANCE}}`, values: "7x60" },
        { series: `fanal_sync_state{${INSTANCE}, state="synced"}`, values: "1x60" },
      ],
      alert_rule_test: [
        { alertname: "FanalHeadStandsStill", eval_time: "50m", exp_alerts: [] },
        { alertname: "FanalNothingFinalized", eval_time: "40m", exp_alerts: [] },
      ],
      promql_expr_test: [firing("FanalNothingFinalized", "50m")],
    },
    {
      interval: "1m",
      input_series: [
        { series: `fanal_clock_slot{${INSTANCE}}`, values: "100+5x60" },
        // Three slots behind, and from the 20th minute on five.
        { series: `beacon_head_slot{${INSTANCE}}`, values: "97+5x19 195+5x40" },
        { series: `fanal_head_optimistic{${INSTANCE}}`, values: "0x20 1x40" },
      ],
      alert_rule_test: [
        { alertname: "FanalHeadLags", eval_time: "19m", exp_alerts: [] },
        { alertname: "FanalOptimisticHead", eval_time: "25m", exp_alerts: [] },
      ],
      promql_expr_test: [firing("FanalHeadLags", "30m", "warning"), firing("FanalOptimisticHead", "40m", "warning")],
    },
    {
      interval: "1m",
      input_series: [
        // 100 GB, of which 50 MB are used per minute: full after 33 hours.
        { series: `fanal_disk_free_bytes{${INSTANCE}}`, values: "100000000000-50000000x300" },
        { series: 'fanal_disk_free_bytes{job="fanal", instance="full"}', values: "4294967296x300" },
      ],
      alert_rule_test: [
        // A new node has too few samples for a prediction.
        { alertname: "FanalDiskFillsUp", eval_time: "2h", exp_alerts: [] },
        {
          alertname: "FanalDiskNearlyFull",
          eval_time: "1h",
          exp_alerts: [
            {
              exp_labels: { severity: "critical", job: "fanal", instance: "full" },
              exp_annotations: {
                summary: "The disk of full has 4GiB free",
                description: "A node whose disk is full stops. Free space, or limit what the node stores.",
              },
            },
          ],
        },
      ],
      promql_expr_test: [firing("FanalDiskFillsUp", "4h", "warning")],
    },
    {
      interval: "1m",
      input_series: [
        { series: `fanal_monitor_attestations_total{${INSTANCE}, ${TOTAL}, outcome="included"}`, values: "0+9x60" },
        {
          series: `fanal_monitor_attestations_total{${INSTANCE}, ${TOTAL}, outcome="missed"}`,
          values: "0+1x20 20+3x40",
        },
        { series: `fanal_monitor_proposals_total{${INSTANCE}, ${TOTAL}, outcome="missed"}`, values: "0x30 1x30" },
        { series: `fanal_monitor_slashed{${INSTANCE}, ${TOTAL}}`, values: "0x30 1x30" },
        { series: `fanal_duplicate_key_messages_total{${INSTANCE}, kind="block"}`, values: "0x30 1x30" },
      ],
      alert_rule_test: [
        { alertname: "FanalMissedAttestations", eval_time: "19m", exp_alerts: [] },
        { alertname: "FanalMissedProposal", eval_time: "29m", exp_alerts: [] },
        { alertname: "FanalValidatorSlashed", eval_time: "29m", exp_alerts: [] },
        { alertname: "FanalDuplicateKeys", eval_time: "29m", exp_alerts: [] },
      ],
      promql_expr_test: [
        firing("FanalMissedAttestations", "59m", "warning"),
        firing("FanalMissedProposal", "35m", "warning", `${INSTANCE}, ${TOTAL}, outcome="missed"`),
        firing("FanalValidatorSlashed", "35m", "critical", `${INSTANCE}, ${TOTAL}`),
        firing("FanalDuplicateKeys", "35m", "critical", 'instance="node"'),
      ],
    },
  ],
};

function firing(alertname: string, evalTime: string, severity = "critical", series = INSTANCE) {
  const labels = `alertname="${alertname}", alertstate="firing", severity="${severity}", ${series}`;
  return {
    expr: `ALERTS{alertname="${alertname}"}`,
    eval_time: evalTime,
    exp_samples: [{ labels: `ALERTS{${labels}}`, value: 1 }],
  };
}
