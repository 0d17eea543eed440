import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { type Failure, invalidParams, notFound, rejected, unsupported } from "../errors/failure.ts";
import type { Change } from "../evm/overrides/override.ts";
import type { ValidatorId } from "./params/identifiers.ts";

/** Control of a dev chain, implemented by the dev chain and called by the `dev_*` methods. */
export interface DevControl {
  readonly time: TimeControl;
  readonly operations: OperationControl;
  readonly keys: KnownKeys;
  readonly snapshots: SnapshotControl;
  readonly dumps: DumpControl;
  readonly validators: ValidatorControl;
  readonly branches: BranchControl;
  readonly lateBlocks: LateBlockControl;
  /** Undefined for a chain without the EVM. */
  readonly evm: EvmControl | undefined;
  /** Returns the chain to genesis, with the clock stopped. On abort, the chain is unchanged. */
  reset(signal?: AbortSignal): Promise<void>;
}

/**
 * Control of the EVM. Changes of the state apply at once and are recorded with the next block. They are rejected if
 * other nodes follow the chain.
 */
export interface EvmControl {
  override(change: Change): Promise<void>;
  /** Allows `eth_sendTransaction` from an account without its key. */
  setImpersonated(address: Uint8Array, isImpersonated: boolean): Promise<void>;
  /** Impersonates all accounts. */
  setImpersonatesAll(impersonatesAll: boolean): Promise<void>;
  /** Sets the fee recipient of all later blocks. */
  setFeeRecipient(address: Uint8Array): Promise<void>;
  /** Returns false if the pool does not have the transaction. */
  dropTransaction(hash: Uint8Array): Promise<boolean>;
  /** Drops all transactions, or those of one sender. */
  dropTransactions(sender?: Uint8Array): Promise<void>;
  /**
   * True if every transaction advances the chain by a slot, false while the clock runs. Setting it to true is rejected
   * while the clock runs.
   */
  automine: boolean;
}

/** Control of time. Operations are sequential; the clock is stopped during each and resumes if it was running. */
export interface TimeControl {
  /** Runs slots with all validator duties, except those that stay empty. Returns the number of slots that passed. */
  advance(passage: SlotRange & { staysEmpty?(slot: Slot): boolean }): Promise<Slot>;
  /** Runs slots without any duties. Returns their number. */
  skip(passage: SlotRange): Promise<Slot>;
  /** Stops the clock after the current slot. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Seconds of chain time per second; 0 pauses the clock. */
  setSpeed(speed: number): Promise<void>;
}

/** Advice for a jump in time that exceeds a limit of slots. */
export const LONGER_SLOTS =
  "To move time further, start the chain with longer slots: --slot-seconds, or slotSeconds in the library.";

/** In-memory snapshots of the chain. The clock is stopped during each operation. */
export interface SnapshotControl {
  /** Takes a snapshot and returns its id. */
  take(): Promise<number>;
  /** Reverts to a snapshot and deletes it with all later ones. */
  revert(id: number): Promise<void>;
  /** Returns the snapshots that can be reverted to, oldest first. */
  list(): SnapshotInfo[];
}

export interface SnapshotInfo {
  readonly id: number;
  readonly slot: Slot;
  readonly headRoot: RootHex;
}

/**
 * Dumps of the whole chain. The clock is stopped during each operation. On abort, it rejects with the signal's reason
 * and leaves the chain unchanged.
 */
export interface DumpControl {
  /** Returns the dump. */
  dump(signal?: AbortSignal): Promise<Uint8Array>;
  /** Writes the dump to a file in the dump directory and returns its path. */
  dumpTo(name: string, signal?: AbortSignal): Promise<string>;
  /** Replaces the chain with a dump. */
  load(dump: Uint8Array, signal?: AbortSignal): Promise<void>;
  loadFrom(name: string, signal?: AbortSignal): Promise<void>;
}

/**
 * Public keys of the validators that the chain can sign for: genesis validators and validators deposited with its keys.
 */
interface KnownKeys {
  /** Ascending. */
  readonly indices: readonly ValidatorIndex[];
  /** Undefined for other validators. */
  secretKey(index: ValidatorIndex): { toHex(): string } | undefined;
}

interface SlotRange {
  /** Maximum number of slots. */
  slots: Slot;
  /** Stop condition, checked before the first slot and after each. */
  until?(): boolean;
  /** Describes progress towards the condition for the log. */
  describe?(): string;
  /** Stops after the current slot. */
  signal?: AbortSignal | undefined;
}

/**
 * Validator operations, signed with the chain's keys and subject to the protocol's rules. Operations that the rules
 * forbid are rejected. Each resolves once the operation is durably queued for a block.
 */
export interface OperationControl {
  slash(validators: readonly ValidatorId[], kind: "proposer" | "attester"): Promise<SubmittedOperation[]>;
  exit(validator: ValidatorId): Promise<SubmittedOperation>;
  /** `amount` in Gwei; 0 for a full exit (EIP-7002). */
  withdraw(validator: ValidatorId, amount: bigint): Promise<SubmittedOperation>;
  /** `address` is optional for execution credentials, which keep their address. */
  changeCredentials(validator: ValidatorId, to: CredentialsType, address?: Uint8Array): Promise<SubmittedOperation>;
  consolidate(source: ValidatorId, target: ValidatorId): Promise<SubmittedOperation>;
  deposit(options: DepositOptions): Promise<SubmittedDeposit[]>;
}

