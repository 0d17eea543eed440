import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import {
  COLD_SLOT_GAS,
  SSTORE_CLEAR_REFUND,
  SSTORE_RESET_GAS,
  SSTORE_SENTRY_GAS,
  SSTORE_SET_GAS,
  TRANSIENT_STORAGE_GAS,
  WARM_ACCESS_GAS,
} from "../gas.ts";
import { whenReady } from "../host.ts";
import type { Instructions } from "../instruction.ts";
import { setBytes, toBytes } from "../words/word.ts";

const { OUT_OF_GAS } = EVMError.errorMessages;

export const STORAGE: Instructions = [
  {
    opcode: 0x54,
    name: "SLOAD",
    gas: 0,
    pops: 1,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const { address, environment } = frame;
      const word = frame.peek();
      const slot = toBytes(word);
      frame.charge(warmSlot(frame, slot) ? WARM_ACCESS_GAS : COLD_SLOT_GAS);
      environment.recorder?.touchSlot(address.bytes, slot);
      return whenReady(environment.host.state.storageAt(address, slot), (value) => setBytes(word, value));
    },
  },
  {
    opcode: 0x55,
    name: "SSTORE",
    gas: 0,
    pops: 2,
    pushes: 0,
    hasDynamicGas: true,
    isWriting: true,
    run: (frame) => {
      const { address, environment } = frame;
      const { state } = environment.host;
      if (frame.gas <= SSTORE_SENTRY_GAS) throw new EVMError(OUT_OF_GAS);
      const slot = toBytes(frame.pop());
      const value = toBytes(frame.pop());
      const current = state.storageAt(address, slot);
      const original = state.originalStorageAt(address, slot);
      if (current instanceof Promise || original instanceof Promise) {
        return Promise.all([current, original]).then((read) => store(frame, slot, value, ...read));
      }
      store(frame, slot, value, current, original);
    },
  },
];

/** EIP-1153. */
export const TRANSIENT_STORAGE: Instructions = [
  {
    opcode: 0x5c,
    name: "TLOAD",
    gas: TRANSIENT_STORAGE_GAS,
    pops: 1,
    pushes: 1,
    run: (frame) => {
      const { address, environment } = frame;
      const word = frame.peek();
      setBytes(word, environment.evm.transientStorage.get(address, toBytes(word)));
    },
  },
  {
    opcode: 0x5d,
    name: "TSTORE",
    gas: TRANSIENT_STORAGE_GAS,
    pops: 2,
    pushes: 0,
    isWriting: true,
    run: (frame) => {
      const { address, environment } = frame;
      const slot = toBytes(frame.pop());
      environment.evm.transientStorage.put(address, slot, toBytes(frame.pop()));
    },
  },
];

/** Makes a slot warm. Returns true if the slot was already warm. */
export function warmSlot({ environment, address }: Frame, slot: Uint8Array): boolean {
  const { journal } = environment.evm;
  if (journal.isWarmedStorage(address.bytes, slot)) return true;
  journal.addWarmedStorage(address.bytes, slot);
  return false;
}

/** Sets a slot, with gas and refunds as in EIP-2200, using the constants of EIP-2929 and EIP-3529. */
function store(frame: Frame, slot: Uint8Array, value: Uint8Array, current: Uint8Array, original: Uint8Array): void {
  const isChanged = !areSame(value, current);
  const isFirstChange = areSame(current, original);
  const writeGas = original.length === 0 ? SSTORE_SET_GAS : SSTORE_RESET_GAS;
  const accessGas = warmSlot(frame, slot) ? 0 : COLD_SLOT_GAS;
  frame.charge(accessGas + (isChanged && isFirstChange ? writeGas : WARM_ACCESS_GAS));
  if (!isChanged) return;
  if (original.length > 0) {
    if (isZero(value)) frame.gasRefund += SSTORE_CLEAR_REFUND;
    else if (current.length === 0) frame.gasRefund -= SSTORE_CLEAR_REFUND;
  }
  if (!isFirstChange && areSame(value, original)) frame.gasRefund += writeGas - WARM_ACCESS_GAS;
  frame.environment.host.state.setStorage(frame.address, slot, value);
}

export function isZero(value: Uint8Array): boolean {
  return value.every((byte) => byte === 0);
}

/** Compares a value, either 32 bytes long or without leading zeros, with a stored value without leading zeros. */
export function areSame(value: Uint8Array, stored: Uint8Array): boolean {
  const zeros = value.length - stored.length;
  if (zeros < 0) return false;
  for (let index = 0; index < zeros; index++) if (value[index] !== 0) return false;
  for (let index = 0; index < stored.length; index++) if (value[zeros + index] !== stored[index]) return false;
  return true;
}
