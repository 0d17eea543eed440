import { EVMError, type ExecResult, type Log, type Message } from "@ethereumjs/evm";
import type { Address } from "@ethereumjs/util";
import type { AccessRecorder } from "../state/access-recorder.ts";
import { PreparedCode } from "./code.ts";
import { WARM_ACCESS_GAS } from "./gas.ts";
import type { Host, MessageRunner, TransactionContext } from "./host.ts";
import { Memory } from "./memory.ts";
import type { InterpreterRules } from "./rules.ts";
import { Word } from "./words/word.ts";

const hexOf = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length).toString("hex");

export const STACK_LIMIT = 1024;
const EMPTY = new Uint8Array(0);
const { OUT_OF_GAS } = EVMError.errorMessages;

/** Context shared by all messages of a transaction. */
export interface Environment {
  readonly host: Host;
  readonly evm: MessageRunner;
  readonly rules: InterpreterRules;
  readonly transaction: TransactionContext;
  /** True if precompiles are warm without being in the journal (EIP-2929). */
  readonly hasWarmPrecompiles: boolean;
  /** Since Amsterdam. */
  readonly recorder: AccessRecorder | undefined;
}

/** State of a message while its code runs. Frames are reused, along with their stack and memory. */
export class Frame {
  /** Words on the stack, bottom first, followed by spare words. */
  readonly stack: Word[] = [];
  readonly memory = new Memory();
  /** Number of words on the stack. */
  height = 0;
  /** Position of the next opcode. */
  position = 0;
  gas = 0;
  gasRefund = 0;
  /** State gas that was taken from `gas`, because the transaction's reservoir was empty (EIP-8037). */
  stateGasSpilled = 0;
  isRunning = false;
  output: Uint8Array = EMPTY;
  /** Return data of the last call. */
  returned: Uint8Array = EMPTY;
  logs: Log[] = [];
  selfdestruct: NonNullable<ExecResult["selfdestruct"]> = new Map();
  createdAddresses: NonNullable<ExecResult["createdAddresses"]> = new Set();
  code!: PreparedCode;
  message!: Message;
  address!: Address;
  environment!: Environment;

  /** Starts a message, given the code that the message runs. */
  start(environment: Environment, message: Message, code: Uint8Array, address: Address, logs: readonly Log[]): void {
    this.environment = environment;
    this.message = message;
    this.code = PreparedCode.of(code);
    this.address = address;
    this.height = 0;
    this.position = 0;
    this.gas = Number(message.gasLimit);
    this.gasRefund = Number(message.gasRefund);
    this.stateGasSpilled = 0;
    this.isRunning = true;
    this.output = EMPTY;
    this.returned = EMPTY;
    this.logs = [...logs];
    this.selfdestruct = message.selfdestruct ?? new Map();
    this.createdAddresses = message.createdAddresses ?? new Set();
  }

  /** Clears everything that the next message must not see. */
  clear(): void {
    this.memory.clear();
    this.output = EMPTY;
    this.returned = EMPTY;
  }

  /** Removes the top word, whose value stays valid until the next push. */
  pop(): Word {
    this.height--;
    return this.stack[this.height]!;
  }

  /** Returns the top word. */
  peek(): Word {
    return this.stack[this.height - 1]!;
  }

  /** Pushes a word, to be set by the caller. */
  push(): Word {
    if (this.height === this.stack.length) this.stack.push(new Word());
    return this.stack[this.height++]!;
  }

  charge(gas: number): void {
    if (gas > this.gas) throw new EVMError(OUT_OF_GAS);
    this.gas -= gas;
  }

  /** Pays for memory up to the end of a range, and allocates it. An empty range needs no memory. */
  expandMemory(offset: number, length: number): void {
    if (length === 0) return;
    const end = offset + length;
    if (end <= this.memory.size) return;
    this.charge(this.memory.growthGas(end));
    this.memory.grow(end);
  }

  /**
   * Charges for an access to an account and for what follows, and makes the account warm. Without the gas, the account
   * is not accessed (EIP-7928).
   */
  chargeAccountAccess(address: Uint8Array, additionalGas = 0): void {
    const { rules, recorder } = this.environment;
    this.charge((this.warmAccount(address) ? WARM_ACCESS_GAS : rules.coldAccountGas) + additionalGas);
    recorder?.touch(address);
  }

  /** Makes an account warm. Returns true if it was already warm. */
  warmAccount(address: Uint8Array): boolean {
    const { evm, hasWarmPrecompiles } = this.environment;
    const { journal } = evm;
    if (journal.isWarmedAddress(address) || (hasWarmPrecompiles && evm.precompiles.has(hexOf(address)))) return true;
    journal.addWarmedAddress(address);
    return false;
  }

  /** Pays for new state from the transaction's reservoir, then from the frame's gas (EIP-8037). */
  chargeStateGas(gas: number): void {
    const { evm } = this.environment;
    const reservoir = Number(evm.stateGasReservoir);
    const spilled = Math.max(gas - reservoir, 0);
    this.charge(spilled);
    this.stateGasSpilled += spilled;
    evm.stateGasReservoir = BigInt(reservoir - (gas - spilled));
    evm.executionStateGasUsed += BigInt(gas);
  }

  /** Returns the gas of state that has not been created after all, first to where it was taken from last. */
  refundStateGas(gas: number): void {
    const { evm } = this.environment;
    const returned = Math.min(gas, this.stateGasSpilled);
    this.gas += returned;
    this.stateGasSpilled -= returned;
    evm.stateGasReservoir += BigInt(gas - returned);
    evm.executionStateGasUsed -= BigInt(gas);
  }

  /**
   * Adds the spilled gas of a successful child. The reservoir repays what it can, because the child may have returned
   * gas that another frame spilled.
   */
  mergeStateGas(spilledByChild: number): void {
    const { evm } = this.environment;
    this.stateGasSpilled += spilledByChild;
    const repaid = Math.min(Number(evm.stateGasReservoir), this.stateGasSpilled);
    this.gas += repaid;
    this.stateGasSpilled -= repaid;
    evm.stateGasReservoir -= BigInt(repaid);
  }

  /** Ends the message with its output. */
  stop(output: Uint8Array = EMPTY): void {
    this.output = output;
    this.isRunning = false;
  }
}
