import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { currentUpstream, openGateway } from "../../../test/support/gateway/gateway.ts";
import { Client } from "../../../test/support/server/jsonrpc/websocket/client.ts";
import type { ClientSettings } from "../settings.ts";

const KEY = "wallet-key-0123456789";
const OTHER_KEY = "other-key-0123456789abc";
/** Resembles a name. */
const SHORT_KEY = "only_letters_only";
const client = (name: string, key?: string, rest: Partial<ClientSettings> = {}): ClientSettings => ({
  name,
  keyHash: key && hash("sha256", key),
  classes: ["read", "submit"],
  budget: {},
  ...rest,
});

const VERSION = "/eth/v1/node/version";

it("accepts the key in a header or in the path, and logs only its name", async () => {
  let lines = "";
  const { request, call, gateway, log } = await openGateway(
    [await currentUpstream("a")],
    { clients: [client("wallet", KEY), client("letters", SHORT_KEY)] },
    (written) => {
      lines += written;
    },
  );
  expect((await request(VERSION)).status).toBe(401);
  expect((await request(VERSION, { headers: { "X-Api-Key": "wrong" } })).status).toBe(401);
  expect((await request(`/${OTHER_KEY}${VERSION}`)).status).toBe(401);
  expect((await request(VERSION, { headers: { "X-Api-Key": KEY } })).status).toBe(200);
  expect((await request(VERSION, { headers: { Authorization: `Bearer ${KEY}` } })).status).toBe(200);
  expect((await request(`/${KEY}${VERSION}`)).status).toBe(200);
  expect((await request(`/${KEY}/eth/v1/nothing`)).status).toBe(404);
  expect((await request(`//${KEY}${VERSION}`)).status).toBe(200);
  const encoded = KEY.replace("-", "%2d");
  const misplaced = [`/${KEY}/${KEY}${VERSION}`, `/nosuch/${OTHER_KEY}`, `/nosuch/${encoded}`, `/%2e%2e/${KEY}/`];
  for (const path of [...misplaced, `${VERSION}/${SHORT_KEY}`]) await request(path);
  expect((await request(`${VERSION}?key=${KEY}`)).status).toBe(401);
  expect(await call("getNodeVersion")).toMatchObject({ status: 401 });
  expect((await call("getNodeVersion", { path: `/${KEY}` })).body).toHaveProperty("result");
  const socket = await Client.connect(`${gateway.jsonRpcUrl}/${KEY}`);
  expect(await socket.call("getNodeVersion")).toHaveProperty("result");
  // The health probe needs no key, and shows details only with one.
  expect(await (await request("/fanal/v1/ready")).text()).toBe("");
  expect(await (await request(`/${KEY}/fanal/v1/ready`)).text()).toContain("upstreams");
  await gateway.close();
  const entries = lines.trimEnd().split("\n");
  expect(entries.filter((line) => JSON.parse(line).key === "wallet").length).toBeGreaterThanOrEqual(6);
  expect(lines + JSON.stringify(log)).not.toMatch(new RegExp(`${KEY}|${OTHER_KEY}|${encoded}|${SHORT_KEY}`));
});

it("logs no key of a malformed path, over REST and JSON-RPC", async () => {
  let lines = "";
  const { request, call, gateway, log } = await openGateway(
    [await currentUpstream("a")],
    { clients: [client("wallet", KEY), client("letters", SHORT_KEY)] },
    (written) => {
      lines += written;
    },
  );
  for (const key of [KEY, SHORT_KEY]) {
    const ends = [`%2Feth/v1/node/version`, "%20/x", "%00/x", "%3Fa", ":80/x", "+/x", "~/x", ".json"];
    for (const path of [...ends.map((end) => `/${key}${end}`), `/@${key}/x`, `/eth%2F${key}`]) {
      await request(path);
      await call("getNodeVersion", { path });
    }
  }
  await gateway.close();
  expect(lines.trimEnd().split("\n")).toHaveLength(40);
  expect(lines + JSON.stringify(log)).not.toMatch(new RegExp(`${KEY}|${SHORT_KEY}`));
});

