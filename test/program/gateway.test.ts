import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { followsBack } from "../support/gateway/following.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { SseClient } from "../support/server/events/sse-client.ts";
import { Client } from "../support/server/jsonrpc/websocket/client.ts";
import { isFullTier } from "../support/suite/tier.ts";

// Starts several programs, each of which may take long on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let node: ProgramHere;
let nodeUrl: string;
const { path: dataDir, remove } = removableDirectory();
let endNode: (() => Promise<void>) | undefined;
afterAll(async () => {
  await endNode?.();
  remove();
});
beforeAll(async () => {
  const chain = ["--validators", "8", "--warmup-epochs", "1", "--slot-seconds", "2", "--data-dir", dataDir];
  const whenDone = (end: () => Promise<void>) => {
    endNode = end;
  };
  node = await ProgramHere.dev([...chain, "--rest", "--rest-port", "0"], { whenDone });
  nodeUrl = (await node.untilLine(/REST is served at (http:\S+)/))[1]!;
  await node.untilLine(/Dev chain is running/);
});

/** A gateway in front of the node, with credentials. Only workers need a separate process. */
async function startGateway(Run: typeof Program | typeof ProgramHere, ...flags: string[]) {
  const upstream = `${nodeUrl.replace("http://", "http://me:the-password@")} name=first`;
  const gateway = await Run.served(["gateway", "--upstream", upstream, "--rest-port", "0", ...flags]);
  const [, restUrl] = await gateway.untilLine(/REST is served at (http:\S+)/);
  return { gateway, restUrl: restUrl! };
}

it("a gateway serves its upstream over all protocols, names the upstream, and stops gracefully", async () => {
  const accessLog = join(tempDirectory(), "access.log");
  const flags = ["--metrics", "--metrics-port", "0", "--access-log", accessLog];
  const { gateway, restUrl } = await startGateway(ProgramHere, ...flags);
  await gateway.untilLine(/Upstream is ready\s+upstream=first version=\S*[Ff]anal/);
  const [, metricsUrl] = await gateway.untilLine(/Metrics are served at (http:\S+)/);

  expect(await gateway.call("get_v1_beacon_genesis")).toEqual(await node.call("get_v1_beacon_genesis"));
  const direct = await fetch(`${nodeUrl}/eth/v2/beacon/blocks/1`);
  const through = await fetch(`${restUrl}/eth/v2/beacon/blocks/1`);
  expect(through.headers.get("Fanal-Upstream")).toBe("first");
  expect(await through.text()).toBe(await direct.text());
  expect((await fetch(`${restUrl}/fanal/v1/ready`)).status).toBe(200);

  const socket = await Client.connect(gateway.url);
  await socket.subscribe(["head"]);
  const told = (await socket.notifications.next()).data as { slot: string; block: string };
  const head = await gateway.call("get_v1_beacon_headers_blockId", ["head"]);
  expect(Number(head.header.message.slot)).toBeGreaterThanOrEqual(Number(told.slot));

  const metrics = await (await fetch(metricsUrl!)).text();
  expect(metrics).toContain('fanal_upstream_condition{upstream="first",condition="ready"} 1');
  expect(metrics).toMatch(/fanal_upstream_requests_total\{upstream="first",outcome="200"\} \d/);
  expect(metrics).toMatch(/fanal_event_subscribers\{topic="head"\} 1/);

  const events = await SseClient.connect(`${restUrl}/eth/v1/events?topics=head`);
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  await events.closed;
  expect(await socket.closed).toMatchObject({ code: 1001 });
  expect(gateway.complaints).toEqual([]);
  const lines = readFileSync(accessLog, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ request: "GET /eth/v2/beacon/blocks/1", status: 200, upstream: "first" }),
  );
  for (const text of [gateway.output, metrics, ...lines]) expect(text).not.toMatch(/the-password|bWU6/);
});

if (isFullTier) {
  it("workers share the ports; a killed one is replaced and leaves no open connection; all end with the gateway", async () => {
    const { gateway, restUrl } = await startGateway(Program, "--workers", "2", "--metrics", "--metrics-port", "0");
    const [, metricsUrl] = await gateway.untilLine(/Metrics are served at (http:\S+)/);
    const [, first, second] = await gateway.untilLine(/Workers serve\s+pids=(\d+),(\d+)/);
    const sockets = await Promise.all([Client.connect(gateway.url), Client.connect(gateway.url)]);
    const heads = await Promise.all(
      sockets.map(async (socket) => {
        await socket.subscribe(["head", "block"]);
        return socket.notifications.next();
      }),
    );
    expect(heads.map(({ topic }) => topic)).toEqual([expect.stringMatching(/head|block/), expect.any(String)]);

    const get = (path: string) => fetch(restUrl + path, { headers: { Connection: "close" } });
    process.kill(Number(first), "SIGSTOP");
    const outcomes: unknown[] = [];
    const asked = Array.from({ length: 4 }, async () => {
      outcomes.push(
        await get("/fanal/v1/ready").then(
          ({ status }) => status,
          () => "broken off",
        ),
      );
    });
    // One of the four is for the stopped worker.
    await vi.waitFor(() => expect(outcomes).toEqual([200, 200, 200]), { timeout: 20_000 });
    process.kill(Number(first), "SIGKILL");
    await Promise.all(asked);
    expect(outcomes.at(-1)).toBe("broken off");
    await gateway.untilLine(/Worker exited, replacing it\s+pid=\d+/);
    for (let time = 0; time < 4; time++) expect((await get("/eth/v1/node/version")).status).toBe(200);
    const samples = async () => (await fetch(metricsUrl!)).text();
    await vi.waitFor(async () => expect(await samples()).toContain("fanal_gateway_workers 2\n"), { timeout: 60_000 });
    // Counts of the killed worker since its last report are lost.
    expect(await samples()).toMatch(/fanal_api_call_seconds_count\{server="rest",method="get_v1_node_version"\} 4/);

    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    for (const pid of [first, second]) expect(() => process.kill(Number(pid), 0)).toThrow();
  });
}

it("a gateway follows a dev chain reverted behind finality", () => followsBack(ProgramHere, "1"));

it("a gateway without an available upstream waits for one, and stops on a signal", async () => {
  const gateway = new ProgramHere([
    "gateway",
    "--upstream",
    "http://127.0.0.1:1",
    "--rpc-port",
    "0",
    "--rest-port",
    "0",
  ]);
  await gateway.untilLine(/No upstream reports its chain/);
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
});
