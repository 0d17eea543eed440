import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { type Failure, invalidParams, notFound, rejected, unsupported } from "../errors/failure.ts";
import type { Change } from "../evm/overrides/override.ts";
import type { BuilderControl } from "./builder-control.ts";
import type { ValidatorId } from "./params/identifiers.ts";
import type { PayloadControl } from "./payload-control.ts";
import type { ValidatorSelection } from "./validator-selection.ts";

/** Control of a dev chain. Implemented by the dev chain and called by the `dev_*` methods. */
export interface DevControl {
  readonly time: TimeControl;
  readonly operations: OperationControl;
  readonly keys: KnownKeys;
  readonly snapshots: SnapshotControl;
  readonly dumps: DumpControl;
  readonly validators: ValidatorControl;
  readonly branches: BranchControl;
  readonly lateBlocks: LateBlockControl;
  readonly payloads: PayloadControl;
  readonly builders: BuilderControl;
  /** Undefined if the chain has no EVM. */
  readonly evm: EvmControl | undefined;
  /** Returns the chain to genesis with the clock stopped. If aborted, leaves the chain unchanged. */
  reset(signal?: AbortSignal): Promise<void>;
}

/**
 * Control of the EVM. Changes to the state take effect at once and are recorded with the next block. They are rejected
 * if other nodes follow the chain.
 */
export interface EvmControl {
  override(change: Change): Promise<void>;
  /** Allows or stops allowing `eth_sendTransaction` from an account without its key. */
  setImpersonated(address: Uint8Array, isImpersonated: boolean): Promise<void>;
  /** Sets whether all accounts are impersonated. */
  setImpersonatesAll(impersonatesAll: boolean): Promise<void>;
  /** Sets the fee recipient for all later blocks. */
  setFeeRecipient(address: Uint8Array): Promise<void>;
  /** Returns false if the transaction is not in the pool. */
  dropTransaction(hash: Uint8Array): Promise<boolean>;
  /** Drops all transactions, or only those from one sender. */
  dropTransactions(sender?: Uint8Array): Promise<void>;
  /**
   * True if every transaction advances the chain by a slot, which is not the case while the clock runs. Setting this to
   * true is rejected while the clock runs.
   */
  automine: boolean;
}

/** Control of time. Operations run one at a time. Each stops the clock, which resumes afterwards if it was running. */
export interface TimeControl {
  /**
   * Runs slots with all validator duties, except for slots that are to stay empty. Returns the number of slots that
   * have passed.
   */
  advance(passage: SlotRange & { staysEmpty?(slot: Slot): boolean }): Promise<Slot>;
  /** Runs slots without any duties. Returns their number. */
  skip(passage: SlotRange): Promise<Slot>;
  /** Stops the clock after the current slot. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Sets the speed in seconds of chain time per second. 0 pauses the clock. */
  setSpeed(speed: number): Promise<void>;
}

/** Advice for a jump in time that exceeds the maximum number of slots. */
export const LONGER_SLOTS =
  "To move time further, start the chain with longer slots: --slot-seconds, or slotSeconds in the library.";

/** In-memory snapshots of the chain. The clock is stopped during each operation. */
export interface SnapshotControl {
  /** Takes a snapshot and returns its id. */
  take(): Promise<number>;
  /** Reverts to a snapshot. Deletes this snapshot and all later ones. */
  revert(id: number): Promise<void>;
  /** Returns the snapshots to which the chain can be reverted, oldest first. */
  list(): SnapshotInfo[];
}

export interface SnapshotInfo {
  readonly id: number;
  readonly slot: Slot;
  readonly headRoot: RootHex;
}

/**
 * Dumps of the whole chain. The clock is stopped during each operation. If aborted, an operation rejects with the
 * signal's reason and leaves the chain unchanged.
 */
export interface DumpControl {
  /** Returns a dump of the chain. */
  dump(signal?: AbortSignal): Promise<Uint8Array>;
  /** Writes a dump to a file in the dump directory and returns the file's path. */
  dumpTo(name: string, signal?: AbortSignal): Promise<string>;
  /** Replaces the chain with a dump. */
  load(dump: Uint8Array, signal?: AbortSignal): Promise<void>;
  loadFrom(name: string, signal?: AbortSignal): Promise<void>;
}

/**
 * Public keys of the validators for which the chain can sign: genesis validators, and validators deposited with its
 * keys.
 */
interface KnownKeys {
  /** In ascending order. */
  readonly indices: readonly ValidatorIndex[];
  /** Undefined for any other validator. */
  secretKey(index: ValidatorIndex): { toHex(): string } | undefined;
}

interface SlotRange {
  /** Maximum number of slots. */
  slots: Slot;
  /** Stop condition, checked before the first slot and after every slot. */
  until?(): boolean;
  /** Describes progress towards the stop condition for the log. */
  describe?(): string;
  /** Stops the run after the current slot. */
  signal?: AbortSignal | undefined;
}

/**
 * Validator operations, signed with the chain's keys and subject to the protocol's rules. Operations that violate these
 * rules are rejected. Each call resolves once the operation is durably queued for a block.
 */
