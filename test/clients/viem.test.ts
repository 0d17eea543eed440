import { createClient, type EIP1193RequestFn, type HttpTransportConfig, http, type Transport } from "viem";
import { expect, it } from "vitest";
import { INVALID_PARAMS, NOT_FOUND, serveChain, UNKNOWN_BLOCK } from "./served-chain.ts";

const served = serveChain();

interface Request {
  method: string;
  params?: unknown;
}

/** The client only types its own chain's methods, but sends any. */
function connect(options: HttpTransportConfig = {}) {
  const client = createClient({ transport: http(served.url, { retryCount: 0, ...options }) as Transport });
  return client.request as EIP1193RequestFn as (call: Request) => Promise<unknown>;
}

it("calls by position and by name", async () => {
  const request = connect();
  const byPosition = await request({ method: "get_v1_beacon_headers_blockId", params: ["head"] });
  expect(byPosition).toMatchObject({ root: served.headRoot, canonical: true });
  expect(await request({ method: "get_v1_beacon_headers_blockId", params: { block_id: "head" } })).toEqual(byPosition);
  expect(await request({ method: "getBeaconHead" })).toBe(served.headSlot);
});

it("sends batches, with the errors of single calls", async () => {
  const bodies: unknown[] = [];
  const request = connect({
    batch: true,
    onFetchRequest: async (fetched) => {
      bodies.push(JSON.parse(await fetched.clone().text()));
    },
  });
  const [head, unknown, version] = await Promise.allSettled([
    request({ method: "getBeaconHead" }),
    request(UNKNOWN_BLOCK),
    request({ method: "get_v1_node_version", params: [] }),
  ]);
  expect(head).toEqual({ status: "fulfilled", value: served.headSlot });
  expect(unknown).toMatchObject({ status: "rejected", reason: { code: NOT_FOUND.code } });
  expect(version).toMatchObject({ status: "fulfilled", value: { version: expect.stringMatching(/^Fanal\//) } });
  expect(bodies).toEqual([[expect.anything(), expect.anything(), expect.anything()]]);
});

it("throws its own errors with the server's code, message and data", async () => {
  const request = connect();
  const unknown = await request(UNKNOWN_BLOCK).catch((error: unknown) => error as Error);
  expect(unknown).toMatchObject({
    name: "ResourceNotFoundRpcError",
    code: NOT_FOUND.code,
    details: expect.stringContaining("No block for"),
  });
  expect((unknown as Error).cause).toMatchObject(NOT_FOUND);
  const wrong = await request({ method: "getBeaconHead", params: [1] }).catch((error: unknown) => error as Error);
  expect(wrong).toMatchObject({ name: "InvalidParamsRpcError", code: INVALID_PARAMS.code });
  expect((wrong as Error).cause).toMatchObject(INVALID_PARAMS);
});

it("recognizes an unknown method", async () => {
  await expect(connect()({ method: "eth_unknownMethod" })).rejects.toMatchObject({
    name: "MethodNotFoundRpcError",
    code: -32601,
  });
});

it("does not retry calls with a permanent error", async () => {
  let fetches = 0;
  const request = connect({
    retryCount: 3,
    retryDelay: 0,
    onFetchRequest: () => {
      fetches++;
    },
  });
  await expect(request(UNKNOWN_BLOCK)).rejects.toMatchObject({ code: NOT_FOUND.code });
  expect(fetches).toBe(1);
});
