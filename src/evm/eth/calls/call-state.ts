import { isBlob4844Tx, type TypedTransaction } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import { runTx } from "@ethereumjs/vm";
import type { ExecutedBlock } from "../../execution/block.ts";
import { CallBudget } from "../../execution/call-budget.ts";
import { type BlockEnvironment, evmBlock } from "../../execution/evm-block.ts";
import { GAS_PER_BLOB } from "../../execution/forks.ts";
import type { Log } from "../../execution/receipt.ts";
import type { ChainRules, ForkRules, Machine } from "../../execution/rules.ts";
import { maxFeePerGas } from "../../execution/transaction.ts";
import { EthError } from "../eth-error.ts";
import type { AccessListEntry } from "../transaction-request.ts";
import { type CallFailure, callFailure } from "./call-failure.ts";
import type { BlockOverrides, CallRequest, StateOverrides } from "./call-request.ts";
import { callTransaction, checkFields, NO_ADDRESS } from "./call-transaction.ts";
import { overrideAccounts } from "./override-accounts.ts";
import { plainCallOf, runPlainCall } from "./plain-call.ts";
import { refusalOf } from "./refusal.ts";

/** geth's default gas cap. */
export const GAS_CAP = 50_000_000n;

/** Result of a call that was executed. */
export interface CallOutcome {
  readonly returnData: Uint8Array;
  readonly gasUsed: bigint;
  /** Subtracted from the gas used. */
  readonly gasRefund: bigint;
  readonly failure: CallFailure | undefined;
  readonly logs: readonly Log[];
  /** Accounts and slots read by the call, if requested. */
  readonly accessList: readonly AccessListEntry[];
}

interface CallContext {
  /** The call sees this block's header and the state after it. */
  block: ExecutedBlock;
  stateOverrides?: StateOverrides | undefined;
  blockOverrides?: BlockOverrides | undefined;
  signal?: AbortSignal | undefined;
}

/** State on which calls are executed one after another. */
export class CallState {
  readonly machine: Machine;
  readonly rules: ForkRules;
  readonly budget: CallBudget;
  environment: BlockEnvironment;
  blobBaseFee: bigint | undefined;

  /** Runs `work` on the state after a block with overrides applied, then discards that state. */
  static async open<T>(chain: ChainRules, context: CallContext, work: (state: CallState) => Promise<T>): Promise<T> {
    const { block, stateOverrides = [], blockOverrides = {}, signal } = context;
    const rules = chain.at(blockOverrides.time ?? block.header.timestamp);
    const budget = new CallBudget(signal);
    return rules.withLimitedMachine(budget, async (machine) => {
      machine.state.open(block.world);
      machine.blockHashes = block.blockHashes;
      const state = new CallState(machine, rules, budget, block.header);
      if (context.blockOverrides !== undefined) state.overrideBlock(blockOverrides);
      await overrideAccounts(machine, stateOverrides);
      return work(state);
    });
  }

  private constructor(machine: Machine, rules: ForkRules, budget: CallBudget, environment: BlockEnvironment) {
    this.machine = machine;
    this.rules = rules;
    this.budget = budget;
    this.environment = environment;
  }

  overrideBlock({ time, blobBaseFee, beaconRoot, withdrawals, ...fields }: BlockOverrides): void {
    for (const [name, value] of Object.entries({ beaconRoot, withdrawals })) {
      if (value !== undefined) throw new EthError(`block override "${name}" is not supported for this RPC method`);
    }
    const timestamp = time === undefined ? {} : { timestamp: time };
    this.environment = { ...this.environment, ...definedFields(fields), ...timestamp };
    this.blobBaseFee = blobBaseFee ?? this.blobBaseFee;
  }

  balanceOf(address: Uint8Array): bigint {
    return this.machine.state.account(address)?.balance ?? 0n;
  }

  nonceOf(address: Uint8Array): bigint {
    return this.machine.state.account(address)?.nonce ?? 0n;
  }