it("limits a client to its classes and methods", async () => {
  const { request, call } = await openGateway([await currentUpstream("a")], {
    clients: [
      client("reader", KEY, { classes: ["read"], methods: ["get_v1_node_*"] }),
      client("public", undefined, { methods: ["get_v1_node_version"] }),
    ],
  });
  const headers = { "X-Api-Key": KEY };
  expect((await request(VERSION, { headers })).status).toBe(200);
  expect((await request("/eth/v1/beacon/genesis", { headers })).status).toBe(403);
  expect((await call("get_v1_node_syncing", { headers })).body).toHaveProperty("result");
  expect((await call("getChainHead", { headers })).body.error).toMatchObject({ data: { status: 403 } });
  const submission = await request("/eth/v1/beacon/pool/voluntary_exits", { method: "POST", headers, body: "{}" });
  expect(submission.status).toBe(403);
  expect(await submission.text()).toContain('may not call methods of class \\"submit\\"');
  expect((await request(VERSION)).status).toBe(200);
  expect((await request("/eth/v1/node/syncing")).status).toBe(403);
});

it("rejects calls beyond the budget with 429, and counts usage by client", async () => {
  const { request, call, metrics } = await openGateway([await currentUpstream("a")], {
    clients: [
      client("day", KEY, { budget: { requestsPerDay: 3 } }),
      client("units", OTHER_KEY, { budget: { unitsPerDay: 10 } }),
    ],
    policies: [{ pattern: "get_v1_node_syncing", units: 4 }],
  });
  const headers = { "X-Api-Key": KEY };
  for (let sent = 0; sent < 3; sent++) expect((await request(VERSION, { headers })).status).toBe(200);
  const rejected = await request(VERSION, { headers });
  expect(rejected.status).toBe(429);
  expect(Number(rejected.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect(await rejected.text()).toContain('Budget of client \\"day\\" exceeded: 3 requests per day.');
  expect((await call("getNodeVersion", { headers })).body.error).toMatchObject({
    code: -32005,
    data: { status: 429, retry_after: expect.any(Number) },
  });
  const others = { headers: { "X-Api-Key": OTHER_KEY } };
  const statuses = [];
  for (let sent = 0; sent < 3; sent++) statuses.push((await request("/eth/v1/node/syncing", others)).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await request(VERSION, others)).status).toBe(200);
  const text = await metrics();
  expect(text).toContain('fanal_gateway_client_calls_total{client="day",outcome="admitted"} 3');
  expect(text).toContain('fanal_gateway_client_calls_total{client="day",outcome="rejected"} 2');
  expect(text).toContain('fanal_gateway_client_units_total{client="units"} 9');
});

it("counts each call of a batch", async () => {
  const { gateway } = await openGateway([await currentUpstream("a")], {
    clients: [client("a", KEY, { budget: { requestsPerDay: 2 } })],
  });
  const one = { jsonrpc: "2.0", id: 1, method: "getNodeVersion", params: [] };
  const response = await fetch(`${gateway.jsonRpcUrl}/${KEY}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify([one, one, one]),
  });
  const answers = (await response.json()) as { error?: unknown }[];
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(2);
});

it("names the upstream whose budget is spent in reads and submissions", async () => {
  const upstream = await currentUpstream("a");
  const { request } = await openGateway([upstream], {
    upstreams: [{ ...upstream.options, budget: { requestsPerDay: 1 } }],
    memoryBytes: 0,
  });
  expect((await request(VERSION)).status).toBe(200);
  const expected = /No upstream is available\. a has spent its budget: 1 request per day, set by \W+budget\W+ of this/;
  await expect.poll(async () => (await request("/eth/v1/node/peer_count")).text()).toMatch(expected);
  const submission = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  const rejected = await request("/eth/v1/beacon/pool/voluntary_exits", submission);
  expect([rejected.status, await rejected.text()]).toEqual([503, expect.stringMatching(expected)]);
});
