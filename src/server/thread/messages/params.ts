import { parseMessage, parseScanned } from "../../../json/parse.ts";
import type { Params } from "../../method-table.ts";

const NO_PARAMS = "[]";

/**
 * Parses the JSON of parameters. `isIrregular` is undefined if the parameters have not been checked against the limits.
 */
export function parseParams(json: string, isIrregular: boolean | undefined): Params {
  if (json === NO_PARAMS) return [];
  const isChecked = isIrregular !== undefined;
  return (isChecked ? parseScanned(json, isIrregular) : parseMessage(Buffer.from(json))) as Params;
}
