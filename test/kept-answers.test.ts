import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, onTestFinished, vi } from "vitest";
import { methods } from "../src/api/method-groups.ts";
import { DevExecutionEngine } from "../src/execution/dev-engine.ts";
import { ByHand } from "./support/by-hand.ts";
import type { Caller } from "./support/caller.ts";
import { openChainInHand } from "./support/chain-in-hand.ts";
import { SYNCING } from "./support/scripted-engine.ts";
import { type ServedApi, serveApi } from "./support/served-api.ts";

const NAMES = ["head", "finalized", "justified", "genesis"];

/** All calls whose answers the servers keep, by parameters that never name another thing but when the chain changes. */
function keptCalls(roots: readonly string[]): [name: string, params: string[]][] {
  return methods
    .filter(({ dependsOn }) => dependsOn !== undefined)
    .flatMap(({ name, params }) =>
      params.some(({ required }) => required)
        ? [...NAMES, ...roots].map((id): [string, string[]] => [name, params.length === 1 ? [id] : [id, "3"]])
        : [[name, []] as [string, string[]]],
    );
}

/** Where REST has what the calls give, which it keeps in the same way. */
const PATHS: Record<string, string> = {
  get_v1_node_syncing: "/eth/v1/node/syncing",
  getBeaconHead: "/fanal/v1/beacon/head",
};

const VALIDATOR = "get_v1_beacon_states_stateId_validators_validatorId";
const VALIDATORS = "get_v1_beacon_states_stateId_validators";
const BALANCES = "get_v1_beacon_states_stateId_validator_balances";
const FILTERED = "post_v1_beacon_states_stateId_validators";
const POSTED_BALANCES = "post_v1_beacon_states_stateId_validator_balances";

interface Few {
  name: string;
  params: unknown[] | Record<string, unknown>;
  path: string;
  /** Of a POST request. */
  body?: unknown;
}

/** Calls about a few validators, which the servers answer from memory that they share with the chain, or cannot answer so. */
function few(key: string): Few[] {
  const strange = `0x${"c1".repeat(48)}`;
  return [
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

/** Byte for byte, whether the registry is lent by then or not. */
async function expectSameOfFew(served: ServedApi, caller: Caller, key: string): Promise<void> {
  for (const { name, params, path, body } of few(key)) {
    const told = await caller.text(name, params).catch(() => undefined);
    const init =
      body === undefined
        ? undefined
        : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    for (let time = 0; time < 2; time++) {
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

/** The servers tell what the chain itself tells, also when they are asked again. */
async function expectFresh(served: ServedApi, caller: Caller, roots: readonly string[]): Promise<void> {
  for (const [name, params] of keptCalls(roots)) {
    const told = await caller.text(name, params).then(
      async (result) => ({ result: JSON.parse(result), meta: (await caller.meta(name, params)) ?? {} }),
      () => undefined,
    );
    for (let time = 0; time < 2; time++) {
      const { result, meta } = JSON.parse((await served.call(name, params)).text);
      expect(result === undefined ? undefined : { result, meta }, `${name} ${params}`).toEqual(told);
      const path = PATHS[name];
      if (path) expect(JSON.parse((await served.ask(path)).text), path).toMatchObject({ data: told?.result });
    }
  }
}

it("no answer that the servers keep is told after the chain has changed", async () => {
  const { caller, devChain } = await openChainInHand();
  const { chain, api } = devChain;
  const served = await serveApi(api);
  onTestFinished(served.close);
  const answered = vi.spyOn(chain.blocks, "byRoot");
  const roots = new Set<string>();
  const key = (await caller.call(VALIDATOR, ["head", "9"])).validator.pubkey as string;
  const look = async () => {
    roots.add(chain.head.root);
    await expectFresh(served, caller, [...roots].slice(-2));
    await expectSameOfFew(served, caller, key);
  };

  await look();
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
  vi.spyOn(DevExecutionEngine.prototype, "forkchoiceUpdated").mockResolvedValue({ verdict: SYNCING, payloadId: null });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  await chain.importBlock(signed);
  const { execution } = chain.head;
  if (execution.status !== "optimistic") throw new Error(`The payload of the head is ${execution.status}.`);
  await look();
  chain.forkChoice.onValidPayload(execution.blockHash);
  await look();
  chain.status.decideBy({ isSyncing: true });
  await look();

  answered.mockClear();
  await served.call("get_v1_beacon_headers_blockId", ["head"]);
  // The answer was kept since the last look.
  expect(answered).not.toHaveBeenCalled();
  const called = [VALIDATOR, VALIDATORS, BALANCES, FILTERED, POSTED_BALANCES];
  const calls = called.map((name) => vi.spyOn(served.methods.find(name)!, "call"));
  await served.call(VALIDATOR, ["head", "6"]);
  await served.call(VALIDATORS, ["head", ["1", key]]);
  await served.call(BALANCES, { state_id: "head", id: ["1", "2"] });
  await served.call(FILTERED, ["head", { ids: [key] }]);
  await served.call(POSTED_BALANCES, ["head", ["1", key]]);
  for (const call of calls) expect(call).not.toHaveBeenCalled();
  await served.call(VALIDATOR, ["head", "999999"]);
  expect(calls[0]).toHaveBeenCalled();
});