  /**
   * Executes a call whose changes are discarded. Most calls need no transaction: creating one and charging its fees
   * takes several times as long as the execution. Throws an `EthError` if the call cannot be executed.
   */
  async call(request: CallRequest): Promise<Pick<CallOutcome, "returnData" | "failure">> {
    checkFields(request, this.rules);
    const plain = plainCallOf(request, capped(request.gas), this);
    if (plain === undefined) return this.run(request);
    try {
      const { exceptionError, returnValue } = await runPlainCall(plain, this, this);
      return { returnData: returnValue, failure: exceptionError && callFailure(exceptionError.error, returnValue) };
    } catch (error) {
      throw callError(error);
    }
  }

  /** Executes a call and keeps its changes. Throws an `EthError` if the call cannot be executed. */
  async run(request: CallRequest, gas: bigint = capped(request.gas), reportAccessList = false): Promise<CallOutcome> {
    const { from = NO_ADDRESS } = request;
    const unsigned = callTransaction(request, { gas, nonce: request.nonce ?? this.nonceOf(from) }, this.rules);
    // The library recognizes a transfer to the sender itself only if the sender is known (EIP-2780).
    const tx = Object.assign(unsigned, { isSigned: () => true });
    const environment = isFree(tx) ? { ...this.environment, baseFeePerGas: 0n } : this.environment;
    this.#requireFunds(tx, from, environment.baseFeePerGas);
    const isBlobFree = isBlob4844Tx(tx) && tx.maxFeePerBlobGas === 0n;
    this.machine.state.allowSenderWithCode(from);
    try {
      const { execResult, totalGasSpent, gasRefund, accessList, receipt } = await runTx(this.machine.vm, {
        tx,
        block: evmBlock(environment, this.rules, isBlobFree ? 0n : this.blobBaseFee),
        skipNonce: true,
        skipHardForkValidation: true,
        skipBlockGasLimitValidation: true,
        reportAccessList,
      });
      const { exceptionError, returnValue } = execResult;
      return {
        returnData: returnValue,
        gasUsed: totalGasSpent,
        gasRefund: gasRefund ?? 0n,
        failure: exceptionError && callFailure(exceptionError.error, returnValue),
        logs: receipt.logs.map(([address, topics, data]) => ({ address, topics, data })),
        accessList: (accessList ?? []).map(({ address, storageKeys }) => ({
          address: bytesOf(address),
          storageKeys: storageKeys.map(bytesOf),
        })),
      };
    } catch (error) {
      throw callError(error);
    }
  }

  /** Executes a call and reverts its changes. */
  async try(request: CallRequest, gas?: bigint, reportAccessList?: boolean): Promise<CallOutcome> {
    const { state } = this.machine;
    await state.checkpoint();
    try {
      return await this.run(request, gas, reportAccessList);
    } finally {
      await state.revert();
    }
  }

  #requireFunds(tx: TypedTransaction, from: Uint8Array, baseFee: bigint): void {
    const price = maxFeePerGas(tx);
    const sender = new Address(from).toString();
    if (price < baseFee) {
      throw new EthError(
        `max fee per gas less than block base fee: address ${sender}, maxFeePerGas: ${price}, baseFee: ${baseFee}`,
      );
    }
    const blobCost = isBlob4844Tx(tx) ? BigInt(tx.numBlobs()) * GAS_PER_BLOB * tx.maxFeePerBlobGas : 0n;
    const want = tx.gasLimit * price + tx.value + blobCost;
    const have = this.balanceOf(from);
    if (have >= want) return;
    throw new EthError(
      `insufficient funds for gas * price + value: address ${sender} have ${have} want ${want} ` +
        `(supplied gas ${tx.gasLimit})`,
    );
  }
}

const capped = (gas: bigint | undefined): bigint => (gas === undefined || gas > GAS_CAP ? GAS_CAP : gas);

/** Returns the error for a call that was not executed or was cancelled. */
function callError(error: unknown): unknown {
  return (error as Error).name === "AbortError" ? error : new EthError(refusalOf(error).message);
}

/** Returns true for a call without a gas price. It sees a base fee of zero, as in geth. */
const isFree = (tx: TypedTransaction): boolean => maxFeePerGas(tx) === 0n;

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), "hex"));

function definedFields<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
