import { expect } from "vitest";
import { CODES, deploymentOf, word } from "../contracts.ts";
import { type Hex, quantity } from "../json.ts";
import { type Action, attempt, outcomeOf, type Scenario } from "../scenario.ts";

async function call(scenario: Scenario): Promise<string> {
  const { choices, contracts, canonical } = scenario;
  const to = contracts.length === 0 ? undefined : choices.pick(contracts).address;
  const transaction = { ...(to && { to }), data: to ? `0x${word(choices.integer(0, 3))}` : deploymentOf(CODES.store) };
  const number = BigInt(canonical.head?.eth.number ?? 0);
  const block = choices.pick(["latest", "pending", quantity(number), quantity(number / 2n)]);
  const method = choices.pick(["eth_call", "eth_estimateGas", "eth_createAccessList", "debug_traceCall"]);
  return `${method} at ${block}${outcomeOf(await attempt(scenario, method, [transaction, block]))}`;
}

/** Traces a random transaction. Its gas is that of the receipt. */
async function trace(scenario: Scenario): Promise<string> {
  const { choices, chain, canonical } = scenario;
  const receipts = canonical.blocks.flatMap((block) => block.receipts);
  if (receipts.length === 0) return "nothing to trace";
  const { transactionHash, gasUsed, status } = choices.pick(receipts);
  const traced = await chain.call<{ gasUsed: Hex; error?: string }>("debug_traceTransaction", [
    transactionHash,
    { tracer: "callTracer" },
  ]);
  expect([traced.gasUsed, traced.error === undefined], `trace of ${transactionHash}`).toEqual([
    gasUsed,
    status === "0x1",
  ]);
  return transactionHash;
}

/** Searches the logs of a range of blocks. */
async function logs({ choices, chain, canonical }: Scenario): Promise<string> {
  const from = choices.integer(0, canonical.blocks.length);
  const range = canonical.blocks.slice(from, from + choices.integer(1, 60));
  if (range.length === 0) return "no blocks";
  const [fromBlock, toBlock] = [range[0]!.eth.number, range.at(-1)!.eth.number];
  const found = await chain.call("eth_getLogs", [{ fromBlock, toBlock }]);
  expect(found, `logs of ${fromBlock} to ${toBlock}`).toEqual(
    range.flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs)),
  );
  return `${fromBlock} to ${toBlock}`;
}

const METHODS: readonly [string, unknown[]][] = [
  ["eth_feeHistory", ["0x8", "latest", [10, 90]]],
  ["eth_getBlockByNumber", ["pending", true]],
  ["eth_gasPrice", []],
  ["txpool_inspect", []],
  ["getParticipation", []],
  ["get_v1_debug_fork_choice", []],
  ["get_v1_builder_states_stateId_expected_withdrawals", ["head"]],
  ["get_v1_beacon_rewards_blocks_blockId", ["head"]],
  ["debug_traceBlockByNumber", ["latest", { tracer: "prestateTracer" }]],
  ["anvil_nodeInfo", []],
];

async function others(scenario: Scenario): Promise<string> {
  const [method, params] = scenario.choices.pick(METHODS);
  return method + outcomeOf(await attempt(scenario, method, params));
}

export const READ_ACTIONS: readonly Action[] = [
  { name: "call", weight: 4, run: call },
  { name: "trace", weight: 3, run: trace },
  { name: "logs", weight: 2, run: logs },
  { name: "read", weight: 3, run: others },
];
