import { quantity } from "../json.ts";
import { type Action, attempt, clockSlot, contest, outcomeOf, type Scenario } from "../scenario.ts";

const SLOT_SECONDS = 2;
const FAST = 400;

async function advance(scenario: Scenario): Promise<string> {
  const { choices, chain } = scenario;
  const slots = choices.weighted([
    [6, 1],
    [3, choices.integer(2, 4)],
    [1, choices.integer(5, 12)],
  ]);
  await chain.call("dev_advance", { slots });
  return `${slots} slots`;
}

async function advanceEpochs({ choices, chain }: Scenario): Promise<string> {
  const epochs = choices.integer(1, 2);
  await chain.call("dev_advance", { epochs });
  return `${epochs} epochs`;
}

async function advanceUntil(scenario: Scenario): Promise<string> {
  const until = scenario.choices.pick(["block", "justified", "finalized", { validator: 2, status: "active_ongoing" }]);
  const outcome = await attempt(scenario, "dev_advance", { until, limit: 40 });
  return JSON.stringify(until) + outcomeOf(outcome);
}

async function skip(scenario: Scenario): Promise<string> {
  const slots = scenario.choices.weighted([
    [5, scenario.choices.integer(1, 3)],
    [1, scenario.choices.integer(8, 20)],
  ]);
  await scenario.chain.call("dev_skip", { slots });
  return `${slots} slots`;
}

async function jump(scenario: Scenario): Promise<string> {
  const { choices, chain } = scenario;
  const kind = choices.pick(["evm_increaseTime", "evm_setNextBlockTimestamp", "evm_mine", "anvil_mine"]);
  if (kind === "evm_increaseTime") {
    const seconds = choices.integer(1, 30);
    return `${kind} ${seconds}${outcomeOf(await attempt(scenario, kind, [quantity(seconds)]))}`;
  }
  if (kind === "anvil_mine") {
    const params = [quantity(choices.integer(0, 4)), quantity(choices.pick([0, 2, 5]))];
    return `${kind} ${params}${outcomeOf(await attempt(scenario, kind, params))}`;
  }
  const { chain_time } = await chain.call<{ chain_time: string }>("getChainTime");
  // A time of the past is refused.
  const timestamp = Math.floor(Number(chain_time)) + choices.integer(-3, 20);
  const params = kind === "evm_mine" ? [{ timestamp, blocks: choices.integer(1, 2) }] : [timestamp];
  return `${kind} ${JSON.stringify(params)}${outcomeOf(await attempt(scenario, kind, params))}`;
}

/** Turns automine on or off. */
async function automine({ choices, chain }: Scenario): Promise<string> {
  const enabled = choices.chance(0.5);
  await chain.call("evm_setAutomine", [enabled]);
  return enabled ? "on" : "off";
}

/** Lets the clock run for some slots, in real time. */
async function flow(scenario: Scenario): Promise<string> {
  const { choices, chain } = scenario;
  const from = await clockSlot(scenario);
  const slots = choices.integer(1, 4);
  const isInterval = choices.chance(0.2);
  // At this speed, blocks may miss the attestation deadline.
  await contest(scenario);
  if (isInterval) await chain.call("evm_setIntervalMining", [1]);
  await chain.call("dev_setSpeed", [FAST * SLOT_SECONDS]);
  const reads = [];
  while ((await clockSlot(scenario)) < from + slots) reads.push(await chain.call("eth_blockNumber"));
  await chain.call(isInterval ? "evm_setIntervalMining" : "dev_setSpeed", [0]);
  return `${isInterval ? "interval, " : ""}slots ${from} to ${await clockSlot(scenario)}`;
}

export const TIME_ACTIONS: readonly Action[] = [
  { name: "advance", weight: 16, run: advance },
  { name: "advance epochs", weight: 2, run: advanceEpochs },
  { name: "advance until", weight: 2, run: advanceUntil },
  { name: "skip", weight: 3, run: skip },
  { name: "jump", weight: 4, run: jump },
  { name: "automine", weight: 4, run: automine },
  { name: "flow", weight: 1, run: flow },
];
