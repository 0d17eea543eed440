import { expect } from "vitest";
import { digestOf, expectSame } from "../digest.ts";
import type { Hex } from "../json.ts";
import { type Action, attempt, isContested, outcomeOf, type Scenario } from "../scenario.ts";
import { setStorage } from "./overrides.ts";

const MAX_SNAPSHOTS = 4;

async function snapshot(scenario: Scenario): Promise<string> {
  const { choices, chain, canonical, overrides, sent, contracts, replaced, snapshots } = scenario;
  if (choices.chance(0.5)) await setStorage(scenario);
  const digest = await digestOf(scenario);
  const id = await chain.call<Hex>("evm_snapshot");
  const kept = { overrides: overrides.copy(), sent: sent.copy(), contracts: [...contracts] };
  snapshots.push({ id, position: canonical.position, ...kept, replaced: new Map(replaced), digest });
  if (snapshots.length > MAX_SNAPSHOTS) snapshots.shift();
  if (choices.chance(0.5)) await setStorage(scenario);
  return id;
}

async function revert(scenario: Scenario): Promise<string> {
  const { choices, snapshots } = scenario;
  const chosen = snapshots[choices.integer(0, snapshots.length - 1)];
  if (chosen === undefined || choices.chance(0.05)) {
    const { error } = await attempt(scenario, "evm_revert", ["0xffff"]);
    expect(error?.code, "revert to an unknown snapshot").toBe(-32001);
    return "unknown";
  }
  const { id, position, digest } = chosen;
  await scenario.chain.call("evm_revert", [id]);
  scenario.canonical.return(position);
  scenario.overrides = chosen.overrides.copy();
  scenario.sent = chosen.sent.copy();
  scenario.contracts = [...chosen.contracts];
  scenario.replaced = new Map(chosen.replaced);
  snapshots.splice(snapshots.indexOf(chosen));
  await expectSame(scenario, digest, `after the revert to ${id}`);
  return `${id}, slot ${position.head.head_slot}`;
}

/** Replaces the chain by a dump of itself, after some slots. */
async function dumpAndLoad(scenario: Scenario): Promise<string> {
  const { chain } = scenario;
  const digest = await digestOf(scenario);
  const dump = await chain.call<Hex>("dev_dump");
  await chain.call("dev_advance", { slots: 2 });
  const outcome = await attempt(scenario, "dev_load", { dump });
  if (outcome.error === undefined && !(await isContested(scenario)))
    await expectSame(scenario, digest, "after the load of the dump");
  return `${dump.length / 2} bytes${outcomeOf(outcome)}`;
}

async function restart(scenario: Scenario): Promise<string> {
  const { choices, chain } = scenario;
  const how = chain.canCrash && choices.chance(0.6) ? "kill" : "stop";
  const digest = await digestOf(scenario);
  await chain.restart(how);
  scenario.snapshots = [];
  if (!(await isContested(scenario))) await expectSame(scenario, digest, `after ${how} and a start`);
  return how;
}

/** Kills the program while it makes blocks. */
async function crashWhileAdvancing(scenario: Scenario): Promise<string> {
  const { choices, chain, canonical } = scenario;
  if (!chain.canCrash) return "no program";
  const slots = choices.integer(2, 12);
  // The response is lost with the connection.
  const advancing = chain.call("dev_advance", { slots }).catch(() => {});
  for (let reads = choices.integer(0, 12); reads > 0; reads--) await chain.call("getChainHead");
  const { head } = canonical;
  await chain.restart("kill");
  await advancing;
  scenario.snapshots = [];
  if (head && !(await isContested(scenario))) {
    const found = await chain.call<{ canonical: boolean }>("get_v1_beacon_headers_blockId", [head.root]);
    expect(found.canonical, `block ${head.slot} after a crash`).toBe(true);
  }
  return `in ${slots} slots`;
}

export const HISTORY_ACTIONS: readonly Action[] = [
  { name: "snapshot", weight: 6, run: snapshot },
  { name: "revert", weight: 6, run: revert },
  { name: "dump and load", weight: 1, run: dumpAndLoad },
  { name: "restart", weight: 2, run: restart },
  { name: "crash while advancing", weight: 1, run: crashWhileAdvancing },
];
