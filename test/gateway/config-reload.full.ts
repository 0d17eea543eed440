import { hash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { KeepAliveReaders } from "../support/gateway/keep-alive-readers.ts";
import { Program } from "../support/program/program.ts";
import { Client } from "../support/server/jsonrpc/websocket/client.ts";
import { RecordingProxy } from "../support/sockets/recording-proxy.ts";

const CLIENTS = 16;
/** Reads that are awaited after each change. */
const READS_PER_CHANGE = 500;
const READER_KEY = "key-of-the-reading-clients";
const WALLET_KEY = "key-of-another-client";

type Name = "a" | "b" | "c";

/** Starts a dev chain with a proxy per upstream, and a gateway with two workers in front of the first one. */
async function setup() {
  const chain = await Program.dev(["--validators", "8", "--slot-seconds", "1", "--rest", "--rest-port", "0"]);
  const [, nodeUrl] = await chain.untilLine(/REST is served at (http:\S+)/);
  const proxies = new Map<Name, RecordingProxy>();
  for (const name of ["a", "b", "c"] as const) {
    const proxy = await RecordingProxy.to(nodeUrl!);
    onTestFinished(() => proxy.close());
    proxies.set(name, proxy);
  }

  const file = join(tempDirectory(), "gateway.yaml");
  // Renamed, because the gateway may read the file at any time.
  const write = (content: string) => {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  };
  const configOf = (upstreams: readonly Name[], { hasWallet = false, versionUnits = 1 } = {}) => {
    const reader = { name: "reader", "key-sha256": hash("sha256", READER_KEY) };
    const wallet = { name: "wallet", "key-sha256": hash("sha256", WALLET_KEY), budget: { "units-per-second": 500 } };
    return JSON.stringify({
      upstreams: upstreams.map((name) => ({ name, url: proxies.get(name)!.url })),
      clients: hasWallet ? [reader, wallet] : [reader],
      // Every read is sent to an upstream.
      methods: { "get_v1_beacon_*": { "cache-seconds": 0 }, get_v1_node_version: { units: versionUnits } },
    });
  };
  write(configOf(["a"]));
  const flags = ["--config-file", file, "--workers", "2", "--rest", "--rest-port", "0"];
  const gateway = await Program.served(["gateway", ...flags]);
  const [, restUrl] = await gateway.untilLine(/REST is served at (http:\S+)/);

  /** Changes the file and sends SIGHUP. */
  const change = async (content: string, line: RegExp) => {
    const from = gateway.lines.length;
    write(content);
    gateway.child.kill("SIGHUP");
    await gateway.untilLine(line, { from });
  };
  /** The upstreams must differ from those before. */
  const reload = (names: readonly Name[], changes?: Parameters<typeof configOf>[1]) => {
    const list = names.map((name) => `"${name}"`).join();
    return change(configOf(names, changes), new RegExp(`Config file reloaded .*upstreams=\\[${list}\\] `));
  };
  const rejects = (content: string, problem: string) =>
    change(content, new RegExp(` ERROR .*Config file rejected, keeping the previous settings .*${problem}`));
  /** Statuses of calls with the other key over new connections, which the workers accept in turn. */
  const walletStatuses = async () => {
    const headers = { "X-Api-Key": WALLET_KEY, Connection: "close" };
    const sent = Array.from({ length: 4 }, () => fetch(`${restUrl}/eth/v1/node/version`, { headers }));
    return (await Promise.all(sent)).map(({ status }) => status);
  };
  return { chain, proxies, gateway, restUrl: restUrl!, reload, rejects, walletStatuses };
}

const fourTimes = (status: number) => Array.from({ length: 4 }, () => status);

it("config changes on SIGHUP reach all workers under load without a failed read or a dropped connection", async () => {
  const { chain, proxies, gateway, restUrl, reload, rejects, walletStatuses } = await setup();
  const [, ...workers] = await gateway.untilLine(/Workers serve\s+pids=(\d+),(\d+)/);
  const socket = await Client.connect(`${gateway.url}/${READER_KEY}`);
  await socket.subscribe(["head"]);
  const readers = new KeepAliveReaders({ restUrl, jsonRpcUrl: gateway.url, key: READER_KEY, count: CLIENTS });

  /** Expects that all reads from now on go to these upstreams, and that no connection to another one stays open. */
  const expectReadsAt = async (...names: Name[]) => {
    const { started, finished } = readers;
    const readAt = () => [...proxies].flatMap(([name, { lastTraceId }]) => (lastTraceId > started ? [name] : []));
    await expect.poll(() => readers.finished).toBeGreaterThan(finished + READS_PER_CHANGE);
    await expect.poll(readAt).toEqual(names);
    const connected = () => [...proxies].flatMap(([name, { connections }]) => (connections > 0 ? [name] : []));
    await expect.poll(connected).toEqual(names);
    expect(readAt()).toEqual(names);
  };

  await expectReadsAt("a");
  expect(await walletStatuses()).toEqual(fourTimes(401));

  await reload(["b"], { hasWallet: true });
  await expectReadsAt("b");
  expect(await walletStatuses()).toEqual(fourTimes(200));
  await rejects(`{ upstreams: [{ name: c, url: "${proxies.get("c")!.url}", teir: 1 }], qurom: 1 }`, "teir.*qurom");
  await expectReadsAt("b");
  expect(await walletStatuses()).toEqual(fourTimes(200));

  await reload(["c"], { hasWallet: true, versionUnits: 501 });
  await expectReadsAt("c");
  expect(await walletStatuses()).toEqual(fourTimes(429));
  await rejects("upstreams: [", "a bracket that is not closed");
  await expectReadsAt("c");
  expect(await walletStatuses()).toEqual(fourTimes(429));

  await reload(["a", "b"]);
  expect(await walletStatuses()).toEqual(fourTimes(401));
  await expectReadsAt("a", "b");
  await reload(["b"]);
  await expectReadsAt("b");

  await readers.stop();
  expect(readers.failures, readers.failures.join("\n")).toEqual([]);
  expect(readers.sockets.size).toBe(CLIENTS);
  // None was replaced.
  for (const pid of workers) process.kill(Number(pid), 0);
  // The subscription got every head once, up to one that is newer than all changes.
  const headSlot: string = (await chain.call("getChainHead")).head_slot;
  const slots: number[] = [];
  while ((slots.at(-1) ?? 0) <= Number(headSlot)) {
    slots.push(Number(((await socket.notifications.next()).data as { slot: string }).slot));
  }
  expect(slots).toEqual([...new Set(slots)].sort((one, other) => one - other));
  const others = gateway.complaints.filter((line) => !line.includes("Config file rejected"));
  expect(others, others.join("\n")).toEqual([]);
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
});

it("SIGHUP does not stop a gateway that waits for its first upstream", async () => {
  const file = join(tempDirectory(), "gateway.yaml");
  writeFileSync(file, "upstreams: [{ url: http://127.0.0.1:1 }]");
  const gateway = new Program(["gateway", "--config-file", file, "--rpc-port", "0", "--rest-port", "0"]);
  await gateway.untilLine(/No upstream reports its chain/);
  gateway.child.kill("SIGHUP");
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  expect(gateway.output).toMatch(/Stopping; a second signal exits at once\s+signal=SIGTERM/);
});
