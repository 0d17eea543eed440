import { fundedAccounts } from "../../../../src/evm/accounts.ts";
import { type Action, attempt, outcomeOf, type Scenario } from "../scenario.ts";

/** More would keep the chain from finalizing for the rest of the run. */
const MAX_DEPARTED = 7;
const ETHER_IN_GWEI = 10n ** 9n;

const validatorOf = ({ choices, validators }: Scenario) => choices.integer(0, validators - 1);

async function presence(scenario: Scenario): Promise<string> {
  const { choices, chain } = scenario;
  if (scenario.hasOffline && choices.chance(0.7)) {
    scenario.hasOffline = false;
    await chain.call("dev_setValidators", { online: "all" });
    return "all online";
  }
  scenario.hasOffline = true;
  const offline = choices.pick<unknown>(["0-3", 0.25, 0.5, [1, 5, "8-11"], "all"]);
  await chain.call("dev_setValidators", { offline });
  return `${JSON.stringify(offline)} offline`;
}

async function slash(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  if (scenario.departed >= MAX_DEPARTED) return "enough departed";
  const validators = [validatorOf(scenario), ...(choices.chance(0.2) ? [validatorOf(scenario)] : [])];
  const kind = choices.pick(["proposer", "attester"]);
  const outcome = await attempt(scenario, "dev_slash", { validators, kind });
  if (outcome.error === undefined) scenario.departed += validators.length;
  return `${kind} ${validators}${outcomeOf(outcome)}`;
}

async function exit(scenario: Scenario): Promise<string> {
  if (scenario.departed >= MAX_DEPARTED) return "enough departed";
  const validator = validatorOf(scenario);
  const outcome = await attempt(scenario, "dev_exit", { validator });
  if (outcome.error === undefined) scenario.departed++;
  return `${validator}${outcomeOf(outcome)}`;
}

async function withdraw(scenario: Scenario): Promise<string> {
  const validator = validatorOf(scenario);
  // Without an amount it is an exit.
  const isExit = scenario.choices.chance(0.2) && scenario.departed < MAX_DEPARTED;
  const params = { validator, ...(!isExit && { amount: String(scenario.choices.integer(1, 1_000_000)) }) };
  const outcome = await attempt(scenario, "dev_withdraw", params);
  if (outcome.error === undefined && isExit) scenario.departed++;
  return JSON.stringify(params) + outcomeOf(outcome);
}

async function deposit(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const params = choices.weighted<object>([
    [4, { count: choices.integer(1, 2) }],
    [3, { validator: validatorOf(scenario), amount: String(BigInt(choices.integer(1, 40)) * ETHER_IN_GWEI) }],
    [1, { count: 1, bad_signature: true }],
  ]);
  return JSON.stringify(params) + outcomeOf(await attempt(scenario, "dev_deposit", params));
}

async function changeCredentials(scenario: Scenario): Promise<string> {
  const params = { validator: validatorOf(scenario), type: scenario.choices.pick(["0x02", "0x02", "0x01"]) };
  return JSON.stringify(params) + outcomeOf(await attempt(scenario, "dev_changeCredentials", params));
}

async function consolidate(scenario: Scenario): Promise<string> {
  if (scenario.departed >= MAX_DEPARTED) return "enough departed";
  const params = { source: validatorOf(scenario), target: validatorOf(scenario) };
  const outcome = await attempt(scenario, "dev_consolidate", params);
  if (outcome.error === undefined) scenario.departed++;
  return JSON.stringify(params) + outcomeOf(outcome);
}

async function coinbase({ choices, chain, ledger }: Scenario): Promise<string> {
  const { address } = choices.pick(fundedAccounts());
  const recipient = choices.chance(0.5) ? address : `0x${choices.pick(["cb", "cc"]).repeat(20)}`;
  ledger.know(recipient.toLowerCase() as `0x${string}`);
  await chain.call("anvil_setCoinbase", [recipient]);
  return recipient;
}

export const VALIDATOR_ACTIONS: readonly Action[] = [
  { name: "presence", weight: 4, run: presence },
  { name: "slash", weight: 2, run: slash },
  { name: "exit", weight: 2, run: exit },
  { name: "withdraw", weight: 3, run: withdraw },
  { name: "deposit", weight: 4, run: deposit },
  { name: "change credentials", weight: 3, run: changeCredentials },
  { name: "consolidate", weight: 2, run: consolidate },
  { name: "coinbase", weight: 1, run: coinbase },
];
