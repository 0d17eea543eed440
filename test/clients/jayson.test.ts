import jayson from "jayson/promise/index.js";
import { expect, it } from "vitest";
import { INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, serveChain, UNKNOWN_BLOCK } from "./served-chain.ts";

const served = serveChain();

/** An id of null makes a notification according to the documentation. The types lack it. */
const NOTIFICATION = null as unknown as string;

const createClient = () => {
  const { hostname, port } = new URL(served.url);
  return jayson.Client.http({ hostname, port });
};

it("calls by position and by name", async () => {
  const client = createClient();
  const byPosition = await client.request("get_v1_beacon_headers_blockId", ["head"]);
  expect(byPosition).toMatchObject({ jsonrpc: "2.0", result: { root: served.headRoot, canonical: true } });
  const byName = await client.request("get_v1_beacon_headers_blockId", { block_id: "head" });
  expect(byName.result).toEqual(byPosition.result);
});

it("sends batches, with the errors of single calls", async () => {
  const client = createClient();
  const responses = await client.request([
    client.request("getBeaconHead", [], undefined, false),
    client.request(UNKNOWN_BLOCK.method, UNKNOWN_BLOCK.params, undefined, false),
    client.request("get_v1_node_version", {}, undefined, false),
  ]);
  expect(responses).toMatchObject([
    { result: served.headSlot },
    { error: NOT_FOUND },
    { result: { version: expect.stringMatching(/^Fanal\//) } },
  ]);
});

it("sends notifications, which get no response", async () => {
  expect(await createClient().request("getBeaconHead", [], NOTIFICATION)).toBeUndefined();
});

it("returns errors with code and data", async () => {
  const client = createClient();
  expect(await client.request(UNKNOWN_BLOCK.method, UNKNOWN_BLOCK.params)).toMatchObject({ error: NOT_FOUND });
  expect(await client.request("getBeaconHead", [1])).toMatchObject({ error: INVALID_PARAMS });
  expect(await client.request("eth_unknownMethod", [])).toMatchObject({ error: METHOD_NOT_FOUND });
});
