import { type BlobParameters, GAS_PER_BLOB } from "./forks.ts";
import type { Header } from "./header.ts";

const ELASTICITY = 2n;
const BASE_FEE_CHANGE_DENOMINATOR = 8n;
const GAS_LIMIT_BOUND_DIVISOR = 1024n;
const MIN_GAS_LIMIT = 5000n;
const MAX_GAS_LIMIT = 2n ** 63n - 1n;
const MIN_BLOB_BASE_FEE = 1n;
/** EIP-7918, BLOB_BASE_COST. */
const BLOB_BASE_COST = 2n ** 13n;

/** EIP-1559. */
export function nextBaseFee({ gasLimit, gasUsed, baseFeePerGas }: Header): bigint {
  const target = gasLimit / ELASTICITY;
  if (gasUsed === target) return baseFeePerGas;
  const distance = gasUsed > target ? gasUsed - target : target - gasUsed;
  const change = (baseFeePerGas * distance) / target / BASE_FEE_CHANGE_DENOMINATOR;
  if (gasUsed < target) return baseFeePerGas - change;
  return baseFeePerGas + (change > 1n ? change : 1n);
}

/** Returns the next block's gas limit: as close to the desired gas limit as the protocol allows. */
export function nextGasLimit(parent: bigint, desired: bigint): bigint {
  const step = parent / GAS_LIMIT_BOUND_DIVISOR - 1n;
  const limit = desired > parent + step ? parent + step : desired < parent - step ? parent - step : desired;
  return limit < MIN_GAS_LIMIT ? MIN_GAS_LIMIT : limit;
}

export function isGasLimitAllowed(limit: bigint, parent: bigint): boolean {
  const distance = limit > parent ? limit - parent : parent - limit;
  return distance < parent / GAS_LIMIT_BOUND_DIVISOR && limit >= MIN_GAS_LIMIT && limit <= MAX_GAS_LIMIT;
}

/** EIP-4844, get_base_fee_per_blob_gas. */
export function blobBaseFee(excessBlobGas: bigint, { updateFraction }: BlobParameters): bigint {
  return fakeExponential(MIN_BLOB_BASE_FEE, excessBlobGas, updateFraction);
}

/** EIP-4844, calc_excess_blob_gas; since Osaka, with the EIP-7918 reserve price. */
export function nextExcessBlobGas(parent: Header, parameters: BlobParameters, hasReservePrice: boolean): bigint {
  const { excessBlobGas = 0n, blobGasUsed = 0n, baseFeePerGas } = parent;
  const target = BigInt(parameters.target) * GAS_PER_BLOB;
  if (excessBlobGas + blobGasUsed < target) return 0n;
  const isBelowReserve = BLOB_BASE_COST * baseFeePerGas > GAS_PER_BLOB * blobBaseFee(excessBlobGas, parameters);
  if (!hasReservePrice || !isBelowReserve) return excessBlobGas + blobGasUsed - target;
  const { max } = parameters;
  return excessBlobGas + (blobGasUsed * BigInt(max - parameters.target)) / BigInt(max);
}

/** EIP-4844, fake_exponential: factor * e ** (numerator / denominator), by Taylor expansion. */
function fakeExponential(factor: bigint, numerator: bigint, denominator: bigint): bigint {
  let sum = 0n;
  let term = factor * denominator;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * numerator) / (denominator * i);
  }
  return sum / denominator;
}
