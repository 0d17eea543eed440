import { IrregularNumber } from "../../json/parse.ts";
import { decimalHint, INTEGER_NOTATION, parseInteger } from "./scalars.ts";
import { type ParamSchema, paramSchema } from "./schema.ts";

const WEI_PER_GWEI = 10n ** 9n;
const MAX_WEI = 2n ** 256n - 1n;

const hexHint = decimalHint("Amounts");

/** An amount in Gwei. If the amount exceeds the limit, the error hints that it may be in wei. */
export function gweiBetween(min: bigint, max: bigint): ParamSchema<bigint> {
  return paramSchema(
    `an amount in Gwei from ${min} to ${max}, ${INTEGER_NOTATION}`,
    {
      anyOf: [
        { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
        { type: "integer", minimum: Number(min) },
      ],
    },
    (value) => {
      const gwei = parseInteger(value, max);
      return gwei === undefined || gwei < min ? undefined : gwei;
    },
    (value) => {
      const amount = parseInteger(value instanceof IrregularNumber ? value.source : value, MAX_WEI);
      return amount === undefined || amount <= max ? hexHint(value) : weiHint(amount);
    },
  );
}

/** Returns a hint that states the amount in Gwei, in case the amount was in wei. */
export function weiHint(amount: bigint): string {
  return `If that is wei, it is ${amount / WEI_PER_GWEI} Gwei.`;
}
