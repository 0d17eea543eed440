import { EVM, EVMError, type EVMOpts, type EVMRunCallOpts, type ExecResult, type Log, Message } from "@ethereumjs/evm";
import { type Address, createZeroAddress } from "@ethereumjs/util";
import { Frame } from "./frame.ts";
import type { Host } from "./host.ts";
import { InstructionSet } from "./instruction-set.ts";
import { interpret } from "./interpreter.ts";
import { type InterpreterRules, rulesOf } from "./rules.ts";

/** A call that transfers nothing to a contract. */
export interface ContractCall {
  block: NonNullable<EVMRunCallOpts["block"]>;
  caller: Address;
  to: Address;
  code: Uint8Array;
  data: Uint8Array;
  gasLimit: bigint;
}

/** The library's options for a message. */
interface MessageOptions {
  pc?: number;
  initialLogs?: Log[];
}

const { REVERT } = EVMError.errorMessages;

/**
 * The library's EVM with our own interpreter. The library still executes calls, creations and precompiles as messages,
 * and runs the code itself while a listener needs every step.
 */
export class InterpretingEvm extends EVM {
  readonly #host: Host;
  readonly #rules: InterpreterRules;
  readonly #instructions: InstructionSet;
  readonly #staticInstructions: InstructionSet;
  readonly #idleFrames: Frame[] = [];
  #hasWarmPrecompiles = false;

  /** Requires a fork since Paris. */
  constructor(options: EVMOpts, host: Host) {
    super(options);
    this.#host = host;
    this.#rules = rulesOf(this.common);
    this.#instructions = new InstructionSet(this.common, false);
    this.#staticInstructions = new InstructionSet(this.common, true);
  }

  /**
   * Runs a contract like the first message of a transaction, for a caller that drops the state afterwards. Leaves out
   * the library's checkpoints, transfers and events, which take longer than a short call.
   */
  async runContract({ block, caller, to, code, data, gasLimit }: ContractCall): Promise<ExecResult> {
    this._block = block;
    this._tx = { gasPrice: 0n, origin: caller };
    const sets = { selfdestruct: new Map(), createdAddresses: new Set<`0x${string}`>() };
    this.#hasWarmPrecompiles = true;
    try {
      return await this.runInterpreter(new Message({ caller, to, code, data, gasLimit, ...sets }));
    } finally {
      this.#hasWarmPrecompiles = false;
      this.transientStorage.clear();
    }
  }

  protected override async runInterpreter(message: Message, options: MessageOptions = {}): Promise<ExecResult> {
    const { code, gasLimit } = message;
    const isLibraryNeeded = this.events.listenerCount("step") > 0 || this.DEBUG || options.pc !== undefined;
    if (isLibraryNeeded || !(code instanceof Uint8Array) || gasLimit > Number.MAX_SAFE_INTEGER) {
      return super.runInterpreter(message, options);
    }
    const frame = this.#idleFrames.pop() ?? new Frame();
    const { gasPrice, origin } = this._tx!;
    const transaction = { block: this._block!, origin, gasPrice };
    const host = this.#host;
    const environment = {
      host,
      evm: this,
      rules: this.#rules,
      transaction,
      hasWarmPrecompiles: this.#hasWarmPrecompiles,
      recorder: host.recorder(),
    };
    frame.start(environment, message, code, message.to ?? createZeroAddress(), options.initialLogs ?? []);
    const error = await this.#interpret(frame, message.isStatic ? this.#staticInstructions : this.#instructions);
    const result = resultOf(frame, gasLimit, error);
    if (this.#rules.hasStateGas) result.stateGasSpilled = BigInt(frame.stateGasSpilled);
    frame.clear();
    this.#idleFrames.push(frame);
    return result;
  }

  /** Returns the error that ended the message, if any. */
  async #interpret(frame: Frame, instructions: InstructionSet): Promise<EVMError | undefined> {
    try {
      await interpret(frame, instructions);
      return undefined;
    } catch (error) {
      if (error instanceof EVMError) return error;
      throw error;
    }
  }
}

/** A failing message uses up all of its gas; a reverting message keeps the rest. */
function resultOf(frame: Frame, gasLimit: bigint, error: EVMError | undefined): ExecResult {
  const { output, logs, selfdestruct, createdAddresses, gasRefund } = frame;
  const gas = error === undefined || error.error === REVERT ? BigInt(frame.gas) : 0n;
  const result = { returnValue: output, gas, executionGasUsed: gasLimit - gas, gasRefund: BigInt(gasRefund) };
  if (error === undefined) return { ...result, logs, selfdestruct, createdAddresses };
  return { ...result, logs: [], selfdestruct: new Map(), createdAddresses: new Set(), exceptionError: error };
}
