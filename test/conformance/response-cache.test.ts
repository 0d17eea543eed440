import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, onTestFinished, vi } from "vitest";
import { SLOT_PARAMS } from "../../src/api/cache-policy.ts";
import { methods } from "../../src/api/method-groups.ts";
import { blockId, stateId } from "../../src/api/params/identifiers.ts";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import type { MethodResponse } from "../../src/server/method-table.ts";
import type { Caller } from "../support/api/caller.ts";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { openChainInHand } from "../support/chain/chain-in-hand.ts";
import { SYNCING } from "../support/execution/scripted-engine.ts";
import { isFullTier } from "../support/suite/tier.ts";

const NAMES = ["head", "finalized", "justified", "genesis"];

it("calls by slot are recognized by the keys of their parameters", () => {
  const ids = methods.flatMap(({ name, params }) =>
    params.filter(({ schema }) => schema === stateId || schema === blockId).map(({ key }) => ({ name, key })),
  );
  expect(ids.length).toBeGreaterThan(30);
  // A call by slot would be cached, although the block of a slot may change.
  expect(ids.filter(({ key }) => !SLOT_PARAMS.includes(key))).toEqual([]);
});

interface CacheableCall {
  name: string;
  params: string[];
  /** The REST equivalent, if any. */
  path: string | undefined;
}

/** Every cacheable call, with parameters whose result changes only with the chain. */
function cacheableCalls(roots: readonly string[]): CacheableCall[] {
  return methods
    .filter(({ dependsOn }) => dependsOn !== undefined)
    .flatMap(({ name, params, rest }) => {
      const path = rest.find(({ verb }) => verb === "GET")?.path;
      const required = params.filter((param) => param.required).length;
      return (required === 0 ? [""] : [...NAMES, ...roots]).map((id) => {
        const given = [id, "3"].slice(0, required);
        const values = given.values();
        return { name, params: given, path: path?.replace(/\{\w+\}/g, () => values.next().value!) };
      });
    });
}

const VALIDATOR = "get_v1_beacon_states_stateId_validators_validatorId";
const VALIDATORS = "get_v1_beacon_states_stateId_validators";
const BALANCES = "get_v1_beacon_states_stateId_validator_balances";
const FILTERED = "post_v1_beacon_states_stateId_validators";
const POSTED_BALANCES = "post_v1_beacon_states_stateId_validator_balances";

interface ValidatorsCall {
  name: string;
  params: unknown[] | Record<string, unknown>;
  path: string;
  /** Of a POST request. */
  body?: unknown;
}

/** Calls about validators of the head, in all variants. */
function callsAboutValidators(key: string): ValidatorsCall[] {
  const strange = `0x${"c1".repeat(48)}`;
  return [
    { name: VALIDATORS, params: ["head"], path: "validators" },
    { name: VALIDATORS, params: ["head", [], ["active"]], path: "validators?status=active" },
    { name: BALANCES, params: { state_id: "head" }, path: "validator_balances" },
    { name: VALIDATOR, params: ["head", "5"], path: "validators/5" },
    { name: VALIDATOR, params: { state_id: "head", validator_id: key }, path: `validators/${key}` },
    { name: VALIDATOR, params: { state_id: "head", id: "5" }, path: "validators/x" },
    { name: VALIDATOR, params: ["head", strange], path: `validators/${strange}` },
    { name: VALIDATOR, params: ["head", "999999"], path: "validators/999999" },
    { name: VALIDATORS, params: ["head", ["7", "3", "999999"]], path: "validators?id=7,3,999999" },
    { name: VALIDATORS, params: ["head", ["2", key, strange]], path: `validators?id=2,${key},${strange}` },
    { name: VALIDATORS, params: ["head", ["2", key]], path: `validators?id=2,${key}` },
    { name: VALIDATORS, params: { state_id: "head", id: ["2"] }, path: "validators?id=2" },
    { name: VALIDATORS, params: ["head", ["3", "3"]], path: "validators?id=3,3" },
    { name: VALIDATORS, params: ["head", ["7"], ["exited"]], path: "validators?id=7&status=exited" },
    { name: VALIDATORS, params: ["head", ["x"]], path: "validators?id=x" },
    { name: VALIDATORS, params: ["head", { ids: ["x"] }], path: "validators?id=x" },
    { name: BALANCES, params: ["head", ["0", "2"]], path: "validator_balances?id=0,2" },
    ...[{ ids: ["4", key] }, { ids: ["4"], statuses: null }, { ids: ["4"], statuses: ["exited"] }, ["4"]].map(
      (body) => ({
        name: FILTERED,
        params: ["head", body],
        path: "validators",
        body,
      }),
    ),
    { name: FILTERED, params: { state_id: "head", filter: { ids: [key] } }, path: "validators", body: { ids: [key] } },
    { name: POSTED_BALANCES, params: ["head", ["6", key]], path: "validator_balances", body: ["6", key] },
    { name: POSTED_BALANCES, params: { state_id: "head", ids: ["6"] }, path: "validator_balances", body: ["6"] },
    {
      name: POSTED_BALANCES,
      params: { state_id: "head", id: ["6"] },
      path: "validator_balances",
      body: { ids: ["6"] },
    },
  ];
}

