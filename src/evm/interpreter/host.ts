import type { EVM, EVMRunCallOpts } from "@ethereumjs/evm";
import type { Address } from "@ethereumjs/util";
import type { Keccak } from "../state/trie.ts";
import type { AccountRecord } from "../state/world.ts";

/** A value, or its promise if it has to be fetched. */
export type Pending<T> = T | Promise<T>;

/** State as the interpreter reads and writes it. `WorldState` implements it. */
export interface StateAccess {
  account(address: Uint8Array): Pending<AccountRecord | undefined>;
  /** Returns the value without leading zeros. */
  storageAt(address: Address, slot: Uint8Array): Pending<Uint8Array>;
  /** Returns the value at the start of the transaction, without leading zeros. */
  originalStorageAt(address: Address, slot: Uint8Array): Pending<Uint8Array>;
  setStorage(address: Address, slot: Uint8Array, value: Uint8Array): void;
}

/** What the interpreter needs of its surroundings, apart from the EVM library. */
export interface Host {
  readonly state: StateAccess;
  readonly keccak: Keccak;
  /** Returns the hash of one of the last 256 blocks. */
  blockHash(number: bigint): Pending<Uint8Array>;
  /** Called at each JUMPDEST. The interpreter waits for the promise. */
  onJump(): Promise<void> | undefined;
}

/** The parts of the EVM library that run messages and track warm addresses, slots and transient storage. */
export type MessageRunner = Pick<EVM, "runCall" | "journal" | "transientStorage" | "stateManager" | "common">;

/** What all messages of a transaction have in common. */
export interface TransactionContext {
  readonly block: NonNullable<EVMRunCallOpts["block"]>;
  readonly origin: Address;
  readonly gasPrice: bigint;
}

/** Continues with a value, at once if it is there. */
export function whenReady<T>(value: Pending<T>, use: (value: T) => void): Promise<void> | undefined {
  if (value instanceof Promise) return value.then(use);
  use(value);
  return undefined;
}
