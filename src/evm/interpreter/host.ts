import type { EVM, EVMRunCallOpts } from "@ethereumjs/evm";
import type { Address } from "@ethereumjs/util";
import type { AccessRecorder } from "../state/access-recorder.ts";
import type { Keccak } from "../state/trie.ts";
import type { AccountRecord } from "../state/world.ts";

/** A value, or a promise if the value has to be fetched. */
export type Pending<T> = T | Promise<T>;

/** State access needed by the interpreter. Implemented by `WorldState`. */
export interface StateAccess {
  account(address: Uint8Array): Pending<AccountRecord | undefined>;
  /** Returns the value without leading zeros. */
  storageAt(address: Address, slot: Uint8Array): Pending<Uint8Array>;
  /** Returns the value at the start of the transaction, without leading zeros. */
  originalStorageAt(address: Address, slot: Uint8Array): Pending<Uint8Array>;
  setStorage(address: Address, slot: Uint8Array, value: Uint8Array): void;
}

/** Everything the interpreter needs apart from the EVM library. */
export interface Host {
  readonly state: StateAccess;
  readonly keccak: Keccak;
  /** Returns the hash of one of the last 256 blocks. */
  blockHash(number: bigint): Pending<Uint8Array>;
  /** Called at each JUMPDEST. The interpreter waits for the promise. */
  onJump(): Promise<void> | undefined;
  /** Since Amsterdam: records accesses for the block access list. */
  recorder(): AccessRecorder | undefined;
}

/** The parts of the EVM library that run messages and track warm addresses, slots and transient storage. */
export type MessageRunner = Pick<
  EVM,
  "runCall" | "journal" | "precompiles" | "transientStorage" | "stateManager" | "common"
> & {
  /** State gas of the transaction that is left, and that its messages have used (EIP-8037). */
  stateGasReservoir: bigint;
  executionStateGasUsed: bigint;
};

/** Context shared by all messages of a transaction. */
export interface TransactionContext {
  readonly block: NonNullable<EVMRunCallOpts["block"]>;
  readonly origin: Address;
  readonly gasPrice: bigint;
}

/** Continues with a value, immediately if it is already available. */
export function whenReady<T>(value: Pending<T>, use: (value: T) => void): Promise<void> | undefined {
  if (value instanceof Promise) return value.then(use);
  use(value);
  return undefined;
}
