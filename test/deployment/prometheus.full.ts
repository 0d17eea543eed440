import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { stringify } from "yaml";
import { openQuietDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ALERTS, dashboard } from "./expressions.ts";
import { skipWithout } from "./prometheus.ts";

it("Prometheus scrapes the node and evaluates the dashboard", async (context) => {
  skipWithout("prometheus", context);
  const { node } = await openQuietDevChain(8);
  const { metricsUrl } = await node.serve({ metrics: { host: "127.0.0.1", port: 0 } });
  const url = await startPrometheus(new URL(metricsUrl!).host);
  const query = async (expression: string) => {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, error, data } = (await response.json()) as {
      status: string;
      error?: string;
      data?: { result: { value: [number, string] }[] };
    };
    expect([status, error], expression).toEqual(["success", undefined]);
    return data!.result.map(({ value: [, text] }) => Number(text));
  };
  const waiting = { timeout: 30_000, interval: 100 };
  await vi.waitFor(async () => expect(await query('up{job="fanal"}')).toEqual([1]), waiting);
  expect(await query("beacon_head_slot")).toEqual([node.chain.head.slot]);
  for (const expression of dashboard()) {
    await query(expression.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"));
  }
});

/** Starts Prometheus for the rest of the test. Returns its URL. */
async function startPrometheus(target: string): Promise<string> {
  const directory = tempDirectory();
  const config = join(directory, "prometheus.yml");
  const scrapeConfigs = [{ job_name: "fanal", static_configs: [{ targets: [target] }] }];
  writeFileSync(
    config,
    stringify({ global: { scrape_interval: "1s" }, rule_files: [ALERTS], scrape_configs: scrapeConfigs }),
  );
  const prometheus = spawn(
    "prometheus",
    [`--config.file=${config}`, `--storage.tsdb.path=${directory}/data`, "--web.listen-address=127.0.0.1:0"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  onTestFinished(async () => {
    const ended = once(prometheus, "exit");
    prometheus.kill("SIGKILL");
    await ended;
  });
  return `http://${await addressIn(prometheus)}`;
}

/** Returns the listening address from the log. */
function addressIn(prometheus: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = "";
    prometheus.stderr!.on("data", (chunk: Buffer) => {
      log += chunk;
      const found = /Listening on" address=(\S+)/.exec(log)?.[1];
      if (found) resolve(found);
    });
    prometheus.once("exit", () => reject(new Error(`Prometheus ended: ${log}`)));
  });
}
