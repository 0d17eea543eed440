import { methods } from "../../src/api/method-groups.ts";
import type { ErrorObject } from "../../src/server/jsonrpc/errors.ts";
import type { Caller } from "../support/api/caller.ts";

/** Parameters of the calls. */
export interface SurveySubjects {
  blockIds: readonly unknown[];
  stateIds: readonly unknown[];
  epochs: readonly number[];
  validators: readonly number[];
}

/** Results of these methods do not depend on the chain. */
const LEFT_OUT: readonly string[] = ["subscribe", "unsubscribe", "rpc.discover"];

/** Calls all read-only methods with all combinations of the subjects. Returns results and errors. */
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

/** Returns no combination if a parameter has no subjects. */
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
