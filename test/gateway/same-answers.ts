import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { LARGE_MESSAGE_BYTES } from "../../src/json/parse.ts";
import { SPECIAL_CALLS } from "../conformance/special-calls/special-calls.ts";
import { askTwin } from "../rest/lodestar-client.ts";
import { restCall } from "../rest/rest-request.ts";
import { ExampleDevChain, type ExampleFork } from "../support/api/example-chain.ts";
import { exampleParams, inExampleOrder } from "../support/api/examples.ts";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";
import { type ServedCalls, serveCalls } from "../support/gateway/served-calls.ts";
import { Client } from "../support/server/jsonrpc/websocket/client.ts";

/** Methods that a gateway answers itself. */
const OWN = ["rpc.discover", "getReadiness", "subscribe", "unsubscribe"];

const COMPARED = inExampleOrder(methods)
  .filter(({ access, needsEvm, name }) => access !== "dev" && !needsEvm && !OWN.includes(name))
  .map((method) => [method.name, method] as const);

const SPECIAL = Object.entries(SPECIAL_CALLS).filter(([name]) => COMPARED.some(([compared]) => compared === name));

/**
 * Calls with another error text: ids that are invalid in a path, aggregates, which use an operation with the committee
 * index from electra on, and lists of all fields of a state, which are cut since gloas.
 */
const OTHERWISE_SAID = [
  "getStateProof",
  "get_v1_node_peers_peerId",
  "get_v1_validator_aggregate_attestation",
  "get_v1_validator_aggregate_and_proof",
];

interface Response {
  error?: { message: string };
}

function leaving(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** The compared part of a response. */
interface Reply {
  status: number;
  text: string;
  headers: Record<string, string>;
}

const COMPARED_HEADERS = /^(eth-.*|content-type|cache-control|etag)$/;

async function replyOf(url: string, init?: RequestInit): Promise<Reply> {
  const response = await fetch(url, init);
  return {
    status: response.status,
    text: Buffer.from(await response.arrayBuffer()).toString("latin1"),
    headers: Object.fromEntries([...response.headers].filter(([name]) => COMPARED_HEADERS.test(name))),
  };
}

function callOf(url: string, method: string, params: unknown[]): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
  return replyOf(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
}

/** Declares the tests that a gateway responds like its node, on a chain of a fork. */
export function testSameAnswers(fork: ExampleFork): void {
  describe(`on ${fork}`, () => {
    let chain: ExampleDevChain;
    let node: ServedApi;
    let gateway: ServedCalls;
    beforeAll(async () => {
      chain = await ExampleDevChain.open(fork);
      node = await serveApi(chain.api);
      gateway = await serveCalls(chain, () => node.restUrl);
    });
    afterAll(async () => {
      await gateway?.close();
      await node?.close();
      await chain?.close();
    });

    it.each(COMPARED)("%s responds like the node", async (name, method) => {
      const params = await exampleParams(method, chain);
      const expected = await callOf(node.jsonRpcUrl, name, params);
      expect(await callOf(gateway.jsonRpcUrl, name, params)).toEqual(expected);

      for (const path of method.rest) {
        if (path.takesText) continue;
        const { verb, path: url, headers, body } = restCall({ ...method, rest: [path] }, params, fork);
        for (const type of path.ssz === "response" ? ["application/json", "application/octet-stream"] : ["*/*"]) {
          const init = { method: verb, headers: { ...headers, Accept: type }, body };
          const direct = await replyOf(node.restUrl + url, init);
          expect(await replyOf(gateway.restUrl + url, init), `${verb} ${url} as ${type}`).toEqual(direct);
        }
      }

      // Only the client sends SSZ bodies.
      if (method.operation === undefined || method.rest[0]?.ssz !== "body") return;
      const twin = { method, call: restCall(method, params, fork), response: JSON.parse(expected.text) };
      await askTwin({ ...node, restUrl: gateway.restUrl }, chain, twin);
    });

    it.each(SPECIAL)("%s rejects like the node", async (name, calls) => {
      for (const { what, params: paramsOn, only } of calls) {
        if (only !== undefined && only !== fork) continue;
        const params = await paramsOn(chain);
        const expected = JSON.parse((await node.call(name, params)).text) as Response;
        if (OTHERWISE_SAID.includes(name) && expected.error) expected.error.message = expect.any(String);
        expect(await gateway.call(name, params), what).toEqual(expected);
      }
    });

    it("accepts long messages like the node", async () => {
      // Padded with white space.
      const long = async (name: string, params: unknown, url: string) => {
        const message = JSON.stringify(
          { jsonrpc: "2.0", id: 1, method: name, params, meta: true },
          null,
          "\t".repeat(10),
        );
        const body = `${message}${" ".repeat(LARGE_MESSAGE_BYTES)}`;
        return replyOf(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      };
      const block = await chain.signedBlock();
      const attestations = await chain.attestations();
      for (const [name, params] of [
        ["post_v1_beacon_blocks", [block]],
        ["post_v2_beacon_blocks", { signed_block_or_contents: block, broadcast_validation: "gossip" }],
        ["post_v2_beacon_blocks", [block, "louder"]],
        ["post_v2_beacon_blocks", [{ message: {} }]],
        ["post_v1_beacon_pool_attestations", attestations],
        ["post_v1_beacon_pool_attestations", [attestations, ...attestations]],
        ["post_v1_validator_duties_attester", [chain.epoch, ["1", "2"]]],
        ["post_v1_beacon_states_stateId_validators", { state_id: "head", filter: { ids: ["1"] } }],
        ["get_v1_beacon_states_stateId_validators", ["head", ["1", "2"]]],
      ] as const) {
        const expected = await long(name, params, node.jsonRpcUrl);
        expect(await long(name, params, gateway.jsonRpcUrl), name).toEqual(expected);
      }
    });

    it("publishes events over WebSocket and REST", async () => {
      const client = await Client.connect(gateway.jsonRpcUrl);
      const subscription = await client.subscribe(["voluntary_exit"]);
      const { signal, abort } = leaving();
      const url = "/eth/v1/events?topics=voluntary_exit";
      const stream = await fetch(gateway.restUrl + url, { signal });
      const exit = chain.voluntaryExit(14);
      await gateway.call("post_v1_beacon_pool_voluntary_exits", [exit]);
      expect(await client.notifications.next()).toEqual({ subscription, topic: "voluntary_exit", data: exit });
      const { value } = await stream.body!.getReader().read();
      expect(Buffer.from(value!).toString()).toBe(`event: voluntary_exit\ndata: ${JSON.stringify(exit)}\n\n`);
      abort();
      expect((await client.call("unsubscribe", subscription)).result).toBe(true);
      expect(await replyOf(`${gateway.restUrl}${url}s`)).toEqual(await replyOf(`${node.restUrl}${url}s`));
    });

    it("logged no warnings or errors", () => {
      expect(gateway.log.filter(({ level }) => level === "error")).toEqual([]);
    });
  });
}
