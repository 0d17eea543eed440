import { usageError } from "../exit.ts";
import { didYouMean } from "../flags/did-you-mean.ts";

/** Actions of `fanal db` and their operands. */
const ACTIONS = {
  check: undefined,
  repair: undefined,
  rewind: "slot",
  compact: undefined,
  export: "file name",
  import: "file name",
} as const;

export type DbAction = keyof typeof ACTIONS;
export const DB_ACTIONS = Object.keys(ACTIONS) as DbAction[];

export interface DbOperands {
  action: DbAction;
  /** Empty for actions that take no file. */
  file: string;
  /** Set only for `rewind`. */
  slot?: number;
}

export function readDbOperands([action, operand, ...more]: readonly string[]): DbOperands {
  const names = DB_ACTIONS.join(", ");
  if (action === undefined) throw usageError(`Missing action. Give one of ${names}.`);
  if (!isAction(action)) {
    throw usageError(
      `Unknown action "${action}" of "fanal db". Give one of ${names}.${didYouMean(action, DB_ACTIONS)}`,
    );
  }
  const kind = ACTIONS[action];
  if (kind && operand === undefined) throw usageError(`"fanal db ${action}" requires a ${kind}.`);
  const unexpected = kind ? more[0] : operand;
  if (unexpected !== undefined) throw usageError(`Unexpected argument "${unexpected}" of "fanal db ${action}".`);
  if (kind === "slot") return { action, file: "", slot: readSlot(operand!) };
  return { action, file: operand ?? "" };
}

function readSlot(text: string): number {
  const slot = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(slot) && slot > 0) return slot;
  throw usageError(
    `Invalid slot "${text}" of "fanal db rewind". Give the first slot to drop, a decimal number from 1 on.`,
  );
}

function isAction(text: string): text is DbAction {
  return Object.hasOwn(ACTIONS, text);
}
