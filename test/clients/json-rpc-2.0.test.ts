import { JSONRPCClient, type JSONRPCRequest, type JSONRPCResponse } from "json-rpc-2.0";
import { expect, it } from "vitest";
import { INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, serveChain, UNKNOWN_BLOCK } from "./served-chain.ts";

const served = serveChain();

/** The client leaves the transport to the caller. This follows its documentation. */
function createClient(onStatus: (status: number) => void = () => {}): JSONRPCClient {
  const client = new JSONRPCClient(async (request: JSONRPCRequest | JSONRPCRequest[]) => {
    const response = await fetch(served.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    onStatus(response.status);
    if (response.status === 200) client.receive((await response.json()) as JSONRPCResponse);
    else if (response.status !== 204) throw new Error(response.statusText);
  });
  return client;
}

it("calls by position and by name", async () => {
  const client = createClient();
  const byPosition = await client.request("get_v1_beacon_headers_blockId", ["head"]);
  expect(byPosition).toMatchObject({ root: served.headRoot, canonical: true });
  expect(await client.request("get_v1_beacon_headers_blockId", { block_id: "head" })).toEqual(byPosition);
  expect(await client.request("getBeaconHead", undefined)).toBe(served.headSlot);
});

it("sends batches, with the errors of single calls", async () => {
  const statuses: number[] = [];
  const client = createClient((status) => statuses.push(status));
  const responses = await client.requestAdvanced([
    { jsonrpc: "2.0", id: 1, method: "getBeaconHead", params: [] },
    { jsonrpc: "2.0", id: "two", ...UNKNOWN_BLOCK },
    { jsonrpc: "2.0", id: 3, method: "get_v1_node_version" },
  ]);
  expect(responses).toMatchObject([
    { id: 1, result: served.headSlot },
    { id: "two", error: NOT_FOUND },
    { id: 3, result: { version: expect.stringMatching(/^Fanal\//) } },
  ]);
  expect(statuses).toEqual([200]);
});

it("sends notifications, which get no response", async () => {
  const status = await new Promise<number>((resolve) => createClient(resolve).notify("getBeaconHead", []));
  expect(status).toBe(204);
});

it("throws errors with their code and data", async () => {
  const client = createClient();
  await expect(client.request(UNKNOWN_BLOCK.method, UNKNOWN_BLOCK.params)).rejects.toMatchObject(NOT_FOUND);
  await expect(client.request("getBeaconHead", [1])).rejects.toMatchObject(INVALID_PARAMS);
  await expect(client.request("eth_unknownMethod", [])).rejects.toMatchObject(METHOD_NOT_FOUND);
});
