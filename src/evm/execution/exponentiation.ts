import type { Common } from "@ethereumjs/common";
import { type EVMOpts, getOpcodesForHF } from "@ethereumjs/evm";

type CustomOpcode = NonNullable<EVMOpts["customOpcodes"]>[number];
type AddedOpcode = Extract<CustomOpcode, { logicFunction: unknown }>;
type GasFunction = NonNullable<AddedOpcode["gasFunction"]>;

const OPCODE = 0x0a;
const BASE_GAS = 10;
const WORD_BITS = 256;
/** Smaller exponents do not benefit from a table. */
const SMALL_EXPONENT = 2n ** 16n;
const DIGITS = 16;

/**
 * The EXP opcode. The library's implementation takes half a millisecond for a large exponent. Gas costs come from the
 * library.
 */
export function exponentiationOpcode(common: Common): AddedOpcode {
  let gasFunction: GasFunction | undefined;
  return {
    opcode: OPCODE,
    opcodeName: "EXP",
    baseFee: BASE_GAS,
    gasFunction: async (...args) => {
      // The parameters of the gas function are known only once an EVM exists.
      gasFunction ??= getOpcodesForHF(common).dynamicGasHandlers.get(OPCODE)!;
      return gasFunction(...args);
    },
    logicFunction: ({ stack }) => {
      const [base, exponent] = stack.popN(2) as [bigint, bigint];
      stack.push(power(base, exponent));
    },
  };
}

/** Computes a power modulo 2^256. */
export function power(base: bigint, exponent: bigint): bigint {
  if (base === 2n) return exponent < WORD_BITS ? 1n << exponent : 0n;
  return exponent < SMALL_EXPONENT ? powerByBits(base, exponent) : powerByDigits(base, exponent);
}

function powerByBits(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let bits = Number(exponent); bits > 0; bits >>>= 1) {
    if ((bits & 1) === 1) result = multiply(result, square);
    if (bits > 1) square = multiply(square, square);
  }
  return result;
}

/** Processes four bits of the exponent at a time. */
function powerByDigits(base: bigint, exponent: bigint): bigint {
  const powers = [1n];
  for (let digit = 1; digit < DIGITS; digit++) powers.push(multiply(powers[digit - 1]!, base));
  let result = 1n;
  for (const digit of exponent.toString(DIGITS)) {
    for (let doubling = 1; doubling < DIGITS; doubling *= 2) result = multiply(result, result);
    if (digit !== "0") result = multiply(result, powers[Number.parseInt(digit, DIGITS)]!);
  }
  return result;
}

const multiply = (one: bigint, other: bigint): bigint => BigInt.asUintN(WORD_BITS, one * other);
