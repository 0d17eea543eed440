import type { ServerResponse } from "node:http";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ClosingStack } from "../../src/async/closing-stack.ts";
import { SYSTEM_TIMERS } from "../../src/async/timers.ts";
import { UpstreamPool } from "../../src/gateway/upstream/requests/upstream-pool.ts";
import type { UpstreamCall } from "../../src/gateway/upstream/upstream-call.ts";
import { methodCall } from "../support/gateway/cache/method-calls.ts";
import { missingRedis } from "../support/gateway/redis-process.ts";
import { RedisServer } from "../support/gateway/redis-server.ts";
import { ScriptedHealth } from "../support/gateway/upstream/scripted-health.ts";
import { rootAt, ScriptedUpstream } from "../support/gateway/upstream/scripted-upstream.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";
import { skipSuite } from "../support/suite/skip-suite.ts";
import { untilStored } from "./caching-gateway.ts";
import { openReader, readWhole } from "./pool-reader.ts";

const SIGNATURE = `0x${"5c".repeat(96)}`;

function headerAt(slot: number, given: object = {}) {
  const [parent_root, state_root, body_root] = [rootAt(slot - 1), rootAt(slot + 1000), rootAt(slot + 2000)];
  const message = { slot: String(slot), proposer_index: "3", parent_root, state_root, body_root };
  const type = ssz.phase0.BeaconBlockHeader;
  const root = toRootHex(type.hashTreeRoot(type.fromJson(message)));
  return { root, canonical: true, header: { message: { ...message, ...given }, signature: SIGNATURE } };
}

const bodyOf = (data: unknown) => JSON.stringify({ execution_optimistic: false, finalized: true, data });
const goodBody = (slot: number) => bodyOf(headerAt(slot));

/** Wrong bodies of a 200 response to the request for the header at a slot. */
const FAULTS: Readonly<Record<string, (slot: number) => string>> = {
  "an empty object": () => "{}",
  "an empty list": () => "[]",
  null: () => "null",
  "a string": () => '"ok"',
  "a number": () => "0",
  "a boolean": () => "true",
  "an empty body": () => "",
  "an error object": () => '{"error":"quota"}',
  "a JSON-RPC error": () => '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}',
  "a message with status": () => '{"code":429,"message":"Too many requests"}',
  "data that is null": () => bodyOf(null),
  "data that is empty": () => bodyOf({}),
  "data that is a list": (slot) => bodyOf([headerAt(slot)]),
  "data that is a string": () => bodyOf("quota exceeded"),
  "data without a member": (slot) => bodyOf({ ...headerAt(slot), root: undefined }),
  "a member that is null": (slot) => bodyOf({ ...headerAt(slot), root: null }),
  "a root of the wrong length": (slot) => bodyOf({ ...headerAt(slot), root: "0x1234" }),
  "a slot that is no number": (slot) => bodyOf(headerAt(slot, { slot: "soon" })),
  "a negative index": (slot) => bodyOf(headerAt(slot, { proposer_index: "-1" })),
  "the header of another slot": (slot) => bodyOf(headerAt(slot + 1)),
  "a root of another header": (slot) => bodyOf({ ...headerAt(slot), root: rootAt(slot) }),
  "a truncated body": (slot) => goodBody(slot).slice(0, -20),
  "a body that ends too early": (slot) => `${goodBody(slot).slice(0, 200)}"}}}}`,
  "two bodies": (slot) => goodBody(slot) + goodBody(slot),
  "data twice": (slot) => goodBody(slot).replace(/\}$/, ',"data":{}}'),
  "an HTML page as JSON": () => "<html><body>Bad gateway</body></html>",
  "a control character between members": (slot) => goodBody(slot).replace(",", ",\u0001"),
  "a control character in a string": (slot) => goodBody(slot).replace("{", '{"more":"\u0001",'),
  "a control character in a long string": (slot) => goodBody(slot).replace("{", `{"more":"${"a".repeat(999)}\u0001",`),
  "binary data": () => "\u0000\u0001\u0002",
};

const opened = new ClosingStack();
let wrong: ScriptedUpstream;
let healthy: ScriptedUpstream[];

beforeAll(async () => {
  [wrong, ...healthy] = (await Promise.all(
    ["wrong", "good", "better"].map(async (name) => {
      const upstream = await new ScriptedUpstream(name).start();
      opened.defer(() => upstream.stop());
      return upstream;
    }),
  )) as [ScriptedUpstream, ...ScriptedUpstream[]];
  for (const upstream of healthy) {
    upstream.handler = ({ url }, response) => send(response, goodBody(Number(url.split("/").at(-1))));
  }
});
afterAll(() => opened[Symbol.asyncDispose]());

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(body);
}

const headerCall = (slot: number) => methodCall("get_v1_beacon_headers_blockId", { block_id: String(slot) });

