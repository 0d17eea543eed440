import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import { CALL_GAS_DIVISOR, CREATE_GAS, INIT_CODE_WORD_GAS, KECCAK_WORD_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { setBytes, setZero, toBigInt, toBytes, toNumber, WORD_BYTES } from "../words/word.ts";
import { canSend, runChild } from "./child-message.ts";

const { INITCODE_SIZE_VIOLATION, REVERT } = EVMError.errorMessages;
/** EIP-3860 limit. */
const INIT_CODE_LIMIT = 49_152;
/** EIP-2681 limit. */
const MAX_NONCE = 2n ** 64n - 1n;
const NO_BYTES = new Uint8Array(0);

export const CREATION: Instructions = [
  {
    opcode: 0xf0,
    name: "CREATE",
    gas: CREATE_GAS,
    pops: 3,
    pushes: 1,
    hasDynamicGas: true,
    isWriting: true,
    run: (frame) => create(frame, false),
  },
  {
    opcode: 0xf5,
    name: "CREATE2",
    gas: CREATE_GAS,
    pops: 4,
    pushes: 1,
    hasDynamicGas: true,
    isWriting: true,
    run: (frame) => create(frame, true),
  },
];

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
  if (environment.rules.limitsInitCode && length > INIT_CODE_LIMIT) throw new EVMError(INITCODE_SIZE_VIOLATION);
  const gas = frame.gas - Math.floor(frame.gas / CALL_GAS_DIVISOR);
  frame.returned = NO_BYTES;
  let created: Uint8Array | undefined;
  if ((await canSend(frame, value)) && (await incrementNonce(frame))) {
    const { createdAddress, execResult } = await runChild(frame, {
      caller: frame.address,
      gasLimit: BigInt(gas),
      value,
      data: memory.slice(offset, length),
      ...(salt && { salt }),
    });
    const error = execResult.exceptionError?.error;
    if (error === undefined) created = createdAddress?.bytes;
    if (error === REVERT) frame.returned = execResult.returnValue;
  }
  const word = frame.push();
  if (created === undefined) setZero(word);
  else setBytes(word, created);
}

/** Increments the creator's nonce. Returns false if the nonce is at its maximum. */
async function incrementNonce({ address, environment }: Frame): Promise<boolean> {
  const { journal, stateManager } = environment.evm;
  const account = await stateManager.getAccount(address);
  if (account === undefined || account.nonce >= MAX_NONCE) return false;
  account.nonce += 1n;
  await journal.putAccount(address, account);
  return true;
}
