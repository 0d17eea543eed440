import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import type { Report } from "../../src/gateway/doctor/report.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const SLOT_SECONDS = 60;
const WARMUP_EPOCHS = 5;
const FINAL_EPOCH = WARMUP_EPOCHS - 2;
const PATIENT = ["--timeout", "60"];
const OTHER_ROOT = `0x${"ee".repeat(32)}`;

/** Two nodes with the same genesis and identical validators produce the same chain. */
let urls: string[];
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  // Half a slot into the epoch after the warm-up history.
  const genesisTime = Math.floor(Date.now() / 1000) - (WARMUP_EPOCHS * 8 + 0.5) * SLOT_SECONDS;
  const chain = `--validators 8 --slot-seconds ${SLOT_SECONDS} --warmup-epochs ${WARMUP_EPOCHS} --genesis-time ${genesisTime}`;
  const open = async () => {
    const directory = removableDirectory();
    const flags = [...chain.split(" "), "--rest", "--rest-port", "0", "--data-dir", directory.path];
    const program = await ProgramHere.dev(flags, { whenDone: () => {} });
    ends.push(async () => {
      await program.stop();
      directory.remove();
    });
    const [, url] = await program.untilLine(/REST is served at (http:\S+)/);
    await program.callUntil<string>("getBeaconHead", (slot) => Number(slot) >= WARMUP_EPOCHS * 8);
    return url!;
  };
  urls = await Promise.all([open(), open()]);
});
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
});

async function doctor(...args: string[]) {
  const program = new ProgramHere(["doctor", ...PATIENT, ...args]);
  const { code } = await program.exited;
  return { code, output: program.output, errors: program.errors };
}

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Refuse = (url: string, body: string) => [status: number, message: string] | undefined;

/** Proxies the first node, with changes to the JSON at some URLs and refusals of some requests. */
async function pretender(
  changes: Record<string, (text: string) => string>,
  refuse: Refuse = () => undefined,
): Promise<string> {
  return listen(async (request, response) => {
    const body =
      request.method === "POST" ? await new Response(request as unknown as ReadableStream).text() : undefined;
    const [code, message] = refuse(request.url!, body ?? "") ?? [];
    if (code !== undefined) {
      response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify({ code, message }));
      return;
    }
    const { accept = "", "content-type": type = "" } = request.headers;
    const abort = new AbortController();
    response.once("close", () => abort.abort());
    const answer = await fetch(urls[0] + request.url!, {
      method: request.method,
      headers: { accept, ...(body === undefined ? {} : { "content-type": type }) },
      body,
      signal: abort.signal,
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    const change = changes[request.url!];
    if (change && accept.includes("json")) response.end(change(await answer.text()));
    else if (request.url!.startsWith("/eth/v1/events")) response.flushHeaders();
    else response.end(Buffer.from(await answer.arrayBuffer()));
  });
}

it("nodes of one chain are healthy, support every operation, and agree", async () => {
  const told = await doctor(...urls, "--all", "--json");
  const report = JSON.parse(told.output) as Report;
  expect(report.upstreams.flatMap(({ problems }) => problems)).toEqual([]);
  expect(told).toMatchObject({ code: 0, errors: [] });
  expect(report).toMatchObject({
    isWell: true,
    contradictions: [],
    differences: [],
    comparedAt: { slot: FINAL_EPOCH * 8 },
  });
  for (const upstream of report.upstreams) {
    expect(upstream).toMatchObject({
      version: expect.stringMatching(/^Fanal\//),
      network: "fanal-dev",
      finalized: { epoch: FINAL_EPOCH },
      behindBest: 0,
      problems: [],
      latency: { cheap: { median: expect.any(Number), p95: expect.any(Number) }, heavier: { calls: 10 } },
    });
  }
  // The only missing object is the deposit snapshot, because there is no deposit chain.
  const others = report.operations.filter(({ findings }) => findings.some(({ outcome }) => outcome !== "ok"));
  const outcomes = Object.fromEntries(
    others.map(({ path, findings }) => [path, findings.map(({ outcome }) => outcome)]),
  );
  expect(outcomes["/eth/v1/beacon/deposit_snapshot"]).toEqual(["absent", "absent"]);
  const notAsked = others.filter(({ path }) => path !== "/eth/v1/beacon/deposit_snapshot");
  for (const { findings } of notAsked)
    expect(findings.map(({ outcome }) => outcome)).toEqual(["not-asked", "not-asked"]);
  for (const { path, findings } of report.operations.filter(({ path }) => path.includes("/debug/beacon/states/"))) {
    expect(findings, path).toMatchObject([
      { outcome: "ok", ssz: "ok" },
      { outcome: "ok", ssz: "ok" },
    ]);
  }
});

it("problems of upstreams are reported, and differing ones are named", async () => {
  const slot = FINAL_EPOCH * 8;
  const liar = await pretender({
    [`/eth/v1/beacon/states/${slot}/root`]: () => JSON.stringify({ data: { root: OTHER_ROOT } }),
    [`/eth/v1/beacon/headers/${slot}`]: (text) => text.replace(/"root":"0x\w+"/, `"root":"${OTHER_ROOT}"`),
    "/eth/v1/config/deposit_contract": () => JSON.stringify({ data: { chain_id: 1 } }),
  });
  const behind = await pretender({
    "/eth/v1/node/syncing": (text) =>
      text.replace('"is_syncing":false', '"is_syncing":true').replace(/"sync_distance":"\d+"/, '"sync_distance":"30"'),
    "/eth/v1/beacon/headers/head": (text) => text.replace(/"slot":"\d+"/, '"slot":"10"'),
  });
  const page = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html></html>");
  });
  const told = await doctor(...urls, liar, behind, page, "http://127.0.0.1:1", "--json");
  expect(told).toMatchObject({ code: 1, errors: [] });
  const report = JSON.parse(told.output) as Report;
  const [good, twin, lying, late, strange, gone] = report.upstreams;
  expect([good!.problems, twin!.problems]).toEqual([[], []]);
  expect(report.contradictions).toEqual([
    expect.stringMatching(`CONFLICTING.* slot ${slot} .* but ${OTHER_ROOT} for ${lying!.upstream}\\.$`),
  ]);
  const rootDifference = report.differences.find(({ request }) => request === `GET /eth/v1/beacon/states/${slot}/root`);
  expect(rootDifference).toMatchObject({
    path: "data.root",
    said: [
      { upstreams: [good!.upstream, twin!.upstream, late!.upstream] },
      { upstreams: [lying!.upstream], value: JSON.stringify(OTHER_ROOT) },
    ],
  });
  for (const { said } of report.differences) expect(said[1]!.upstreams).toEqual([lying!.upstream]);
  expect(lying!.problems).toEqual([
    "One operation returned a result that does not match the standard.",
    "It answers 2 requests differently from other upstreams.",
  ]);
  expect(late!.problems).toEqual(
    expect.arrayContaining([
      "It is syncing, 30 slots behind the clock.",
      expect.stringMatching(/^Its head is at slot 10, but that of another upstream is at \d+\.$/),
      expect.stringMatching(/^Its head is \d+ slots behind the clock\.$/),
    ]),
  );
  expect(strange!.failure).toContain("a web page");
  expect(gone!.failure).toContain("refused the connection");

  const { output: text } = await doctor(urls[0]!, liar, page);
  expect(text).toMatch(/^CONFLICTING FINALITY/);
  expect(text).toMatch(/^GET \/eth\/v1\/beacon\/blocks\/\{block_id\}\/root +yes(?: slow)? +yes(?: slow)? +-$/m);
  expect(text).toMatch(/^GET \/eth\/v1\/config\/deposit_contract +yes(?: slow)? +WRONG(?: slow)? +-$/m);
  expect(text).toContain(`GET /eth/v1/beacon/states/${slot}/root\n  data.root\n`);
  expect(text.split("\n").filter((line) => line.length > 100)).toEqual([]);
});

