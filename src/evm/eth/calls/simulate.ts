import { Address } from "@ethereumjs/util";
import type { ExecutedBlock } from "../../execution/block.ts";
import type { BlockExecutor } from "../../execution/block-executor.ts";
import type { BlockRun } from "../../execution/block-run.ts";
import { CallBudget } from "../../execution/call-budget.ts";
import type { BlockEnvironment } from "../../execution/evm-block.ts";
import type { Log } from "../../execution/receipt.ts";
import type { ChainRules, Machine } from "../../execution/rules.ts";
import { maxFeePerGas, type Transaction } from "../../execution/transaction.ts";
import { EthError } from "../eth-error.ts";
import { blockJson } from "../json/block-json.ts";
import { data, quantity } from "../json/hex.ts";
import { logJson } from "../json/receipt-json.ts";
import type { Json } from "../json/transaction-json.ts";
import { TransferTracer } from "../traces/transfer-tracer.ts";
import { type CallFailure, callFailure, failureError } from "./call-failure.ts";
import type { BlockOverrides, CallRequest, SimulatedBlock, Simulation } from "./call-request.ts";
import { GAS_CAP } from "./call-state.ts";
import { callTransaction, higher, lower, NO_ADDRESS } from "./call-transaction.ts";
import { overrideAccounts } from "./override-accounts.ts";
import { type Refusal, refusalOf } from "./refusal.ts";

/** geth's limits. */
const MAX_BLOCKS = 256n;
const SECONDS_BETWEEN_BLOCKS = 12n;

const CAP_REACHED = `cap of ${GAS_CAP} gas for all calls of a simulation reached`;

/** Error codes from execution-apis. */
const CODES = {
  nonceTooLow: -38010,
  nonceTooHigh: -38011,
  feeTooLow: -38012,
  intrinsicGas: -38013,
  insufficientFunds: -38014,
  blockGasLimit: -38015,
  blockNumber: -38020,
  blockTimestamp: -38021,
  clientLimit: -38026,
  executionError: -32015,
} as const;

interface SimulatedCall {
  status: boolean;
  returnData: Uint8Array;
  gasUsed: bigint;
  /** Before refunds. */
  maxUsedGas: bigint;
  error?: Json;
  logs: readonly Log[];
}

/** Executes blocks of calls on top of an existing block, as specified for `eth_simulateV1`. */
export async function simulate(
  executor: BlockExecutor,
  base: ExecutedBlock,
  simulation: Simulation,
  signal?: AbortSignal,
): Promise<Json[]> {
  const budget = new CallBudget(signal);
  const results: Json[] = [];
  let parent = base;
  let gasLeft = GAS_CAP;
  for (const simulated of withoutGaps(base, simulation.blockStateCalls)) {
    const environment = environmentOf(executor, parent, simulated.blockOverrides ?? {}, simulation);
    const calls: SimulatedCall[] = [];
    const { blobBaseFee, withdrawals } = simulated.blockOverrides ?? {};
    const options = { budget, blobBaseFee, withdrawals };
    const block = await executor.simulate(parent, environment, options, async (run, machine) => {
      await overrideAccounts(machine, simulated.stateOverrides ?? []);
      for (const request of simulated.calls ?? []) {
        const call = await runCall({ run, machine, environment, gasLeft, simulation, rules: executor.rules }, request);
        gasLeft -= call.gasUsed;
        calls.push(call);
      }
    });
    results.push(blockResult(block, calls, simulation));
    parent = block;
  }
  return results;
}

/** Fills gaps between block numbers with empty blocks. */
function withoutGaps({ header }: ExecutedBlock, blocks: readonly SimulatedBlock[]): SimulatedBlock[] {
  const filled: SimulatedBlock[] = [];
  let { number, timestamp } = header;
  for (const block of blocks) {
    const { number: blockNumber = number + 1n, time } = block.blockOverrides ?? {};
    if (blockNumber <= number) {
      throw new EthError(`block numbers must be in order: ${blockNumber} <= ${number}`, CODES.blockNumber);
    }
    if (blockNumber - header.number > MAX_BLOCKS) {
      const blocks = blockNumber - header.number;
      throw new EthError(`too many blocks: ${blocks}, limit ${MAX_BLOCKS}`, CODES.clientLimit);
    }
    for (let empty = number + 1n; empty < blockNumber; empty++) {
      timestamp += SECONDS_BETWEEN_BLOCKS;
      filled.push({ blockOverrides: { number: empty, time: timestamp } });
    }
    const at = time ?? timestamp + SECONDS_BETWEEN_BLOCKS;
    if (at <= timestamp) {
      throw new EthError(`block timestamps must be in order: ${at} <= ${timestamp}`, CODES.blockTimestamp);
    }
    filled.push({ ...block, blockOverrides: { ...block.blockOverrides, number: blockNumber, time: at } });
    number = blockNumber;
    timestamp = at;
  }
  return filled;
}

function environmentOf(
  executor: BlockExecutor,
  parent: ExecutedBlock,
  { time, gasLimit, feeRecipient, prevRandao, baseFeePerGas, beaconRoot }: BlockOverrides,
  { validation }: Simulation,
): BlockEnvironment {
  const { header } = parent;
  const next = executor.environmentOf(parent, {
    timestamp: Number(time),
    prevRandao: prevRandao ?? header.prevRandao,
    feeRecipient: feeRecipient ?? header.feeRecipient,
    ...(beaconRoot && { parentBeaconBlockRoot: beaconRoot }),
  });
  return {
    ...next,
    gasLimit: gasLimit ?? header.gasLimit,
    baseFeePerGas: baseFeePerGas ?? (validation ? next.baseFeePerGas : 0n),
  };
}

