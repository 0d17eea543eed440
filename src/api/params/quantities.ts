import { INTEGER_NOTATION, parseInteger, parseNumber } from "./scalars.ts";
import { type ParamSchema, paramSchema } from "./schema.ts";

const HEX = /^0x[0-9a-fA-F]{1,16}$/;

/**
 * An integer up to `max`, given as a hex quantity of the execution JSON-RPC API, a decimal string or a JSON integer.
 */
export function quantityUpTo(max: number, expected: string): ParamSchema<number> {
  return paramSchema(
    `${expected}, ${INTEGER_NOTATION}, or in hex with the prefix 0x`,
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

/** A number up to `max`, possibly with a fraction, given as a JSON number or a hex quantity. */
export function numberOrQuantityUpTo(max: number, expected: string): ParamSchema<number> {
  return paramSchema(
    `${expected}, or an integer in hex with the prefix 0x`,
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

/** Formats an integer as a hex quantity of the execution JSON-RPC API. */
export const quantity = (integer: number): string => `0x${integer.toString(16)}`;