export interface OperationControl {
  slash(validators: readonly ValidatorId[], kind: "proposer" | "attester"): Promise<SubmittedOperation[]>;
  exit(validator: ValidatorId): Promise<SubmittedOperation>;
  /** `amount` is in Gwei. 0 requests a full exit (EIP-7002). */
  withdraw(validator: ValidatorId, amount: bigint): Promise<SubmittedOperation>;
  /** `address` is optional for execution credentials, which keep their address. */
  changeCredentials(validator: ValidatorId, to: CredentialsType, address?: Uint8Array): Promise<SubmittedOperation>;
  consolidate(source: ValidatorId, target: ValidatorId): Promise<SubmittedOperation>;
  deposit(options: DepositOptions): Promise<SubmittedDeposit[]>;
}

/** Prefix bytes of execution and compounding withdrawal credentials. */
export const CREDENTIALS_TYPES = ["0x01", "0x02"] as const;
export type CredentialsType = (typeof CREDENTIALS_TYPES)[number];

export interface DepositOptions {
  /** The validator to top up, or the number of new validators. */
  receiver: { validator: ValidatorId } | { newValidators: number };
  /** Amount per deposit, in Gwei. */
  amount: bigint;
  /** Defaults to the validator's current credentials, or the chain's default for new validators. */
  withdrawalCredentials?: Uint8Array | undefined;
  /** True to make a deposit with an invalid signature. */
  hasInvalidSignature: boolean;
  /** False to sign the deposits without submitting them. */
  isSubmitted: boolean;
}

/**
 * Where an operation is waiting: "pooled" in the operation pool, "queued" for the next payload, or "logged" for the
 * eth1 vote. "signed" if it was not submitted.
 */
export type OperationStatus = "pooled" | "queued" | "logged" | "signed";

export interface SubmittedOperation {
  /** Name from the specification, such as `voluntary_exit`. */
  type: string;
  status: OperationStatus;
  /** JSON as in the Beacon API. */
  data: unknown;
}

export interface SubmittedDeposit extends SubmittedOperation {
  /** Hash tree root of the deposit data, which the deposit contract requires. */
  depositDataRoot: RootHex;
}

/** Controls which validators perform their duties. */
export interface ValidatorControl {
  presence(): Presence;
  /** From the next slot on, exactly these validators are online. */
  setOnline(selection: ValidatorSelection): Promise<void>;
  /** From the next slot on, exactly these validators are offline. */
  setOffline(selection: ValidatorSelection): Promise<void>;
}

interface Presence {
  online: readonly ValidatorIndex[];
  offline: readonly ValidatorIndex[];
}

/** Control of branches. The clock is stopped, except for the slots that an operation runs. */
export interface BranchControl {
  /** Reorganizes the chain: validators build on an ancestor and vote for the new branch until it becomes the head. */
  reorg(depth: number, signal?: AbortSignal): Promise<Reorg>;
  /**
   * Grows two branches, always extending the shorter one. Continues the branches from the previous call, or starts a
   * new branch.
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
  /** Number of slots that the reorg took. */
  slots: Slot;
}

export interface ForkOptions {
  /** Number of blocks before the head at which to start a new branch. Undefined to continue the previous branches. */
  depth?: number | undefined;
  /** Share of the votes that the new branch gets, from 0 to 1. */
  newShare: number;
}

export const BRANCHES = ["old", "new"] as const;
export type BranchName = (typeof BRANCHES)[number];

export interface Fork {
  branches: Readonly<Record<BranchName, Branch>>;
  commonAncestor: ChainBlock;
  /** The branch to which the head belongs. */
  head: BranchName;
}

export interface Branch {
  head: ChainBlock;
  /** The branch's fork choice weight, in Gwei. */
  weight: number;
}

export interface LateBlockControl {
  /** Delays the blocks in the next slots. Returns the affected range. */
  delay(options: DelayOptions): Promise<Delay>;
}

export interface DelayOptions {
  slots: Slot;
  /** Number of slots by which a block is delayed. */
  slotsLate: Slot;
  /**
   * Number of seconds into the slot at which the block arrives. Defaults to halfway between the attestation deadline
   * and the end of the slot.
   */
  seconds?: number | undefined;
}

export interface Delay {
  fromSlot: Slot;
  /** First slot whose block will be on time again. */
  untilSlot: Slot;
  slotsLate: Slot;
  seconds: number;
}

/** Thrown for an operation that the dev chain cannot perform. */
export class ControlError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = "ControlError";
    this.failure = failure;
  }

  /** The arguments are invalid. */
  static invalid = (message: string) => new ControlError(invalidParams(message));
  /** An object is unknown. */
  static notFound = (message: string) => new ControlError(notFound(message));
  /** The rules forbid the operation in the current state. */
  static conflict = (message: string) => new ControlError(rejected(message));
  /** The chain's configuration does not allow the operation. */
  static unsupported = (message: string) => new ControlError(unsupported(message));
}

export function controlOf({ control }: { control?: DevControl | undefined }): DevControl {
  if (control) return control;
  throw unsupported(
    "This node follows a public network, which cannot be controlled. Start a dev chain with `fanal dev`.",
  );
}
