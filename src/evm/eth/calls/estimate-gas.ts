import { EthError } from "../eth-error.ts";
import { failureError } from "./call-failure.ts";
import type { CallRequest } from "./call-request.ts";
import { type CallOutcome, type CallState, GAS_CAP } from "./call-state.ts";
import { lower, MAX_TRANSACTION_GAS, NO_ADDRESS } from "./call-transaction.ts";

/** Until Osaka, gas used by a transaction that sends no data to an account without code. */
export const TRANSFER_GAS = 21_000n;
/** Additional gas for a called contract that receives ETH. */
const CALL_STIPEND = 2300n;
/** Relative precision at which the search ends, as in geth. */
const TOLERANCE = 67n;

/**
 * Finds a gas limit at which a call succeeds, by binary search. If the call fails at every gas limit, throws its error.
 */
export async function estimateGas(state: CallState, request: CallRequest): Promise<bigint> {
  const highest = await highestGas(state, request);
  const isTransfer = isPlainTransfer(state, request);
  const hasFixedGas = !state.rules.isSince("amsterdam");
  if (isTransfer && hasFixedGas && (await succeeds(state, request, TRANSFER_GAS))) return TRANSFER_GAS;
  const { gasUsed, gasRefund } = await requireSuccess(state, request, highest);
  // EIP-2780, EIP-8037: a transfer costs more or less, depending on its recipient.
  if (isTransfer && (await succeeds(state, request, gasUsed))) return gasUsed;
  let tooLow = gasUsed - 1n;
  let enough = highest;
  // A call forwards at most 63/64 of its gas, so this limit is sufficient for most calls.
  const optimistic = ((gasUsed + gasRefund + CALL_STIPEND) * 64n) / 63n;
  if (optimistic < enough) {
    if (await succeeds(state, request, optimistic)) enough = optimistic;
    else tooLow = optimistic;
  }
  while (tooLow + 1n < enough && (enough - tooLow) * TOLERANCE >= enough) {
    const middle = (tooLow + enough) / 2n;
    // Most calls need only slightly more than the lower bound.
    const next = lower(middle, tooLow * 2n);
    if (await succeeds(state, request, next)) enough = next;
    else tooLow = next;
  }
  return enough;
}

/**
 * Returns the upper bound: the lowest of the block's gas limit, the call gas cap and the gas the sender can pay for.
 */
async function highestGas(state: CallState, request: CallRequest): Promise<bigint> {
  const { from = NO_ADDRESS, gas, value = 0n } = request;
  const limits = [
    gas !== undefined && gas >= state.rules.minTransactionGas ? gas : state.environment.gasLimit,
    GAS_CAP,
  ];
  // EIP-7825. Since Amsterdam, gas for new state is not limited (EIP-8037).
  if (state.rules.isSince("osaka") && !state.rules.isSince("amsterdam")) limits.push(MAX_TRANSACTION_GAS);
  const price = request.gasPrice ?? request.maxFeePerGas ?? 0n;
  if (price > 0n) {
    const available = state.balanceOf(from) - value;
    if (available < 0n) throw new EthError("insufficient funds for transfer");
    limits.push(available / price);
  }
  return limits.reduce(lower);
}

function isPlainTransfer({ machine }: CallState, { to, data, accessList, authorizationList }: CallRequest): boolean {
  if (to === undefined || (data?.length ?? 0) > 0 || (accessList ?? authorizationList) !== undefined) return false;
  return (machine.state.account(to)?.code.length ?? 0) === 0;
}

/** Returns true if the call succeeds. A gas limit below the intrinsic gas counts as a failure. */
async function succeeds(state: CallState, request: CallRequest, gas: bigint): Promise<boolean> {
  try {
    return (await state.try(request, gas)).failure === undefined;
  } catch (error) {
    if (isIntrinsicGasError(error)) return false;
    throw error;
  }
}

async function requireSuccess(state: CallState, request: CallRequest, gas: bigint): Promise<CallOutcome> {
  const exceeded = () => new EthError(`gas required exceeds allowance (${gas})`);
  try {
    const outcome = await state.try(request, gas);
    if (outcome.failure === undefined) return outcome;
    throw outcome.failure.kind === "outOfGas" ? exceeded() : failureError(outcome.failure);
  } catch (error) {
    throw isIntrinsicGasError(error) ? exceeded() : error;
  }
}

const isIntrinsicGasError = (error: unknown): boolean =>
  error instanceof EthError && error.message.startsWith("intrinsic gas too low");
