import { EVM, EVMError, type EVMOpts, type ExecResult, type Log, type Message } from "@ethereumjs/evm";
import { createZeroAddress } from "@ethereumjs/util";
import { Frame } from "./frame.ts";
import type { Host } from "./host.ts";
import { InstructionSet } from "./instruction-set.ts";
import { interpret } from "./interpreter.ts";
import { type InterpreterRules, rulesOf } from "./rules.ts";

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

  /** Requires a fork since Paris. */
  constructor(options: EVMOpts, host: Host) {
    super(options);
    this.#host = host;
    this.#rules = rulesOf(this.common);
    this.#instructions = new InstructionSet(this.common, false);
    this.#staticInstructions = new InstructionSet(this.common, true);
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
    const environment = { host: this.#host, evm: this, rules: this.#rules, transaction };
    frame.start(environment, message, code, message.to ?? createZeroAddress(), options.initialLogs ?? []);
    const error = await this.#interpret(frame, message.isStatic ? this.#staticInstructions : this.#instructions);
    const result = resultOf(frame, gasLimit, error);
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
