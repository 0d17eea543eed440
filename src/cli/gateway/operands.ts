import { usageError } from "../exit.ts";
import { didYouMean } from "../flags/did-you-mean.ts";

export const GATEWAY_ACTIONS = ["check", "key"] as const;

/** An action of `fanal gateway` other than serving. */
export type GatewayAction = { action: "check"; file: string } | { action: "key" };

/** Parses the arguments of `fanal gateway`. Returns undefined if there are none. */
export function readGatewayOperands([action, file, ...more]: readonly string[]): GatewayAction | undefined {
  if (action === undefined) return undefined;
  if (action === "key") {
    if (file !== undefined) throw usageError(`Unexpected argument "${file}" of "fanal gateway key".`);
    return { action };
  }
  if (action !== "check") {
    const hint = didYouMean(action, GATEWAY_ACTIONS);
    throw usageError(`Unexpected argument "${action}" of "fanal gateway". Give flags, check FILE or key.${hint}`);
  }
  if (file === undefined) throw usageError('"fanal gateway check" requires a config file.');
  if (more[0] !== undefined) throw usageError(`Unexpected argument "${more[0]}" of "fanal gateway check".`);
  return { action, file };
}
