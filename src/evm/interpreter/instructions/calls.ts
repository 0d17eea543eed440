import { EVMError } from "@ethereumjs/evm";
import { Address } from "@ethereumjs/util";
import type { AccountRecord } from "../../state/world.ts";
import type { Frame } from "../frame.ts";
import { CALL_GAS_DIVISOR, CALL_STIPEND, NEW_ACCOUNT_GAS, NEW_ACCOUNT_STATE_GAS } from "../gas.ts";
import type { Instruction, Instructions } from "../instruction.ts";
import { setBoolean, toAddressBytes, toBigInt, toNumber } from "../words/word.ts";
import { isEmpty } from "./accounts.ts";
import { canSend, runChild } from "./child-message.ts";

const { REVERT, STATIC_STATE_CHANGE } = EVMError.errorMessages;
/** Prefix of a delegating account's code; the delegate's address follows (EIP-7702). */
const DELEGATION_PREFIX = [0xef, 0x01, 0x00] as const;
/** Length of a delegating account's code. */
const DELEGATION_SIZE = 23;
const NO_BYTES = new Uint8Array(0);

/** How a kind of call passes on its context. */
interface CallKind {
  opcode: number;
  name: string;
  /** True if the call has a value operand. */
  hasValue: boolean;
  /** True if the code runs in the caller's account. */
  isOwnAccount: boolean;
  /** True if sender and value are those of the caller's message. */
  isDelegate: boolean;
  isStatic: boolean;
}

const CALL: CallKind = {
  opcode: 0xf1,
  name: "CALL",
  hasValue: true,
  isOwnAccount: false,
  isDelegate: false,
  isStatic: false,
};
const CALLCODE: CallKind = { ...CALL, opcode: 0xf2, name: "CALLCODE", isOwnAccount: true };
const DELEGATECALL: CallKind = {
  ...CALLCODE,
  opcode: 0xf4,
  name: "DELEGATECALL",
  hasValue: false,
  isDelegate: true,
};
const STATICCALL: CallKind = { ...CALL, opcode: 0xfa, name: "STATICCALL", hasValue: false, isStatic: true };

export const CALLS: Instructions = [CALL, CALLCODE, DELEGATECALL, STATICCALL].map(instructionOf);

function instructionOf(kind: CallKind): Instruction {
  return {
    opcode: kind.opcode,
    name: kind.name,
    gas: 0,
    pops: kind.hasValue ? 7 : 6,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => call(frame, kind),
  };
}

/** Runs the call as a message in the EVM library. */
async function call(frame: Frame, kind: CallKind): Promise<void> {
  const { memory, message, address, environment } = frame;
  const requestedGas = toNumber(frame.pop());
  const target = toAddressBytes(frame.pop());
  const value = kind.hasValue ? toBigInt(frame.pop()) : 0n;
  const inputOffset = toNumber(frame.pop());
  const inputLength = toNumber(frame.pop());
  const outputOffset = toNumber(frame.pop());
  const outputLength = toNumber(frame.pop());
  if (message.isStatic && value > 0n && !kind.isOwnAccount) throw new EVMError(STATIC_STATE_CHANGE);
  frame.expandMemory(inputOffset, inputLength);
  frame.expandMemory(outputOffset, outputLength);
  const { rules } = environment;
  frame.chargeAccountAccess(target, value > 0n ? rules.callValueGas : 0);
  const account = await environment.host.state.account(target);
  const isNew = value > 0n && !kind.isOwnAccount && (account === undefined || isEmpty(account));
  if (isNew && !rules.hasStateGas) frame.charge(NEW_ACCOUNT_GAS);
  if (rules.hasDelegations) chargeDelegation(frame, account);
  const stateGas = isNew && rules.hasStateGas ? NEW_ACCOUNT_STATE_GAS : 0;
  if (stateGas > 0) frame.chargeStateGas(stateGas);
  const available = frame.gas - Math.floor(frame.gas / CALL_GAS_DIVISOR);
  const stipend = value > 0n ? CALL_STIPEND : 0;
  // The child also returns the unused part of the stipend.
  frame.gas += stipend;
  const gas = Math.min(requestedGas, available) + stipend;
  frame.returned = NO_BYTES;
  let hasSucceeded = false;
  if (await canSend(frame, value)) {
    const to = new Address(target);
    const { execResult } = await runChild(frame, {
      caller: kind.isDelegate ? message.caller : address,
      gasLimit: BigInt(gas),
      to: kind.isOwnAccount ? address : to,
      codeAddress: to,
      value: kind.isDelegate ? message.value : value,
      data: memory.slice(inputOffset, inputLength),
      isStatic: message.isStatic || kind.isStatic,
      delegatecall: kind.isDelegate,
    });
    const error = execResult.exceptionError?.error;
    hasSucceeded = error === undefined;
    if (hasSucceeded || error === REVERT) frame.returned = execResult.returnValue;
    const copiedLength = Math.min(outputLength, frame.returned.length);
    if (copiedLength > 0) memory.write(outputOffset, frame.returned, 0, copiedLength);
  }
  if (!hasSucceeded && stateGas > 0) frame.refundStateGas(stateGas);
  setBoolean(frame.push(), hasSucceeded);
}

/** If the account delegates its code, charges for access to the delegate. */
function chargeDelegation(frame: Frame, account: AccountRecord | undefined): void {
  const code = account?.code ?? NO_BYTES;
  if (DELEGATION_PREFIX.some((byte, index) => code[index] !== byte)) return;
  frame.chargeAccountAccess(code.slice(DELEGATION_PREFIX.length, DELEGATION_SIZE));
}
