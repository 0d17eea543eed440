import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import { CALL_GAS_DIVISOR, CREATE_ACCESS_GAS, CREATE_GAS, INIT_CODE_WORD_GAS, KECCAK_WORD_GAS } from "../gas.ts";
import type { Instruction, Instructions } from "../instruction.ts";
import { setBytes, setZero, toBigInt, toBytes, toNumber, WORD_BYTES } from "../words/word.ts";
import { canSend, runChild } from "./child-message.ts";
import { type CreatedAccount, chargeCreatedAccount } from "./created-account.ts";

const { INITCODE_SIZE_VIOLATION, REVERT } = EVMError.errorMessages;
/** EIP-2681 limit. */
const MAX_NONCE = 2n ** 64n - 1n;
const NO_BYTES = new Uint8Array(0);

const CREATE: Instruction = {
  opcode: 0xf0,
  name: "CREATE",
  gas: CREATE_GAS,
  pops: 3,
  pushes: 1,
  hasDynamicGas: true,
  isWriting: true,
  run: (frame) => create(frame, false),
};
const CREATE2: Instruction = {
  ...CREATE,
  opcode: 0xf5,
  name: "CREATE2",
  pops: 4,
  run: (frame) => create(frame, true),
};

export const CREATION: Instructions = [CREATE, CREATE2];

/** EIP-8037, EIP-8038: the new account has its own state gas. */
export const ACCOUNT_CREATION: Instructions = CREATION.map((instruction) => ({
  ...instruction,
  gas: CREATE_ACCESS_GAS,
}));

/** Runs the creation as a message in the EVM library. */
async function create(frame: Frame, hasSalt: boolean): Promise<void> {
  const { memory, environment } = frame;
  const value = toBigInt(frame.pop());
  const offset = toNumber(frame.pop());
  const length = toNumber(frame.pop());
  const salt = hasSalt ? toBytes(frame.pop()) : undefined;
  const sizeInWords = Math.ceil(length / WORD_BYTES);
  if (environment.rules.limitsInitCode) frame.charge(INIT_CODE_WORD_GAS * sizeInWords);
  if (hasSalt) frame.charge(KECCAK_WORD_GAS * sizeInWords);
  frame.expandMemory(offset, length);
  if (environment.rules.limitsInitCode && length > environment.rules.initCodeLimit)
    throw new EVMError(INITCODE_SIZE_VIOLATION);
  frame.returned = NO_BYTES;
  const created = await runCreation(frame, value, memory.slice(offset, length), salt);
  const word = frame.push();
  if (created === undefined) setZero(word);
  else setBytes(word, created);
}

/** Returns the address of the new account, or undefined if the creation fails. */
async function runCreation(
  frame: Frame,
  value: bigint,
  data: Uint8Array,
  salt: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  const { address, environment } = frame;
  const { journal, stateManager } = environment.evm;
  if (!(await canSend(frame, value))) return undefined;
  const creator = await stateManager.getAccount(address);
  if (creator === undefined || creator.nonce >= MAX_NONCE) return undefined;
  const account: CreatedAccount | undefined = environment.rules.hasStateGas
    ? await chargeCreatedAccount(frame, creator.nonce, data, salt)
    : undefined;
  const gas = frame.gas - Math.floor(frame.gas / CALL_GAS_DIVISOR);
  creator.nonce += 1n;
  await journal.putAccount(address, creator);
  if (account?.isTaken) {
    frame.charge(gas);
    frame.refundStateGas(account.stateGas);
    return undefined;
  }
  const { createdAddress, execResult } = await runChild(frame, {
    caller: address,
    gasLimit: BigInt(gas),
    value,
    data,
    ...(salt && { salt }),
  });
  const error = execResult.exceptionError?.error;
  if (error === undefined) return createdAddress?.bytes;
  if (account !== undefined) frame.refundStateGas(account.stateGas);
  if (error === REVERT) frame.returned = execResult.returnValue;
  return undefined;
}
