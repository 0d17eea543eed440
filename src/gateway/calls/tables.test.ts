import { describe, expect, it } from "vitest";
import { methods as definitions } from "../../api/method-groups.ts";
import type { FailureKind } from "../../failure.ts";
import { parseMessage } from "../../json/parse.ts";
import type { Feed } from "../../server/events/feed.ts";
import type { Answer, Params } from "../../server/method-table.ts";
import { requestTo } from "../../server/rest/request.ts";
import type { RestAnswer } from "../../server/rest/route-table.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Condition, Conditions } from "../condition.ts";
import { type Question, UpstreamError, type UpstreamResponse } from "../exchange.ts";
import { Operations } from "./operations.ts";
import { createGatewayTables } from "./tables.ts";

const FACTS: ChainFacts = {
  presetBase: "minimal",
  genesisValidatorsRoot: `0x${"00".repeat(32)}`,
  genesisTime: 1000,
  secondsPerSlot: 6,
  slotsPerEpoch: 8,
  forks: [
    { name: "phase0", epoch: 0 },
    { name: "deneb", epoch: 0 },
    { name: "electra", epoch: 2 },
    { name: "fulu", epoch: 4 },
  ],
};
const ROOT = `0x${"11".repeat(32)}`;

type Script = (question: Question) => Partial<Omit<UpstreamResponse, "body">> & { body?: unknown };

/** A gateway whose upstreams answer as told; what they are asked for is noted. */
class Gateway {
  readonly asked: Question[] = [];
  readonly conditions: Condition[];
  readonly #tables;

