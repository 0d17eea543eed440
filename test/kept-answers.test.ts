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

/** Calls about a few validators, which the servers answer from memory that they share with the chain, or cannot answer so. */
const FEW: [name: string, params: unknown[], path: string][] = [
  [VALIDATOR, ["head", "5"], "validators/5"],
  [VALIDATOR, ["head", "999999"], "validators/999999"],
  [VALIDATORS, ["head", ["7", "3", "999999"]], "validators?id=7,3,999999"],
  [VALIDATORS, ["head", ["3", "3"]], "validators?id=3,3"],
  [VALIDATORS, ["head", ["7"], ["exited"]], "validators?id=7&status=exited"],
  [VALIDATORS, ["head", ["x"]], "validators?id=x"],
  [BALANCES, ["head", ["0", "2"]], "validator_balances?id=0,2"],
];

/** Byte for byte, whether the registry is lent by then or not. */
async function expectSameOfFew(served: ServedApi, caller: Caller): Promise<void> {
  for (const [name, params, path] of FEW) {
    const told = await caller.text(name, params).catch(() => undefined);
    for (let time = 0; time < 2; time++) {
      const { text } = await served.call(name, params);
      const { status, text: body } = await served.ask(`/eth/v1/beacon/states/head/${path}`);
      if (told === undefined) {
        expect(JSON.parse(text).error, name).toBeDefined();
        expect(status, path).toBeGreaterThanOrEqual(400);
      } else {
        const meta = JSON.stringify(await caller.meta(name, params));
        expect(text).toBe(`{"jsonrpc":"2.0","id":1,"result":${told},"meta":${meta}}`);
        expect(body).toBe(`{"data":${told},${meta.slice(1)}`);
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
  const look = async () => {
    roots.add(chain.head.root);
    await expectFresh(served, caller, [...roots].slice(-4));
    await expectSameOfFew(served, caller);
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
  expect((await caller.call("get_v1_node_syncing")).sync_distance).toBe("1");
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
  const calls = [VALIDATOR, VALIDATORS, BALANCES].map((name) => vi.spyOn(served.methods.find(name)!, "call"));
  await served.call(VALIDATOR, ["head", "6"]);
  await served.call(VALIDATORS, ["head", ["1", "2"]]);
  await served.call(BALANCES, ["head", ["1", "2"]]);
  for (const call of calls) expect(call).not.toHaveBeenCalled();
  await served.call(VALIDATOR, ["head", "999999"]);
  expect(calls[0]).toHaveBeenCalled();
});
