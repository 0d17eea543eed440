import { EVMError } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";
import {
  COLD_SLOT_GAS,
  NEW_SLOT_STATE_GAS,
  SSTORE_SENTRY_GAS,
  STORAGE_CLEAR_REFUND,
  STORAGE_WRITE_GAS,
  WARM_ACCESS_GAS,
} from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { toBytes } from "../words/word.ts";
import { areSame, isZero, warmSlot } from "./storage.ts";

const { OUT_OF_GAS } = EVMError.errorMessages;

/** Storage writes since Amsterdam, with separate gas for access, change and new state (EIP-8037, EIP-8038). */
export const METERED_STORAGE: Instructions = [
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
      const slot = toBytes(frame.pop());
      const value = toBytes(frame.pop());
      const accessGas = warmSlot(frame, slot) ? WARM_ACCESS_GAS : COLD_SLOT_GAS;
      // Without the gas, the slot is not accessed (EIP-7928).
      if (frame.gas <= SSTORE_SENTRY_GAS || frame.gas < accessGas) throw new EVMError(OUT_OF_GAS);
      environment.recorder?.touchSlot(address.bytes, slot);
      const current = state.storageAt(address, slot);
      const original = state.originalStorageAt(address, slot);
      if (current instanceof Promise || original instanceof Promise) {
        return Promise.all([current, original]).then((read) => store(frame, accessGas, slot, value, ...read));
      }
      store(frame, accessGas, slot, value, current, original);
    },
  },
];

function store(
  frame: Frame,
  accessGas: number,
  slot: Uint8Array,
  value: Uint8Array,
  current: Uint8Array,
  original: Uint8Array,
): void {
  const isChanged = !areSame(value, current);
  const isFirstChange = isChanged && areSame(current, original);
  frame.charge(accessGas + (isFirstChange ? STORAGE_WRITE_GAS : 0));
  if (!isChanged) return;
  if (original.length > 0) {
    if (current.length === 0) frame.gasRefund -= STORAGE_CLEAR_REFUND;
    else if (isZero(value)) frame.gasRefund += STORAGE_CLEAR_REFUND;
  }
  if (areSame(value, original)) frame.gasRefund += STORAGE_WRITE_GAS;
  frame.environment.host.state.setStorage(frame.address, slot, value);
  if (original.length > 0) return;
  if (current.length === 0) frame.chargeStateGas(NEW_SLOT_STATE_GAS);
  else if (isZero(value)) frame.refundStateGas(NEW_SLOT_STATE_GAS);
}
