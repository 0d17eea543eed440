import type { ExecResult } from "@ethereumjs/evm";
import { paramsTx } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import { type BlockEnvironment, evmBlock } from "../../execution/evm-block.ts";
import type { ForkRules, Machine } from "../../execution/rules.ts";
import { setStateGas } from "../../execution/system-contracts.ts";
import { InterpretingEvm } from "../../interpreter/interpreting-evm.ts";
import { NO_CODE } from "../../state/world.ts";
import type { CallRequest } from "./call-request.ts";
import { higher, NO_ADDRESS } from "./call-transaction.ts";

/** First byte of a delegation (EIP-7702), which the EVM library resolves. */
const DELEGATION_BYTE = 0xef;

/** A call to an account, without a gas price or other fields that only transactions have. */
export interface PlainCall {
  from: Uint8Array;
  to: Uint8Array;
  value: bigint;
  data: Uint8Array;
  /** Gas left for the execution. */
  gas: bigint;
}

/**
 * Converts a request into a plain call with a gas limit. Returns undefined if the request has fields of a transaction,
 * if its gas or value requires a rejection, and from Amsterdam on.
 */
export function plainCallOf(
  request: CallRequest,
  gasLimit: bigint,
  { machine, rules }: { machine: Machine; rules: ForkRules },
): PlainCall | undefined {
  // The gas of new state comes from a reservoir that only a transaction fills (EIP-8037).
  if (rules.isSince("amsterdam")) return undefined;
  const { from = NO_ADDRESS, to, value = 0n, data = new Uint8Array(0), accessList, gasPrice = 0n } = request;
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, blobVersionedHashes, authorizationList } = request;
  const isFree = gasPrice === 0n && maxFeePerGas === 0n && maxPriorityFeePerGas === 0n;
  if (to === undefined || !isFree || (accessList ?? blobVersionedHashes ?? authorizationList) !== undefined) {
    return undefined;
  }
  const { intrinsic, minimum } = gasBeforeExecution({ from, to, value, data }, rules);
  if (gasLimit < minimum) return undefined;
  if (value > 0n && (machine.state.account(from)?.balance ?? 0n) < value) return undefined;
  return { from, to, value, data, gas: gasLimit - intrinsic };
}

/**
 * Returns the intrinsic gas of a call, and the minimum gas limit. The minimum is higher for calls with much data
 * (EIP-7623).
 */
function gasBeforeExecution(
  { from, to, value, data }: Omit<PlainCall, "gas">,
  { common }: ForkRules,
): { intrinsic: bigint; minimum: bigint } {
  common.updateParams(paramsTx);
  let zeros = 0;
  for (const byte of data) if (byte === 0) zeros++;
  const others = data.length - zeros;
  let base = common.param("txGas");
  if (common.isActivatedEIP(2780) && Buffer.compare(from, to) !== 0) {
    base += common.param("txRecipientAccessGas") + (value > 0n ? common.param("txValueCost") : 0n);
  }
  const intrinsic =
    base + BigInt(zeros) * common.param("txDataZeroGas") + BigInt(others) * common.param("txDataNonZeroGas");
  if (!common.isActivatedEIP(7623)) return { intrinsic, minimum: intrinsic };
  const tokens = common.isActivatedEIP(7976) ? 4 * data.length : zeros + 4 * others;
  const floor = base + BigInt(tokens) * common.param("totalCostFloorPerToken");
  return { intrinsic, minimum: higher(intrinsic, floor) };
}

/**
 * Executes a plain call the way the library executes a transaction, but without fees and without the steps that follow
 * the execution. The call's changes remain in the state.
 */
export async function runPlainCall(
  { from, to, value, data, gas: gasLimit }: PlainCall,
  { machine, rules }: { machine: Machine; rules: ForkRules },
  { environment, blobBaseFee }: { environment: BlockEnvironment; blobBaseFee: bigint | undefined },
): Promise<ExecResult> {
  const { state } = machine;
  const { evm } = machine.vm;
  const { journal } = evm;
  const block = evmBlock({ ...environment, baseFeePerGas: 0n }, rules, blobBaseFee);
  // All gas can pay for new state (EIP-8037).
  setStateGas(evm, 0n);
  const call = { block, caller: new Address(from), to: new Address(to), value, data, gasLimit };
  // EIP-2929 and EIP-3651.
  for (const address of [from, to, environment.feeRecipient]) journal.addAlwaysWarmAddress(hexOf(address));
  try {
    const code = state.account(to)?.code ?? NO_CODE;
    const isContract = code.length > 0 && code[0] !== DELEGATION_BYTE && !evm.precompiles.has(hexOf(to));
    if (isContract && value === 0n && evm instanceof InterpretingEvm) {
      state.incrementNonce(from);
      return await evm.runContract({ ...call, code });
    }
    for (const precompile of evm.precompiles.keys()) journal.addAlwaysWarmAddress(precompile);
    return (await evm.runCall(call)).execResult;
  } finally {
    journal.cleanJournal();
    evm.stateManager.originalStorageCache.clear();
  }
}

const hexOf = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length).toString("hex");
