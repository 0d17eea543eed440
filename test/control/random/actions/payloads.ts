import { type Action, attempt, contest, outcomeOf, type Scenario } from "../scenario.ts";

/** Before gloas, these calls are refused. */
async function fault(scenario: Scenario, method: string, params: object): Promise<string> {
  const outcome = await attempt(scenario, method, params);
  // Whether a payload counts is a matter of votes, which a restart may lose.
  await contest(scenario);
  return JSON.stringify(params) + outcomeOf(outcome);
}

const slots = ({ choices }: Scenario) =>
  choices.weighted<number>([
    [1, 0],
    [6, 1],
    [2, choices.integer(2, 4)],
  ]);

const withhold = (scenario: Scenario) => fault(scenario, "dev_withholdPayloads", { slots: slots(scenario) });

const reveal = (scenario: Scenario) => fault(scenario, "dev_revealPayload", {});

function delay(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const late = choices.chance(0.7) && { slots_late: choices.integer(1, 3) };
  return fault(scenario, "dev_delayPayloads", { slots: slots(scenario), ...late });
}

function falsify(scenario: Scenario): Promise<string> {
  const kind = scenario.choices.pick(["different", "equivocation", "invalid"]);
  scenario.expectedComplaints.push(/Execution engine rejected the payload of a block/);
  return fault(scenario, "dev_falsifyPayloads", { slots: slots(scenario), kind });
}

function vote(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const votes = choices.pick<object>([{ payload_present: false }, { blob_data_available: false }, { abstain: true }]);
  const validators = choices.pick<unknown>(["all", 0.6, 0.4, "0-7"]);
  return fault(scenario, "dev_setPayloadVotes", { slots: slots(scenario), ...votes, validators });
}

export const PAYLOAD_ACTIONS: readonly Action[] = [
  { name: "withhold payloads", weight: 3, run: withhold },
  { name: "reveal payload", weight: 2, run: reveal },
  { name: "delay payloads", weight: 2, run: delay },
  { name: "falsify payloads", weight: 2, run: falsify },
  { name: "payload votes", weight: 2, run: vote },
];
