/** Matches execution layer methods by namespace. */
const EXECUTION_METHOD = /^(eth|net|web3|txpool|debug_trace|personal|anvil|hardhat|evm|miner)/;

/** True for an execution layer method, which takes integers as hex quantities. */
export function isExecutionMethod(name: string): boolean {
  return EXECUTION_METHOD.test(name);
}

/**
 * Serializes an object that holds the parameters of a method. Bigints become hex quantities for the execution layer.
 * For other methods, they become numbers, or decimal strings where numbers are inexact. Throws for NaN and infinity,
 * which JSON would silently turn into null, making the parameter take its default.
 */
export function stringifyFor(method: string, value: object): string {
  const encode = isExecutionMethod(method) ? hexQuantity : decimal;
  return JSON.stringify(value, (name, each) => {
    if (typeof each === "bigint") return encode(each);
    if (typeof each !== "number" || Number.isFinite(each)) return each;
    throw new TypeError(`The parameter "${name}" of ${method} must be a finite number, got ${each}.`);
  });
}

const hexQuantity = (integer: bigint): string => `0x${integer.toString(16)}`;

function decimal(integer: bigint): number | string {
  return integer <= Number.MAX_SAFE_INTEGER && integer >= Number.MIN_SAFE_INTEGER ? Number(integer) : String(integer);
}
