import { usageError } from "../exit.ts";
import { didYouMean } from "../flags/did-you-mean.ts";

/** Actions of `fanal db`, and whether they take a file. */
const ACTIONS = { check: false, repair: false, compact: false, export: true, import: true } as const;

export type DbAction = keyof typeof ACTIONS;
export const DB_ACTIONS = Object.keys(ACTIONS) as DbAction[];

export interface DbOperands {
  action: DbAction;
  /** Empty for actions without a file. */
  file: string;
}

export function readDbOperands([action, file, ...more]: readonly string[]): DbOperands {
  const names = DB_ACTIONS.join(", ");
  if (action === undefined) throw usageError(`Missing action. Give one of ${names}.`);
  if (!isAction(action)) {
    throw usageError(
      `Unknown action "${action}" of "fanal db". Give one of ${names}.${didYouMean(action, DB_ACTIONS)}`,
    );
  }
  if (ACTIONS[action] && file === undefined) throw usageError(`"fanal db ${action}" requires a file name.`);
  const unexpected = ACTIONS[action] ? more[0] : file;
  if (unexpected !== undefined) throw usageError(`Unexpected argument "${unexpected}" of "fanal db ${action}".`);
  return { action, file: file ?? "" };
}

function isAction(text: string): text is DbAction {
  return Object.hasOwn(ACTIONS, text);
}
