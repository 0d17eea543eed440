import { routes } from "@lodestar/api";
import { createChainForkConfig } from "@lodestar/config";
import { describe, expect, it } from "vitest";
import type { ResponseCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import { defineMethod, EMPTY_RESPONSE, type MethodDefinition } from "./definition.ts";
import { encodeMeta, jsonExecutor } from "./encoding.ts";
import { Lanes } from "./lanes.ts";

const config = createChainForkConfig({});
const beacon = routes.beacon.getDefinitions(config);
const node = routes.node.getDefinitions(config);
const debug = routes.debug.getDefinitions(config);

const meta = { executionOptimistic: true, finalized: false };
const root = new Uint8Array(32).fill(1);
const context = {} as ApiContext;

const method = defineMethod({
  name: "example",
  summary: "",
  result: { name: "result", schema: {} },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
  handler: () => null,
});

/** Returns the response from a method that has this codec and handler. */
function execute(codec: unknown, handler: MethodDefinition["handler"], options: Partial<MethodDefinition> = {}) {
  const executor = jsonExecutor(
    { ...method, ...options, handler },
    codec as ResponseCodec<unknown, unknown> | undefined,
    context,
    new Lanes(),
  );
  return executor({ given: 1 });
}

describe("an operation with a codec", () => {
  it("encodes data and metadata by the codec", async () => {
    const answer = await execute(beacon.getBlockRoot.resp, async () => ({ data: { root }, meta }));
    expect(String(answer.body)).toBe(`{"root":"0x${"01".repeat(32)}"}`);
    expect(answer.meta).toEqual({ execution_optimistic: true, finalized: false });
    expect(answer.headers).toEqual({ "Eth-Execution-Optimistic": "true", "Eth-Consensus-Finalized": "false" });
  });

  it("passes context and arguments to the handler", async () => {
    let args: unknown[] = [];
    await execute(node.getNodeVersion.resp, async (...all) => {
      args = all.slice(0, 2);
      return { data: { version: "x" } };
    });
    expect(args).toEqual([context, { given: 1 }]);
  });

  it("has no metadata if REST has none", async () => {
    const answer = await execute(node.getNodeVersion.resp, async () => ({ data: { version: "x" } }));
    expect(answer).toEqual({ body: Buffer.from('{"version":"x"}') });
  });

  it("returns the whole body if REST has no data member", async () => {
    const checkpoint = { epoch: 1, root };
    const data = { justifiedCheckpoint: checkpoint, finalizedCheckpoint: checkpoint, forkChoiceNodes: [] };
    const answer = await execute(debug.getDebugForkChoice.resp, async () => ({ data }));
    expect(JSON.parse(String(answer.body))).toHaveProperty("justified_checkpoint.epoch", "1");
  });

  it("keeps the metadata of a transformed body", async () => {
    const answer = await execute(node.getPeers.resp, async () => ({ data: [], meta: { count: 0 } }));
    expect(answer).toEqual({ body: Buffer.from("[]"), meta: { count: 0 } });
  });
});

describe("an operation with only a REST status", () => {
  it("returns true, or the result of its definition for the status", async () => {
    expect(String((await execute(EMPTY_RESPONSE, async () => {})).body)).toBe("true");
    const options = { resultForStatus: (status: number) => ({ health: status }) };
    expect(String((await execute(EMPTY_RESPONSE, async () => ({ status: 206 }), options)).body)).toBe('{"health":206}');
    expect(String((await execute(EMPTY_RESPONSE, async () => {}, options)).body)).toBe('{"health":200}');
  });
});

it("a method without a codec returns the result of its handler", async () => {
  expect(await execute(undefined, () => "4")).toEqual({ body: Buffer.from('"4"') });
  expect(await execute(undefined, async () => null)).toEqual({ body: Buffer.from("null") });
});

it("encodes metadata as JSON and headers by its codec", () => {
  const versioned = { ...meta, version: "deneb" as never };
  expect(encodeMeta(beacon.getStateFork.resp.meta, versioned).headers).not.toHaveProperty("Eth-Consensus-Version");
  expect(encodeMeta(beacon.getBlockV2.resp.meta, versioned).headers).toHaveProperty("Eth-Consensus-Version", "deneb");
});