/** Prefix byte of execution and compounding withdrawal credentials. */
export const CREDENTIALS_TYPES = ["0x01", "0x02"] as const;
export type CredentialsType = (typeof CREDENTIALS_TYPES)[number];

export interface DepositOptions {
  /** Validator to top up, or number of new validators. */
  receiver: { validator: ValidatorId } | { newValidators: number };
  /** Amount per deposit, in Gwei. */
  amount: bigint;
  /** Default: the validator's current credentials; for a new validator, the default of the chain. */
  withdrawalCredentials?: Uint8Array | undefined;
  /** True for a deposit with an invalid signature. */
  hasInvalidSignature: boolean;
  /** False to only sign the deposits. */
  isSubmitted: boolean;
}

/**
 * Where an operation waits: "pooled" in the operation pool, "queued" for the next payload, "logged" for the eth1 vote,
 * "signed" if it was not submitted.
 */
export type OperationStatus = "pooled" | "queued" | "logged" | "signed";

export interface SubmittedOperation {
  /** Name in the specification, such as `voluntary_exit`. */
  type: string;
  status: OperationStatus;
  /** JSON of the Beacon API. */
  data: unknown;
}

export interface SubmittedDeposit extends SubmittedOperation {
  /** Hash tree root of the deposit data, which the deposit contract requires. */
  depositDataRoot: RootHex;
}

/** Controls which validators perform their duties. */
export interface ValidatorControl {
  presence(): Presence;
  /** Sets exactly these validators online from the next slot on. */
  setOnline(selection: ValidatorSelection): Promise<void>;
  /** Sets exactly these validators offline from the next slot on. */
  setOffline(selection: ValidatorSelection): Promise<void>;
}

interface Presence {
  online: readonly ValidatorIndex[];
  offline: readonly ValidatorIndex[];
}

/** A share from 0 to 1, spread evenly over the indices, or index ranges. */
export type ValidatorSelection = { share: number } | { ranges: readonly IndexRange[] };

/** Inclusive range. */
export interface IndexRange {
  first: ValidatorIndex;
  last: ValidatorIndex;
}

/** Control of branches. The clock is stopped except for the slots that an operation runs. */
export interface BranchControl {
  /** Reorganizes the chain: validators build on the ancestor and vote for the new branch until it is the head. */
  reorg(depth: number, signal?: AbortSignal): Promise<Reorg>;
  /**
   * Grows two branches, always extending the shorter one. Continues the branches of the previous call, or starts a new
   * branch.
   */
  fork(passage: SlotRange & ForkOptions): Promise<Fork>;
}

export interface ChainBlock {
  slot: Slot;
  root: RootHex;
}

export interface Reorg {
  oldHead: ChainBlock;
  newHead: ChainBlock;
  commonAncestor: ChainBlock;
  /** Number of slots it took. */
  slots: Slot;
}

export interface ForkOptions {
  /** Blocks before the head at which a new branch starts; undefined to continue the previous branches. */
  depth?: number | undefined;
  /** Share of votes for the new branch, from 0 to 1. */
  newShare: number;
}

export const BRANCHES = ["old", "new"] as const;
export type BranchName = (typeof BRANCHES)[number];

export interface Fork {
  branches: Readonly<Record<BranchName, Branch>>;
  commonAncestor: ChainBlock;
  /** Branch of the head. */
  head: BranchName;
}

export interface Branch {
  head: ChainBlock;
  /** Fork choice weight of the branch, in Gwei. */
  weight: number;
}

export interface LateBlockControl {
  /** Delays the blocks of the next slots. Returns the affected range. */
  delay(options: DelayOptions): Promise<Delay>;
}

export interface DelayOptions {
  slots: Slot;
  /** Delay of a block in slots. */
  slotsLate: Slot;
  /** Seconds into the slot of arrival. Default: halfway between the attestation deadline and the end of the slot. */
  seconds?: number | undefined;
}

export interface Delay {
  fromSlot: Slot;
  /** First slot whose block is on time again. */
  untilSlot: Slot;
  slotsLate: Slot;
  seconds: number;
}

/** Thrown for an operation that the dev chain cannot perform. */
export class ControlError extends Error {
  readonly failure: Failure;

  private constructor(failure: Failure) {
    super(failure.message);
    this.name = "ControlError";
    this.failure = failure;
  }

  /** Invalid arguments. */
  static invalid = (message: string) => new ControlError(invalidParams(message));
  /** Unknown object. */
  static notFound = (message: string) => new ControlError(notFound(message));
  /** Forbidden by the rules in the current state. */
  static conflict = (message: string) => new ControlError(rejected(message));
  /** Not possible with this chain's configuration. */
  static unsupported = (message: string) => new ControlError(unsupported(message));
}

export function controlOf({ control }: { control?: DevControl | undefined }): DevControl {
  if (control) return control;
  throw unsupported(
    "This node follows a public network, which cannot be controlled. Start a dev chain with `fanal dev`.",
  );
}
