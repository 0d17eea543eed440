import { type JsonRpcApiProviderOptions, JsonRpcProvider } from "ethers";
import { afterEach, expect, it } from "vitest";
import { INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, serveChain, UNKNOWN_BLOCK } from "./served-chain.ts";

const served = serveChain();

let provider: JsonRpcProvider | undefined;
afterEach(() => provider?.destroy());

/** A beacon node serves no chain id, so the client needs a static network. */
function connect(options: JsonRpcApiProviderOptions = {}): JsonRpcProvider {
  provider = new JsonRpcProvider(served.url, 1, { staticNetwork: true, ...options });
  return provider;
}

it("calls by position and by name", async () => {
  const client = connect({ batchMaxCount: 1 });
  const byPosition = await client.send("get_v1_beacon_headers_blockId", ["head"]);
  expect(byPosition).toMatchObject({ root: served.headRoot, canonical: true });
  expect(await client.send("get_v1_beacon_headers_blockId", { block_id: "head" })).toEqual(byPosition);
});

it("sends batches, with the errors of single calls", async () => {
  const client = connect();
  const sent: unknown[] = [];
  await client.on("debug", ({ action, payload }: { action: string; payload: unknown }) => {
    if (action === "sendRpcPayload") sent.push(payload);
  });
  const [head, unknown, version] = await Promise.allSettled([
    client.send("getBeaconHead", []),
    client.send(UNKNOWN_BLOCK.method, UNKNOWN_BLOCK.params),
    client.send("get_v1_node_version", []),
  ]);
  expect(head).toEqual({ status: "fulfilled", value: served.headSlot });
  expect(unknown).toMatchObject({ status: "rejected", reason: { code: "UNKNOWN_ERROR", error: NOT_FOUND } });
  expect(version).toMatchObject({ status: "fulfilled", value: { version: expect.stringMatching(/^Fanal\//) } });
  expect(sent).toEqual([[expect.anything(), expect.anything(), expect.anything()]]);
});

it("throws its own errors, which contain the server's error", async () => {
  const client = connect();
  await expect(client.send(UNKNOWN_BLOCK.method, UNKNOWN_BLOCK.params)).rejects.toMatchObject({
    code: "UNKNOWN_ERROR",
    error: { ...NOT_FOUND, message: expect.stringContaining("No block for") },
  });
  await expect(client.send("getBeaconHead", [1])).rejects.toMatchObject({ error: INVALID_PARAMS });
  await expect(client.send("unheard_of", [])).rejects.toMatchObject({
    code: "UNSUPPORTED_OPERATION",
    info: { error: METHOD_NOT_FOUND },
  });
});