interface CallContext {
  run: BlockRun;
  machine: Machine;
  environment: BlockEnvironment;
  /** Gas left for all remaining calls of the simulation. */
  gasLeft: bigint;
  simulation: Simulation;
  rules: ChainRules;
}

async function runCall(context: CallContext, request: CallRequest): Promise<SimulatedCall> {
  const { run, machine, environment, gasLeft, simulation } = context;
  const isCapped = (request.gas ?? run.gasLeft) > gasLeft;
  const transaction = transactionOf(context, request);
  const { tx, sender } = transaction;
  const skipBaseFee = !simulation.validation && maxFeePerGas(tx) === 0n;
  if (simulation.validation) requireNonce(machine, transaction);
  requireFunds(machine, skipBaseFee ? 0n : environment.baseFeePerGas, transaction);
  const transfers = simulation.traceTransfers ? new TransferTracer() : undefined;
  const detach = transfers?.attach(machine.vm.evm.events!);
  machine.state.allowSenderWithCode(sender.bytes);
  try {
    const leniency = { skipNonce: !simulation.validation, skipBaseFee };
    const { execResult, totalGasSpent, receipt } = await run.apply(transaction, leniency);
    const { exceptionError, returnValue, executionGasUsed } = execResult;
    const gasBeforeRefund = executionGasUsed + tx.getIntrinsicGas();
    return {
      status: exceptionError === undefined,
      returnData: returnValue,
      gasUsed: totalGasSpent,
      // The EIP-7623 floor may exceed even the gas used before the refund.
      maxUsedGas: higher(gasBeforeRefund, totalGasSpent),
      ...(exceptionError && { error: errorJson(callFailure(exceptionError.error, returnValue), isCapped) }),
      logs: transfers?.logs ?? receipt.logs.map(([address, topics, bytes]) => ({ address, topics, data: bytes })),
    };
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    const refusal = refusalOf(error);
    if (refusal.kind !== "intrinsicGas" || !isCapped) throw new EthError(refusal.message, codeOf(refusal));
    const used = `earlier calls used ${GAS_CAP - gasLeft} of it, ${refusal.message}`;
    throw new EthError(`${CAP_REACHED}: ${used}`, CODES.clientLimit);
  } finally {
    detach?.();
  }
}

function errorJson(failure: CallFailure, isCapped: boolean): Json {
  const { code, message, data: returnData } = failureError(failure);
  if (failure.kind === "reverted") return { code, message, data: returnData };
  const reason = failure.kind === "outOfGas" && isCapped ? `: ${CAP_REACHED}` : "";
  return { code: CODES.executionError, message: `${message}${reason}` };
}

/** Creates a transaction with an empty signature. */
function transactionOf({ run, machine, rules, environment, gasLeft }: CallContext, request: CallRequest): Transaction {
  const sender = new Address(request.from ?? NO_ADDRESS);
  const account = machine.state.account(sender.bytes);
  const requested = request.gas ?? run.gasLeft;
  if (requested > run.gasLeft) {
    const amounts = `remaining: ${run.gasLeft}, required: ${requested}`;
    throw new EthError(`block gas limit reached: ${amounts}`, CODES.blockGasLimit);
  }
  const gas = lower(requested, gasLeft);
  const fork = rules.at(environment.timestamp);
  // A transaction without a gas price has type 2, as in geth.
  const priced = request.gasPrice === undefined ? { maxFeePerGas: 0n, ...request } : request;
  const tx = callTransaction(priced, { gas, nonce: request.nonce ?? account?.nonce ?? 0n }, fork);
  const raw = Object.assign(tx, { v: 0n, r: 0n, s: 0n }).serialize();
  return { raw, hash: rules.crypto.keccak(raw), sender, tx };
}

function requireNonce(machine: Machine, { tx, sender }: Transaction): void {
  const { nonce = 0n } = machine.state.account(sender.bytes) ?? {};
  const where = `address ${sender}, tx: ${tx.nonce} state: ${nonce}`;
  if (tx.nonce < nonce) throw new EthError(`nonce too low: ${where}`, CODES.nonceTooLow);
  if (tx.nonce > nonce) throw new EthError(`nonce too high: ${where}`, CODES.nonceTooHigh);
}

function requireFunds(machine: Machine, baseFee: bigint, { tx, sender }: Transaction): void {
  const price = maxFeePerGas(tx);
  const where = `address ${sender}`;
  if (price < baseFee) {
    const fees = `maxFeePerGas: ${price}, baseFee: ${baseFee}`;
    throw new EthError(`max fee per gas less than block base fee: ${where}, ${fees}`, CODES.feeTooLow);
  }
  const have = machine.state.account(sender.bytes)?.balance ?? 0n;
  const want = tx.gasLimit * price + tx.value;
  if (have >= want) return;
  const amounts = `have ${have} want ${want} (supplied gas ${tx.gasLimit})`;
  throw new EthError(`insufficient funds for gas * price + value: ${where} ${amounts}`, CODES.insufficientFunds);
}

function codeOf({ kind }: Refusal): number | undefined {
  return kind === "other" ? undefined : CODES[kind];
}

function blockResult(block: ExecutedBlock, calls: readonly SimulatedCall[], simulation: Simulation): Json {
  let logIndex = 0;
  return {
    ...blockJson(block, { isFull: simulation.returnFullTransactions ?? false }),
    calls: calls.map(({ status, returnData, gasUsed, maxUsedGas, logs, error }, transactionIndex) => ({
      status: status ? "0x1" : "0x0",
      returnData: data(returnData),
      gasUsed: quantity(gasUsed),
      maxUsedGas: quantity(maxUsedGas),
      logs: logs.map((log) => logJson(log, { block, transactionIndex, logIndex: logIndex++ })),
      ...(error && { error }),
    })),
  };
}
