import { parseInteger, parseNumber, WRITTEN } from "./scalars.ts";
import { type ParamSchema, paramSchema } from "./schema.ts";

const HEX = /^0x[0-9a-fA-F]{1,16}$/;

/** An integer as clients of execution nodes write it, in hex, or as it is written everywhere else. */
export function quantityUpTo(max: number, rightForm: string): ParamSchema<number> {
  return paramSchema(
    `${rightForm}, ${WRITTEN}, or in hex behind 0x`,
    {
      anyOf: [
        { type: "string", pattern: "^(0x[0-9a-fA-F]{1,16}|0|[1-9][0-9]*)$" },
        { type: "integer", minimum: 0, maximum: max },
      ],
    },
    (value) => {
      const integer = typeof value === "string" && HEX.test(value) ? BigInt(value) : parseInteger(value, BigInt(max));
      return integer !== undefined && integer <= max ? Number(integer) : undefined;
    },
  );
}

/** The same of a number that need not be an integer. */
export function numberOrQuantityUpTo(max: number, rightForm: string): ParamSchema<number> {
  return paramSchema(
    `${rightForm}, or an integer in hex behind 0x`,
    {
      anyOf: [
        { type: "number", minimum: 0, maximum: max },
        { type: "string", pattern: HEX.source },
      ],
    },
    (value) => {
      const number = typeof value === "string" && HEX.test(value) ? Number(value) : parseNumber(value);
      return number !== undefined && number >= 0 && number <= max ? number : undefined;
    },
  );
}

/** The same on the way out. */
export const quantity = (integer: number): string => `0x${integer.toString(16)}`;