it("a conforming node of another client is healthy", async () => {
  const unscheduled = `{"previous_version":"0x06000001","current_version":"0x07000001","epoch":"18446744073709551615"}`;
  // Responses of Lodestar 1.39 that is not a supernode.
  const lodestar = await pretender(
    { "/eth/v1/config/fork_schedule": (text) => text.replace(/\]\}$/, `,${unscheduled}]}`) },
    (url, body) => {
      if (/\/v1\/.*(?:attestations|attester_slashings|aggregate_and_proofs)(?:\?|$)/.test(url)) {
        return [400, "Use the second version for post-electra fork=fulu"];
      }
      if (/\/blob(?:s|_sidecars)\//.test(url))
        return [503, "Custody group count of 4 is not sufficient to serve blobs"];
      const areIndices = /^\["\d+"(?:,"\d+")*\]$/.test(body);
      return url.includes("/validator/duties/") && body && !areIndices
        ? [400, "body/2 must be a validator index"]
        : undefined;
    },
  );
  const told = await doctor(urls[0]!, lodestar, "--json");
  const { upstreams, operations, differences } = JSON.parse(told.output) as Report;
  expect(upstreams.flatMap(({ problems }) => problems)).toEqual([]);
  expect(differences).toEqual([]);
  expect(told).toMatchObject({ code: 0, errors: [] });
  const outcomeOf = (path: string) => operations.find((each) => each.path === path)!.findings[1]!.outcome;
  expect(outcomeOf("/eth/v1/validator/duties/attester/{epoch}")).toBe("ok");
  expect(outcomeOf("/eth/v1/beacon/blobs/{block_id}")).toBe("absent");
  expect(outcomeOf("/eth/v1/beacon/pool/attestations")).toBe("absent");
});

it("a syncing node has no failures", async () => {
  const syncing = await pretender(
    {
      "/eth/v1/node/syncing": (text) =>
        text
          .replace('"is_syncing":false', '"is_syncing":true')
          .replace(/"sync_distance":"\d+"/, '"sync_distance":"20"'),
    },
    (url) => (url.includes("/validator/") ? [503, "Node is syncing"] : undefined),
  );
  const told = await doctor(syncing, "--json");
  expect(told.code).toBe(1);
  const { upstreams } = JSON.parse(told.output) as Report;
  expect(upstreams[0]!.problems).toEqual([
    "It is syncing, 20 slots behind the clock.",
    expect.stringMatching(/^\d+ operations could not be served because it is not ready\.$/),
  ]);
});

it("credentials are sent only to their upstream, and Ctrl-C ends a wait", async () => {
  const seen = new Set<string | undefined>();
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const guarded = await listen((request, response) => {
    seen.add(request.headers.authorization);
    if (request.headers.authorization === undefined) resolve();
    else response.writeHead(403).end();
  });
  const withUser = guarded.replace("//", "//someone:hidden-word@");
  const program = new Program(["doctor", ...PATIENT, withUser]);
  expect(await program.exited).toEqual({ code: 1, signal: null });
  expect(program.output).toContain("It requires credentials (HTTP status 403)");
  expect(program.output).not.toContain("hidden-word");
  expect([...seen]).toEqual([`Basic ${Buffer.from("someone:hidden-word").toString("base64")}`]);

  const waiting = new Program(["doctor", ...PATIENT, guarded]);
  await asked;
  expect(await waiting.stop("SIGINT")).toEqual({ code: null, signal: "SIGINT" });
});
