import { methods } from "../../src/api/method-groups.ts";
import type { ErrorObject } from "../../src/server/jsonrpc/errors.ts";
import type { Caller } from "../support/api/caller.ts";

/** What is asked about in a survey. */
export interface SurveySubjects {
  blockIds: readonly unknown[];
  stateIds: readonly unknown[];
  epochs: readonly number[];
  validators: readonly number[];
}

/** Events are nothing to ask for, and what a node can be asked does not depend on its chain. */
const LEFT_OUT: readonly string[] = ["subscribe", "unsubscribe", "rpc.discover"];

/**
 * The answers of all methods that only read to all that they can be asked about these subjects, refusals among them.
 */
export async function survey(caller: Caller, subjects: SurveySubjects): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const { name, access, params } of methods) {
    if ((access !== "read" && access !== "debug") || LEFT_OUT.includes(name)) continue;
    const needed = params.filter(({ required }) => required).map((param) => param.name);
    for (const values of combinations(needed, subjects)) {
      const given = Object.fromEntries(needed.map((param, index) => [param, values[index]]));
      answers[`${name} ${JSON.stringify(given)}`] = await caller
        .call(name, given)
        .catch((error: ErrorObject) => ({ refused: error.message }));
    }
  }
  return answers;
}

/** None when a parameter is about something else. */
function combinations(needed: readonly string[], subjects: SurveySubjects): unknown[][] {
  const choices = needed.map((param) => {
    if (param === "block_id" || param === "block_root") return subjects.blockIds;
    if (param === "state_id") return subjects.stateIds;
    if (param === "epoch") return subjects.epochs;
    if (param === "validators" || param === "validator_indices") return [subjects.validators.map(String)];
    if (param === "start_period") return [0];
    return param === "count" ? [8] : [];
  });
  return choices.reduce<unknown[][]>(
    (made, choice) => made.flatMap((values) => choice.map((each) => [...values, each])),
    [[]],
  );
}
