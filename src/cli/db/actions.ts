import { usageError } from "../exit.ts";
import { didYouMean } from "../flags/did-you-mean.ts";

/** What `fanal db` can do, and whether it takes the name of a file. */
const ACTIONS = { check: false, repair: false, compact: false, export: true, import: true } as const;

export type DbAction = keyof typeof ACTIONS;
export const DB_ACTIONS = Object.keys(ACTIONS) as DbAction[];

export interface DbOperands {
  action: DbAction;
  /** Empty for an action that takes none. */
  file: string;
}

export function readDbOperands([action, file, ...more]: readonly string[]): DbOperands {
  const names = DB_ACTIONS.join(", ");
  if (action === undefined) throw usageError(`What is to be done with the database is missing: ${names}.`);
  if (!isAction(action)) {
    throw usageError(`"fanal db" does not know "${action}": it knows ${names}.${didYouMean(action, DB_ACTIONS)}`);
  }
  if (ACTIONS[action] && file === undefined) throw usageError(`"fanal db ${action}" needs the name of a file.`);
  const unexpected = ACTIONS[action] ? more[0] : file;
  if (unexpected !== undefined)
    throw usageError(`The argument "${unexpected}" is not expected by "fanal db ${action}".`);
  return { action, file: file ?? "" };
}

function isAction(text: string): text is DbAction {
  return Object.hasOwn(ACTIONS, text);
}