  constructor(script: Script = () => ({ body: { data: true } }), upstreams = ["one"]) {
    this.conditions = upstreams.map((upstream) => ({ upstream, fitness: "ready", reasons: [], version: "1" }));
    const conditions: Conditions = {
      all: this.conditions,
      of: (upstream) => this.conditions.find((each) => each.upstream === upstream)!,
      onChange: () => () => {},
      floor: 0,
      raiseFloor: () => {},
    };
    const ask = async (question: Question): Promise<UpstreamResponse> => {
      this.asked.push(question);
      const { body = "", ...given } = script(question);
      const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
      const headers: UpstreamResponse["headers"] =
        typeof body === "string" ? {} : { "content-type": "application/json" };
      return { upstream: upstreams[0]!, status: 200, headers, body: bytes, ...given };
    };
    this.#tables = createGatewayTables({
      reads: { read: ask },
      upstreams: { submit: ask },
      conditions,
      events: { feed: (topics): Feed => ({ topics, open: () => () => {} }), revision: new Int32Array(2) },
      facts: FACTS,
      timers: { unixNow: () => (1000 + 6 * 33) * 1000 + 2500 },
    });
  }

  get requests() {
    return this.asked.map(({ request: { verb, url } }) => `${verb} ${url}`);
  }

  get names() {
    return Array.from(this.#tables.methods.entries(), ([name]) => name);
  }

  call(name: string, params: Params = []): Promise<Answer> {
    return this.#tables.methods.find(name)!.call(params);
  }

  async result(name: string, params: Params = []): Promise<unknown> {
    return JSON.parse(String((await this.call(name, params)).body));
  }

  /** A request to a path, with the placeholders and the rest of what HTTP would have found in it. */
  request(path: string, url: string, given: { headers?: Record<string, string>; body?: Buffer; sent?: string } = {}) {
    const verb = given.body ? "POST" : "GET";
    const route = this.#tables.routes.find((each) => each.path === path && each.verb === verb)!;
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`);
    const values = pattern.exec(url.split("?", 1)[0]!)!.slice(1).map(decodeURIComponent);
    const format = route.answers.length === 0 ? undefined : given.headers?.accept?.includes("octet") ? "ssz" : "json";
    return route.handle(
      requestTo(route, {
        params: Object.fromEntries(names.map((name, position) => [name, values[position]!])),
        url: given.sent ?? url,
        headers: given.headers ?? {},
        body: given.body,
        waiting: { signal: new AbortController().signal },
        format,
      }),
    );
  }
}

function bodyOf({ content }: RestAnswer): string {
  return String(Buffer.concat(content!.parts as Buffer[]));
}

describe("a call becomes its REST twin", () => {
  async function requestOf(name: string, params: Params) {
    const gateway = new Gateway();
    await gateway.call(name, params);
    return gateway.asked[0]!;
  }

  it.each<[string, Params, string]>([
    ["get_v1_beacon_states_root", ["head"], "GET /eth/v1/beacon/states/head/root"],
    ["get_v1_beacon_states_root", { state_id: 5 }, "GET /eth/v1/beacon/states/5/root"],
    ["get_v1_beacon_states_root", [`0x${"AB".repeat(32)}`], `GET /eth/v1/beacon/states/0x${"ab".repeat(32)}/root`],
    [
      "get_v1_beacon_states_stateId_validators",
      ["head", ["1", 2], ["active"]],
      "GET /eth/v1/beacon/states/head/validators?id=1&id=2&status=active",
    ],
    ["get_v1_beacon_states_stateId_validators", ["head", []], "GET /eth/v1/beacon/states/head/validators"],
    ["get_v1_beacon_headers", ["18446744073709551615"], "GET /eth/v1/beacon/headers?slot=18446744073709551615"],
    [
      "get_v3_validator_blocks_slot",
      [7, ROOT.replace("0x", `0x${"11".repeat(64)}`), "me", true, 2],
      `GET /eth/v3/validator/blocks/7?randao_reveal=0x${"11".repeat(96)}&graffiti=0x${Buffer.from("me").toString("hex").padEnd(64, "0")}&skip_randao_verification=&builder_boost_factor=2`,
    ],
    [
      "get_v1_validator_block",
      { slot: 7, randao_reveal: `0x${"11".repeat(96)}` },
      `GET /eth/v3/validator/blocks/7?builder_boost_factor=0&randao_reveal=0x${"11".repeat(96)}`,
    ],
    ["get_v1_validator_attestation", [7, 0], "GET /eth/v1/validator/attestation_data?slot=7&committee_index=0"],
    ["get_v1_beacon_pool_attestations", [], "GET /eth/v2/beacon/pool/attestations"],
  ])("%s %j", async (name, params, expected) => {
    const { request } = await requestOf(name, params);
    expect(`${request.verb} ${request.url}`).toBe(expected);
  });

  it("with what stands in path and query by the names of the parameters", async () => {
    const { params } = await requestOf("get_v1_beacon_states_stateId_validators", ["head", ["1", "2"]]);
    expect(params).toEqual({ state_id: "head", id: "1,2" });
  });

  it("with a body as it came, whatever its numbers are", async () => {
    const given = '[[{"slot":"1","big":12345678901234567890,"fraction":1.50}]]';
    const params = parseMessage(Buffer.from(given)) as Params;
    const { request } = await requestOf("post_v2_beacon_pool_attestations", params);
    expect(String(request.body)).toBe(given.slice(1, -1));
    expect(request.headers["content-type"]).toBe("application/json");
  });

  it("with items that are spread over the parameters as one list", async () => {
    const { request } = await requestOf("post_v1_beacon_pool_attestations", [{ a: 1 }, [{ a: 2 }, { a: 3 }]]);
    expect(String(request.body)).toBe('[{"a":1},{"a":2},{"a":3}]');
  });

  it("with an empty list where a list may be left out", async () => {
    const { request } = await requestOf("post_v1_beacon_states_stateId_validator_balances", ["head"]);
    expect(String(request.body)).toBe("[]");
  });

  it.each<[string, string, unknown, string]>([
    ["its own, if that is said", "post_v2_beacon_blocks", [{ message: { slot: "1" } }, null, "fulu"], "fulu"],
    ["that of its slot", "post_v2_beacon_blocks", [{ message: { slot: "1" } }], "deneb"],
    [
      "that of its slot",
      "post_v1_beacon_blocks",
      [{ blobs: [], signed_block: { message: { slot: "16" } } }],
      "electra",
    ],
    ["that of its slot", "post_v1_beacon_pool_attestations", [{ data: { slot: 15 } }], "deneb"],
    ["that of now, when it has no slot", "post_v2_beacon_pool_attester_slashings", [{}], "fulu"],
  ])("with the fork of an object: %s (%s)", async (_what, name, params, fork) => {
    const { request } = await requestOf(name, params as Params);
    expect(request.headers["eth-consensus-version"]).toBe(fork);
  });

  it("with a body instead of a URL that is too long", async () => {
    const ids = Array.from({ length: 2000 }, (_, index) => String(index));
    const { request, method } = await requestOf("get_v1_beacon_states_stateId_validators", ["head", ids, ["active"]]);
    expect(method.name).toBe("post_v1_beacon_states_stateId_validators");
    expect(request).toMatchObject({ verb: "POST", url: "/eth/v1/beacon/states/head/validators" });
    expect(JSON.parse(String(request.body))).toEqual({ ids, statuses: ["active"] });
    const balances = await requestOf("get_v1_beacon_states_stateId_validator_balances", ["head", ids]);
    expect(JSON.parse(String(balances.request.body))).toEqual(ids);
  });

  it("unless its parameters are wrong, of which no upstream hears", async () => {
    const gateway = new Gateway();
    await expect(gateway.call("get_v1_beacon_states_root", ["tail"])).rejects.toThrow(
      'The parameter "state_id" must be',
    );
    await expect(gateway.call("get_v1_node_peers_peerId", ["../../x"])).rejects.toThrow("must consist of letters");
    await expect(gateway.call("post_v2_beacon_blocks", [])).rejects.toThrow('signed_block_or_contents" is missing');
    expect(gateway.asked).toEqual([]);
  });
});

describe("an answer says who gave it", () => {
  it("in headers, with its metadata", async () => {
    const body = { version: "fulu", data: { root: ROOT }, finalized: true };
    const gateway = new Gateway(() => ({ body, kept: "memory" }));
    const answer = await gateway.call("get_v1_beacon_states_root", ["head"]);
    expect(String(answer.body)).toBe(JSON.stringify({ root: ROOT }));
    expect(answer.meta).toEqual({ version: "fulu", finalized: true });
    expect(answer.headers).toEqual({
      "Fanal-Upstream": "one",
      "Fanal-Kept": "memory",
      "Eth-Consensus-Version": "fulu",
      "Eth-Consensus-Finalized": "true",
    });
  });

  it("without headers of what cannot be one", async () => {
    const gateway = new Gateway(() => ({ body: { version: "fulu\r\nSet-Cookie: x", data: {} } }));
    expect((await gateway.call("get_v1_beacon_genesis")).headers).toEqual({ "Fanal-Upstream": "one" });
  });

  it.each([200, 202])("by the status %i where that is the result", async (status) => {
    const gateway = new Gateway(() => ({ status, body: "null" }));
    expect(await gateway.result("post_v2_beacon_blocks", [{}])).toBe(status);
    const accepted = gateway.result("post_v1_validator_block", [{}]);
    if (status === 200) expect(await accepted).toBe(true);
    else await expect(accepted).rejects.toMatchObject({ kind: "rejected", message: expect.stringContaining("one") });
  });

  it("with a status of health that REST could not answer with", async () => {
    const gateway = new Gateway(() => ({ status: 206 }));
    expect(await gateway.result("get_v1_node_health", [100])).toEqual({ health: 100 });
    expect(await gateway.result("get_v1_node_health")).toEqual({ health: 206 });
    expect(gateway.requests).toEqual(["GET /eth/v1/node/health", "GET /eth/v1/node/health"]);
  });
});

describe("a refusal", () => {
  const READ = "get_v1_beacon_states_root";
  const SUBMISSION = "post_v2_beacon_pool_attestations";
  it.each<[string, number, unknown, FailureKind, string]>([
    [READ, 400, { code: 400, message: "BAD_REQUEST: invalid state" }, "invalid-params", "BAD_REQUEST: invalid state"],
    [READ, 404, { code: 404, message: "NOT_FOUND: no such state" }, "not-found", "NOT_FOUND: no such state"],
    [READ, 404, { code: 404, message: "Not found" }, "not-found", "Not found"],
    [READ, 404, { code: 404, message: "NOT_FOUND" }, "unsupported", "does not have what"],
    [READ, 404, "404 page not found", "unsupported", "does not have what"],
    [READ, 404, { statusCode: 404, message: "Route GET:/eth/x not found" }, "unsupported", "does not have what"],
    [READ, 405, "", "unsupported", "does not have what"],
    [READ, 413, { message: "Too large." }, "limit-exceeded", "Too large."],
    [READ, 429, "", "overloaded", "answered with the status 429"],
    [READ, 501, { message: "Not yet." }, "unsupported", "Not yet."],
    [READ, 503, { message: "The node is syncing." }, "unavailable", "The node is syncing."],
    [READ, 500, { message: "Oh." }, "server", "The upstream one failed with the status 500: Oh."],
    [READ, 502, "<html>Bad Gateway</html>", "server", "The upstream one failed with the status 502: <html>"],
    [SUBMISSION, 400, { message: "Invalid signature." }, "rejected", "Invalid signature."],
    [SUBMISSION, 400, { message: 'The parameter "attestations" must be' }, "invalid-params", "must be"],
  ])("of %s with %i %j is %s", async (name, status, body, kind, message) => {
    const gateway = new Gateway(() => ({ status, body }));
    const params = name === READ ? ["head"] : [[{}]];
    await expect(gateway.call(name, params)).rejects.toMatchObject({ kind, message: expect.stringContaining(message) });
  });

  it("says what is wrong with each item, and is bounded", async () => {
    const failures = [{ index: 1, message: "x".repeat(5000) }, { index: "2", message: "no" }, { wrong: true }];
    const message = "The submission was rejected: 2 of 3 items: no";
    const gateway = new Gateway(() => ({ status: 400, body: { code: 400, message, failures } }));
    await expect(gateway.call(SUBMISSION, [[{}]])).rejects.toMatchObject({
      kind: "rejected",
      message,
      detail: "no",
      failures: [
        { index: 1, message: `${"x".repeat(1000)}…` },
        { index: 2, message: "no" },
      ],
    });
  });

  it("of an upstream that gives no answer names it", async () => {
    const gateway = new Gateway(() => {
      throw new UpstreamError("one", "It cannot be reached.", { mayHaveArrived: false });
    });
    await expect(gateway.call(READ, ["head"])).rejects.toMatchObject({
      kind: "unavailable",
      message: "one: It cannot be reached.",
    });
    await expect(gateway.request("/eth/v1/beacon/genesis", "/eth/v1/beacon/genesis")).rejects.toMatchObject({
      kind: "unavailable",
    });
  });

  it("of what is no answer names the upstream", async () => {
    const gateway = new Gateway(() => ({ body: "<html>" }));
    await expect(gateway.call(READ, ["head"])).rejects.toMatchObject({
      kind: "unavailable",
      message: "What the upstream one answered is no JSON object.",
    });
  });
});

describe("what is composed of an answer", () => {
  it.each(['{"data":null}', '{"data":{}}', '{"data":{x}}'])("fails by the fault of who gave %s", async (body) => {
    const gateway = new Gateway(() => ({ body, headers: { "content-type": "application/json" } }));
    for (const name of ["getNetworkEnr", "getBeaconHead", "getChainHead", "getNetworkPeers"]) {
      await expect(gateway.call(name)).rejects.toMatchObject({
        kind: "unavailable",
        message: expect.stringMatching(/^one answered \w+ in a form that the standard does not have/),
      });
    }
  });

  it("is read to a bound, and only while somebody waits", async () => {
    let isOver = false;
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024, "a");
    async function* endless() {
      try {
        yield Buffer.from('{"data":"');
        for (; ; sent += chunk.length) yield chunk;
      } finally {
        isOver = true;
      }
    }
    const ask = () => ({ upstream: "one", status: 200, headers: {}, body: endless() });
    const operations = new Operations({
      reads: { read: async () => ask() },
      upstreams: { submit: async () => ask() },
      facts: FACTS,
      timers: { unixNow: () => 0 },
    });
    const leaving = new AbortController();
    const tell = () => operations.tell("get_v1_node_identity", [], { signal: leaving.signal }, (value) => value);
    await expect(tell()).rejects.toThrow("one answered with more than");
    expect(isOver).toBe(true);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    isOver = false;
    const left = tell();
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(isOver).toBe(true);
  });
});

describe("what only some nodes have", () => {
  const LACKING = { status: 404, body: { statusCode: 404, message: "Route GET:/nimbus/v1 not found" } };

  it("is asked of those that have it, and of others again when they have become another version", async () => {
    const gateway = new Gateway(
      ({ lacking }) => (lacking?.has("one") ? { upstream: "two", body: { data: [] } } : LACKING),
      ["one", "two"],
    );
    expect(await gateway.result("getEth1Chain")).toEqual([]);
    expect(gateway.requests).toEqual(Array(2).fill("GET /nimbus/v1/eth1/chain"));
    await gateway.call("getEth1Chain");
    expect(gateway.asked).toHaveLength(3);
    gateway.conditions[0] = { ...gateway.conditions[0]!, version: "2" };
    await gateway.call("getEth1Chain");
    expect(gateway.asked).toHaveLength(5);
    const answer = await gateway.request("/fanal/v1/eth1/chain", "/fanal/v1/eth1/chain");
    expect(bodyOf(answer)).toBe('{"data":[]}');
    expect(gateway.requests.at(-1)).toBe("GET /nimbus/v1/eth1/chain");
  });

  it("is unsupported when nobody has it, which is not asked again", async () => {
    const gateway = new Gateway(() => LACKING);
    for (let time = 0; time < 2; time++) {
      await expect(gateway.call("getStateProof", ["head", ["slot"]])).rejects.toMatchObject({
        kind: "unsupported",
        message: "getStateProof is not in the standard, and none of the upstreams has it.",
      });
    }
    await expect(gateway.call("setGraffiti", ["hello"])).rejects.toMatchObject({ kind: "unsupported" });
    await expect(gateway.request("/fanal/v1/eth1/chain", "/fanal/v1/eth1/chain")).rejects.toMatchObject({
      kind: "unsupported",
    });
    expect(gateway.requests).toEqual([
      "POST /fanal/v1/proofs/states/head",
      "POST /nimbus/v1/graffiti",
      "GET /nimbus/v1/eth1/chain",
    ]);
  });

  it("is composed where the standard tells enough", async () => {
    const peer = { peer_id: "Qm1", last_seen_p2p_address: "/ip4/127.0.0.1/tcp/9000" };
    const gateway = new Gateway(({ request }) =>
      request.url.startsWith("/eth/") ? { body: { data: [peer] } } : LACKING,
    );
    expect(await gateway.result("peers")).toEqual({
      peers: [
        {
          id: "Qm1",
          info: {
            peerId: "Qm1",
            addrs: [peer.last_seen_p2p_address],
            protocols: [],
            protoVersion: "",
            agentVersion: "",
          },
          connectionState: "Connected",
          score: 0,
        },
      ],
    });
    expect(await gateway.result("getChainTime")).toEqual({
      chain_time: "1200.500",
      wall_time: "1200.500",
      offset: "0.000",
      speed: 1,
      slot: "33",
      wall_slot: "33",
      seconds_to_next_slot: "3.500",
    });
    const answer = await gateway.request("/nimbus/v1/network/peers", "/nimbus/v1/network/peers");
    expect(JSON.parse(bodyOf(answer)).data.peers).toHaveLength(1);
  });
});

describe("a gateway itself", () => {
  it("is ready while an upstream is, and says what is wrong with the others", async () => {
    const gateway = new Gateway(undefined, ["one", "two"]);
    const reasons = ["It is 40 slots behind."];
    gateway.conditions[1] = { upstream: "two", fitness: "behind", reasons };
    const ready = { ready: true, warmed_up: true, synced: true, database_writable: true, execution_online: true };
    expect(await gateway.result("getReadiness")).toEqual({
      ...ready,
      upstreams: [
        { upstream: "one", fitness: "ready", reasons: [] },
        { upstream: "two", fitness: "behind", reasons },
      ],
    });
    expect((await gateway.request("/fanal/v1/ready", "/fanal/v1/ready")).status).toBe(200);
    gateway.conditions[0] = { upstream: "one", fitness: "down", reasons: ["It cannot be reached."] };
    expect(await gateway.result("getReadiness")).toMatchObject({ ready: false, synced: false });
    const answer = await gateway.request("/fanal/v1/ready", "/fanal/v1/ready");
    expect(answer.status).toBe(503);
    expect(JSON.parse(bodyOf(answer)).data.ready).toBe(false);
    expect(gateway.asked).toEqual([]);
  });

  it("knows every method of a node, serves all but those that move a dev chain, and describes what it serves", async () => {
    const gateway = new Gateway();
    const all = definitions.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(gateway.names)).toEqual(new Set(all));
    const { methods } = (await gateway.result("rpc.discover")) as { methods: { name: string }[] };
    const described = new Set(methods.map(({ name }) => name));
    for (const { name, access } of definitions) {
      expect(described.has(name), name).toBe(access !== "dev");
      if (access === "dev") await expect(gateway.call(name)).rejects.toMatchObject({ kind: "unsupported" });
    }
    expect(gateway.asked).toEqual([]);
  });
});

describe("a request", () => {
  it("passes with its query, its fork and its body in SSZ, and nothing else", async () => {
    const gateway = new Gateway(() => ({ status: 202 }));
    const path = "/eth/v2/beacon/blocks";
    const headers = {
      "content-type": "application/octet-stream",
      "eth-consensus-version": "fulu",
      authorization: "Bearer secret",
      cookie: "a=b",
    };
    const body = Buffer.from([1, 2, 3]);
    const answer = await gateway.request(path, `${path}?broadcast_validation=consensus`, { headers, body });
    expect(answer).toEqual({ status: 202, headers: { "Fanal-Upstream": "one" } });
    expect(gateway.asked[0]).toMatchObject({ params: { broadcast_validation: "consensus" } });
    expect(gateway.asked[0]!.request).toEqual({
      verb: "POST",
      url: `${path}?broadcast_validation=consensus`,
      headers: {
        accept: "application/json",
        "content-type": "application/octet-stream",
        "eth-consensus-version": "fulu",
      },
      body,
    });
  });

  it("gets bytes in the form that it asks for, with the headers of the standard alone", async () => {
    const headers = {
      "content-type": "application/octet-stream",
      "eth-consensus-version": "fulu",
      "cache-control": "public, max-age=31536000, immutable",
      etag: '"abc"',
      "set-cookie": "a=b",
    };
    const gateway = new Gateway(() => ({ headers, body: "\u0001\u0002" }));
    const path = "/eth/v2/debug/beacon/states/{state_id}";
    const url = `/eth/v2/debug/beacon/states/${ROOT}`;
    const answer = await gateway.request(path, url, { headers: { accept: "application/octet-stream" } });
    expect(answer).toEqual({
      status: 200,
      headers: { "Fanal-Upstream": "one", "Eth-Consensus-Version": "fulu" },
      content: { format: "ssz", parts: [Buffer.from([1, 2])] },
      lasting: "forever",
      tag: '"abc"',
    });
    expect(gateway.asked[0]).toMatchObject({ format: "ssz", params: { state_id: ROOT } });
  });

  it("gets errors as JSON, whoever made them", async () => {
    const path = "/eth/v1/beacon/genesis";
    const own = { code: 404, message: "Chain genesis info is not yet known", stacktraces: [] };
    const refused = await new Gateway(() => ({ status: 404, body: own })).request(path, path);
    expect(refused.status).toBe(404);
    expect(JSON.parse(bodyOf(refused))).toEqual(own);
    const failed = await new Gateway(() => ({ status: 502, body: "<html>" })).request(path, path);
    expect(JSON.parse(bodyOf(failed))).toEqual({
      code: 502,
      message: "The upstream one answered with the status 502.",
    });
  });

  it("passes to the path that it was taken for, whatever else its URL has in it", async () => {
    const gateway = new Gateway();
    const url = "/eth/v1/beacon/states/head/root";
    for (const sent of [`${url}#/../../../../../admin`, `http://10.0.0.1${url}`, url.replace("head", "%68ead")]) {
      await gateway.request("/eth/v1/beacon/states/{state_id}/root", url, { sent });
    }
    await gateway.request("/fanal/v1/eth1/chain", "/fanal/v1/eth1/chain", { sent: "/fanal/v1/eth1/chain#/.." });
    expect(gateway.requests).toEqual([...Array(3).fill(`GET ${url}`), "GET /nimbus/v1/eth1/chain"]);
  });

  it("names what it is about in the parameters of the standard alone", async () => {
    const gateway = new Gateway();
    await gateway.request("/eth/v1/node/syncing", "/eth/v1/node/syncing?state_id=0&block_id=0");
    await gateway.request(
      "/eth/v1/beacon/states/{state_id}/validators",
      "/eth/v1/beacon/states/head/validators?state_id=0&id=1&id=2",
    );
    expect(gateway.asked.map(({ params }) => params)).toEqual([{}, { state_id: "head", id: "1,2" }]);
  });

  it("that could be taken for another path passes to nobody", async () => {
    const gateway = new Gateway();
    const path = "/eth/v1/beacon/states/{state_id}/root";
    for (const id of ["..%2F..", "%2e%2e", "a%00", "a%3Fb"]) {
      await expect(gateway.request(path, `/eth/v1/beacon/states/${id}/root`)).rejects.toMatchObject({
        kind: "invalid-params",
      });
    }
    expect(gateway.asked).toEqual([]);
  });
});