describe.each([1, 2])("with a quorum of %i, a wrong answer", (quorum) => {
  it.each(Object.keys(FAULTS))("is neither returned nor cached: %s", async (kind) => {
    const slot = 7;
    wrong.handler = (_request, response) => send(response, FAULTS[kind]!(slot));
    const reader = await openReader({ upstreams: [wrong, ...healthy], quorum });
    const before = wrong.questions.length;
    expect(await readWhole(reader, headerCall(slot))).toMatchObject({ body: goodBody(slot), cachedIn: undefined });
    expect(wrong.questions.length).toBeGreaterThan(before);
    expect(await readWhole(reader, headerCall(slot))).toMatchObject({ body: goodBody(slot), cachedIn: "memory" });
  });
});

it.each(Object.keys(FAULTS))(
  "of the only upstream, it is an error, and the next answer is served: %s",
  async (kind) => {
    const slot = 7;
    wrong.handler = (_request, response) => send(response, FAULTS[kind]!(slot));
    const reader = await openReader({ upstreams: [wrong] });
    await expect(reader.read(headerCall(slot))).rejects.toThrow(/wrong/);
    wrong.handler = (_request, response) => send(response, goodBody(slot));
    expect(await readWhole(reader, headerCall(slot))).toMatchObject({ body: goodBody(slot), cachedIn: undefined });
  },
);

describe("a large answer", () => {
  const validator = {
    index: "0",
    balance: "32000000000",
    status: "active_ongoing",
    validator: {
      pubkey: `0x${"aa".repeat(48)}`,
      withdrawal_credentials: rootAt(1),
      effective_balance: "32000000000",
      slashed: false,
      activation_eligibility_epoch: "0",
      activation_epoch: "0",
      exit_epoch: "18446744073709551615",
      withdrawable_epoch: "18446744073709551615",
    },
  };
  const validators = Array.from({ length: 400 }, (_, index) => ({ ...validator, index: String(index) }));
  const good = bodyOf(validators);
  const cases = {
    "a wrong first element": bodyOf([{ ...validator, index: null }, ...validators.slice(1)]),
    "a truncated end": good.slice(0, -1000),
    "no data": JSON.stringify({ error: "quota ".repeat(20_000) }),
  };
  const [recent, final] = ["1000000", "7"].map((state_id) =>
    methodCall("get_v1_beacon_states_stateId_validators", { state_id }),
  ) as [UpstreamCall, UpstreamCall];

  it.each(Object.entries(cases))("with %s is not cached, and another upstream is used", async (_kind, body) => {
    expect(body.length).toBeGreaterThan(100_000);
    wrong.handler = (_request, response) => send(response, body);
    healthy[0]!.handler = (_request, response) => send(response, good);
    const reader = await openReader({ upstreams: [wrong, healthy[0]!] });
    expect(await readWhole(reader, final)).toMatchObject({ upstream: "good", body: good });
    expect(await readWhole(reader, final)).toMatchObject({ cachedIn: "memory", body: good });
  });

  it("is cut off if only its end is wrong and it is not buffered", async () => {
    wrong.handler = (_request, response) => send(response, cases["a truncated end"]);
    const health = new ScriptedHealth("wrong");
    const settings = { upstreams: [wrong.options], broadcast: 1, hedgeDelayMillis: 60_000, validation: true };
    const pool = new UpstreamPool({ settings, health, timers: SYSTEM_TIMERS, logger: createRecordingLogger() });
    onTestFinished(() => pool.close());
    const { body } = await pool.read(recent);
    const chunks: Buffer[] = [];
    await expect(async () => {
      for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
    }).rejects.toThrow(/wrong is truncated/);
    expect(chunks.length).toBeGreaterThan(0);
    expect(Buffer.concat(chunks).length).toBeLessThan(cases["a truncated end"].length);
  });
});

describe("with a shared cache", () => {
  skipSuite(missingRedis());

  it.each([1, 2])("and a quorum of %i, no wrong answer is stored", async (quorum) => {
    const redis = await RedisServer.start();
    for (const upstream of healthy) {
      upstream.handler = ({ url }, response) => send(response, goodBody(Number(url.split("/").at(-1))));
    }
    const faults = Object.values(FAULTS);
    const slots = Array.from(faults.keys(), (index) => index + 1);
    wrong.handler = ({ url }, response) => {
      const slot = Number(url.split("/").at(-1));
      send(response, faults[slot - 1]!(slot));
    };
    for (const slot of slots) {
      // A new gateway each time, so that the wrong upstream is used first.
      const reader = await openReader({ upstreams: [wrong, ...healthy], quorum, redisUrl: redis.url });
      expect(await readWhole(reader, headerCall(slot))).toMatchObject({ body: goodBody(slot), cachedIn: undefined });
    }
    await untilStored(redis, faults.length);
    const other = await openReader({ upstreams: [wrong, ...healthy], quorum, redisUrl: redis.url });
    for (const slot of slots) {
      expect(await readWhole(other, headerCall(slot))).toMatchObject({ body: goodBody(slot), cachedIn: "cache" });
    }
  });
});