/** Expects the bytes of the chain's own response, from the main thread and from the cache. */
async function expectSameBytes(served: ServedApi, caller: Caller, key: string, times: number): Promise<void> {
  for (const { name, params, path, body } of callsAboutValidators(key)) {
    const told = await caller.text(name, params).catch(() => undefined);
    const init =
      body === undefined
        ? undefined
        : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    for (let time = 0; time < times; time++) {
      const { text } = await served.call(name, params);
      const { status, text: answer } = await served.ask(`/eth/v1/beacon/states/head/${path}`, init);
      if (told === undefined) {
        expect(JSON.parse(text).error, `${name} ${JSON.stringify(params)}`).toBeDefined();
        expect(status, path).toBeGreaterThanOrEqual(400);
      } else {
        const meta = JSON.stringify(await caller.meta(name, params));
        expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${told},"meta":${meta}}`);
        expect(answer).toBe(`{"data":${told},${meta.slice(1)}`);
      }
    }
  }
}

/** Expects the chain's own response with metadata and headers, from the main thread and from the cache. */
async function expectFresh(served: ServedApi, roots: readonly string[], times: number): Promise<void> {
  for (const { name, params, path } of cacheableCalls(roots)) {
    const told = await Promise.resolve(served.methods.find(name)!.call(params)).catch(() => undefined);
    const result = told && JSON.parse(await textOf(told));
    const expected = told && { result, meta: told.meta ?? {} };
    for (let time = 0; time < times; time++) {
      const { result, meta } = JSON.parse((await served.call(name, params)).text);
      expect(result === undefined ? undefined : { result, meta }, `${name} ${params}`).toEqual(expected);
      if (path) expectSameOverRest(await served.ask(path), told, expected, path);
    }
  }
}

async function textOf({ body }: MethodResponse): Promise<string> {
  return String(Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body)));
}

function expectSameOverRest(
  { status, headers, text }: Awaited<ReturnType<ServedApi["ask"]>>,
  told: MethodResponse | undefined,
  expected: { result: unknown; meta: unknown } | undefined,
  path: string,
): void {
  if (told === undefined || expected === undefined) {
    expect(status, path).toBeGreaterThanOrEqual(400);
    return;
  }
  // Some respond with a status only.
  if (text === "") return;
  const body = JSON.parse(text);
  const { data, ...meta } = "data" in body ? body : { data: body };
  expect({ result: data, meta }, path).toEqual(expected);
  for (const [name, value] of Object.entries(told.headers ?? {})) expect(headers.get(name), path).toBe(value);
}

if (isFullTier) {
  it("no cached answer is served after the chain has changed", async () => {
    const { caller, devChain } = await openChainInHand();
    const { chain, api } = devChain;
    const served = await serveApi(api);
    onTestFinished(served.close);
    const answered = vi.spyOn(chain.blocks, "byRoot");
    const roots = new Set<string>();
    const key = (await caller.call(VALIDATOR, ["head", "9"])).validator.pubkey as string;
    /** The first request is answered by the chain unless a stale response is cached, the second by the cache. */
    const look = async ({ times = 1 } = {}) => {
      roots.add(chain.head.root);
      await expectFresh(served, [...roots].slice(-2), times);
      await expectSameBytes(served, caller, key, times);
    };

    await look({ times: 2 });
    await caller.call("dev_advance", [1]);
    await look();
    await caller.call("dev_advance", [3 * SLOTS_PER_EPOCH]);
    await look();
    const dump = await caller.call("dev_dump");
    const snapshot = await caller.call("dev_snapshot");
    const { finalized } = chain.forkChoice;
    await caller.call("dev_advance", [SLOTS_PER_EPOCH]);
    expect(chain.forkChoice.finalized).not.toEqual(finalized);
    await look();
    await caller.call("dev_reorg", [2]);
    await look();
    await caller.call("dev_revert", [snapshot]);
    await look();
    await caller.call("dev_advance", [2]);
    await look();
    await caller.call("dev_load", [dump]);
    await look();

    await caller.call("dev_skip", [1]);
    await look();
    const byHand = new ByHand(devChain);
    const { signed } = byHand.sign(await byHand.produce(chain.clock.currentSlot, chain.head.root));
    vi.spyOn(DevExecutionEngine.prototype, "notifyNewPayload").mockResolvedValue(SYNCING);
    vi.spyOn(DevExecutionEngine.prototype, "forkchoiceUpdated").mockResolvedValue({
      verdict: SYNCING,
      payloadId: null,
    });
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    await chain.importBlock(signed);
    const { execution } = chain.head;
    if (execution.status !== "optimistic") throw new Error(`The payload of the head is ${execution.status}.`);
    await look();
    chain.forkChoice.onValidPayload(execution.blockHash);
    await look();
    chain.status.setSource({ isSyncing: true });
    await look({ times: 2 });

    const cached: [name: string, params: unknown[], path: string][] = [
      ["get_v1_beacon_headers_blockId", ["head"], "/eth/v1/beacon/headers/head"],
      [VALIDATOR, ["head", "5"], "/eth/v1/beacon/states/head/validators/5"],
      [VALIDATORS, ["head"], "/eth/v1/beacon/states/head/validators"],
    ];
    for (const [name, params, path] of cached) {
      const call = vi.spyOn(served.methods.find(name)!, "call");
      answered.mockClear();
      expect((await served.call(name, params)).status).toBe(200);
      expect((await served.ask(path)).status).toBe(200);
      // They were cached by the previous check.
      expect(call, name).not.toHaveBeenCalled();
      expect(answered, path).not.toHaveBeenCalled();
    }
    const call = vi.spyOn(served.methods.find(VALIDATOR)!, "call");
    await served.call(VALIDATOR, ["head", "6"]);
    expect(call).toHaveBeenCalled();
  });
}

it("no element of a list is served after the chain has changed", async () => {
  // The list of fewer validators is not streamed.
  const { caller, devChain } = await openChainInHand({ validators: 260 });
  const served = await serveApi(devChain.api);
  onTestFinished(served.close);
  const path = "/eth/v1/beacon/states/head/validators/";
  const ask = async (index: string) => [
    (await served.call(VALIDATOR, ["head", index])).text,
    (await served.ask(path + index)).text,
  ];
  const expectSame = async (index: string) => {
    const params = ["head", index];
    const [result, meta] = [await caller.text(VALIDATOR, params), JSON.stringify(await caller.meta(VALIDATOR, params))];
    const envelopes = [
      `{"jsonrpc":"2.0","id":1,"result":${result},"meta":${meta}}`,
      `{"data":${result},${meta.slice(1)}`,
    ];
    expect(await ask(index)).toEqual(envelopes);
  };

  await expectSame("0");
  const call = vi.spyOn(served.methods.find(VALIDATOR)!, "call");
  const changes: [string, unknown[]][] = [
    ["dev_advance", [1]],
    ["dev_advance", [SLOTS_PER_EPOCH]],
    ["dev_reorg", [1]],
  ];
  for (const [name, params] of changes) {
    await caller.call(name, params);
    await expectSame("1");
    await expectSame("257");
  }
  // Until the list is prewarmed, the main thread responds.
  call.mockClear();
  await vi.waitFor(async () => {
    const calls = call.mock.calls.length;
    const index = String(2 + calls);
    await expectSame(index);
    expect(call).toHaveBeenCalledTimes(calls);
  });
  expect((await ask("999999")).map((text) => JSON.parse(text))).toEqual([
    expect.objectContaining({ error: expect.anything() }),
    expect.objectContaining({ code: 404 }),
  ]);
});
