import type { ChainHeadJson } from "../json.ts";
import { type Action, attempt, contest, outcomeOf, type Scenario } from "../scenario.ts";
import { setStorage } from "./overrides.ts";

async function reorg(scenario: Scenario): Promise<string> {
  const depth = scenario.choices.integer(1, 5);
  if (scenario.choices.chance(0.5)) {
    // Moves to the new branch.
    await setStorage(scenario);
    await scenario.chain.call("dev_advance", { slots: 1 });
  }
  const before = (await scenario.chain.call<ChainHeadJson>("getChainHead")).head_block_root;
  const outcome = await attempt<{ old_head: { root: string } }>(scenario, "dev_reorg", { depth });
  if (outcome.error === undefined && outcome.result.old_head.root !== before) {
    throw new Error(`dev_reorg replaced ${outcome.result.old_head.root}, but the head was ${before}`);
  }
  await contest(scenario);
  return `depth ${depth}${outcomeOf(outcome)}`;
}

async function fork(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const params = {
    ...(choices.chance(0.6) && { depth: choices.integer(1, 3) }),
    slots: choices.integer(1, 6),
    votes: choices.pick(["old", "new", "split", 0.7]),
  };
  const outcome = await attempt(scenario, "dev_fork", params);
  await contest(scenario);
  return JSON.stringify(params) + outcomeOf(outcome);
}

async function delayBlocks(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const params = { slots: choices.integer(0, 2), ...(choices.chance(0.5) && { slots_late: choices.integer(1, 2) }) };
  const outcome = await attempt(scenario, "dev_delayBlocks", params);
  await contest(scenario);
  return JSON.stringify(params) + outcomeOf(outcome);
}

export const BRANCH_ACTIONS: readonly Action[] = [
  { name: "reorg", weight: 4, run: reorg },
  { name: "fork", weight: 3, run: fork },
  { name: "delay blocks", weight: 2, run: delayBlocks },
];
