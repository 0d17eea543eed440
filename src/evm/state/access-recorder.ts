import type { EVM } from "@ethereumjs/evm";
import { keyOf } from "./key-hashes.ts";

type LibraryList = NonNullable<EVM["blockLevelAccessList"]>;

/** The part of the EVM library's list that the library calls. */
type CalledByLibrary = Pick<
  LibraryList,
  | "addAddress"
  | "addStorageRead"
  | "addStorageWrite"
  | "addBalanceChange"
  | "addNonceChange"
  | "addCodeChange"
  | "checkpoint"
  | "commit"
  | "revert"
  | "cleanupNetZeroBalanceChanges"
  | "cleanupSelfdestructed"
  | "blockAccessIndex"
>;

/**
 * Records which accounts and slots are accessed. A reverted message has still accessed them, so this needs no journal.
 * In place of the EVM library's list, which copies all changes in each message.
 */
export class AccessRecorder implements CalledByLibrary {
  /** Accessed slots by address, both as map keys. */
  #accessed = new Map<string, Set<string>>();
  /** Index of the current phase: 0, the position of a transaction plus 1, or the number of transactions plus 1. */
  blockAccessIndex = 0;

  /** Returns the recorder in the form that the EVM library expects. */
  get asLibraryList(): LibraryList {
    return this as unknown as LibraryList;
  }

  touch(address: Uint8Array): void {
    this.#slotsOf(keyOf(address));
  }

  touchSlot(address: Uint8Array, slot: Uint8Array): void {
    this.#slotsOf(keyOf(address)).add(keyOf(slot));
  }

  hasTouched(address: Uint8Array): boolean {
    return this.#accessed.has(keyOf(address));
  }

  /** Forgets an address that was not accessed before. */
  forget(address: Uint8Array): void {
    this.#accessed.delete(keyOf(address));
  }

  /** Returns what has been accessed since the last call. */
  take(): Map<string, Set<string>> {
    const accessed = this.#accessed;
    this.#accessed = new Map();
    return accessed;
  }

  addAddress(address: string): void {
    this.#slotsOf(keyOfHex(address));
  }

  addStorageRead(address: string, slot: Uint8Array): void {
    this.#slotsOf(keyOfHex(address)).add(keyOf(slot));
  }

  addStorageWrite(address: string, slot: Uint8Array): void {
    this.addStorageRead(address, slot);
  }

  addBalanceChange(address: string): void {
    this.addAddress(address);
  }

  addNonceChange(address: string): void {
    this.addAddress(address);
  }

  addCodeChange(address: string): void {
    this.addAddress(address);
  }

  checkpoint(): void {}

  commit(): void {}

  revert(): void {}

  cleanupNetZeroBalanceChanges(): void {}

  cleanupSelfdestructed(): void {}

  #slotsOf(key: string): Set<string> {
    let slots = this.#accessed.get(key);
    if (slots === undefined) {
      slots = new Set();
      this.#accessed.set(key, slots);
    }
    return slots;
  }
}

const keyOfHex = (address: string): string => Buffer.from(address.slice(2), "hex").toString("latin1");
