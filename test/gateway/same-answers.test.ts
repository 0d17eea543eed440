import { ForkName } from "@lodestar/params";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { restCall } from "../rest/rest-request.ts";
import { ExampleDevChain } from "../support/example-chain.ts";
import { exampleParams, inExampleOrder } from "../support/examples.ts";
import { type ServedCalls, serveCalls } from "../support/gateway-calls.ts";
import { type ServedApi, serveApi } from "../support/served-api.ts";

/** What a gateway answers by itself. */
const OWN = ["rpc.discover", "getReadiness", "subscribe", "unsubscribe"];

const COMPARED = inExampleOrder(methods)
  .filter(({ access, name }) => access !== "dev" && !OWN.includes(name))
  .map((method) => [method.name, method] as const);

/** What matters of a reply. */
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

describe.each([ForkName.phase0, ForkName.fulu] as const)("on %s", (fork) => {
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

  it.each(COMPARED)("%s answers what the node does", async (name, method) => {
    const params = await exampleParams(method, chain);
    const expected = await callOf(node.jsonRpcUrl, name, params);
    expect(await callOf(gateway.jsonRpcUrl, name, params)).toEqual(expected);

    for (const path of method.rest) {
      if (path.takesText) continue;
      const { verb, path: url, headers, body } = restCall({ ...method, rest: [path] }, params, fork);
      for (const type of path.ssz === "answer" ? ["application/json", "application/octet-stream"] : ["*/*"]) {
        const init = { method: verb, headers: { ...headers, Accept: type }, body };
        const direct = await replyOf(node.restUrl + url, init);
        expect(await replyOf(gateway.restUrl + url, init), `${verb} ${url} as ${type}`).toEqual(direct);
      }
    }
  });
});
