import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { type Failure, invalidParams, notFound, rejected, unsupported } from "../errors/failure.ts";
import type { ValidatorId } from "./params/identifiers.ts";

/** What can be done to a dev chain beside asking it. The dev chain itself does it; the methods `dev_*` say how it is called. */
export interface DevControl {
  readonly time: TimeControl;
  readonly operations: OperationControl;
  readonly keys: KnownKeys;
  readonly snapshots: SnapshotControl;
  readonly dumps: DumpControl;
  readonly validators: ValidatorControl;
  readonly branches: BranchControl;
  readonly lateBlocks: LateBlockControl;
}

/** One thing after the other; time stands still while each of them is done, and flows on afterwards if it did before. */
export interface TimeControl {
  /** Goes through slots with all that validators do in them, but for those that are to stay empty. */
  advance(passage: Passage & { staysEmpty?(slot: Slot): boolean }): Promise<void>;
  /** Goes through slots in which nobody does anything. */
  skip(passage: Passage): Promise<void>;
  /** Ends with the slot that is under way. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** In seconds of chain time in one of real time; 0 pauses. */
  setSpeed(speed: number): Promise<void>;
}

/** ChainSnapshots of the chain, to which it can go back while the process lives. Each is done while time stands still, and nothing else is. */
export interface SnapshotControl {
  /** Tells the id by which the chain goes back to how it is now. */
  take(): Promise<number>;
  /** Goes back; the snapshot and those that were taken later are gone then. */
  revert(id: number): Promise<void>;
}

/**
 * The whole chain as one file. Each is done while time stands still, and nothing else is. When the signal is aborted in time, it
 * rejects with the reason of that, and leaves everything as it was.
 */
export interface DumpControl {
  /** The file itself. */
  dump(signal?: AbortSignal): Promise<Uint8Array>;
  /** Writes the file under a name into a directory of its own, and tells its path. */
  dumpTo(name: string, signal?: AbortSignal): Promise<string>;
  /** Puts the chain of a dump in the place of the one that there is. */
  load(dump: Uint8Array, signal?: AbortSignal): Promise<void>;
  loadFrom(name: string, signal?: AbortSignal): Promise<void>;
}

/** The keys of the validators that the chain has keys of: those that it began with, and those that entered with one of its keys. */
interface KnownKeys {
  /** Ascending. */
  readonly indices: readonly ValidatorIndex[];
  /** Undefined for all others. */
  secretKey(index: ValidatorIndex): { toHex(): string } | undefined;
}

interface Passage {
  /** How many at most. */
  slots: Slot;
  /** Ends it when it holds, before the first slot or after one. */
  until?(): boolean;
  /** Ends it after the slot that is under way. */
  signal?: AbortSignal | undefined;
}

/**
 * What validators do beside their duties, and what is done to them: signed with the keys that the chain has of them, and
 * effective by the ordinary rules. What the rules forbid now is refused. Each resolves when what was made waits for a block,
 * for which it waits over a crash too.
 */
export interface OperationControl {
  slash(validators: readonly ValidatorId[], kind: "proposer" | "attester"): Promise<MadeOperation[]>;
  exit(validator: ValidatorId): Promise<MadeOperation>;
  /** In Gwei; 0 for an exit (EIP-7002). */
  withdraw(validator: ValidatorId, amount: bigint): Promise<MadeOperation>;
  /** Execution credentials keep their address, which then may be left out. */
  changeCredentials(validator: ValidatorId, to: CredentialsType, address?: Uint8Array): Promise<MadeOperation>;
  consolidate(source: ValidatorId, target: ValidatorId): Promise<MadeOperation>;
  deposit(order: DepositOrder): Promise<MadeOperation[]>;
}

/** The first byte of withdrawal credentials: those with an address, and those of them that compound. */
export const CREDENTIALS_TYPES = ["0x01", "0x02"] as const;
export type CredentialsType = (typeof CREDENTIALS_TYPES)[number];

export interface DepositOrder {
  /** Whose balance is to rise, or how many validators are to enter. */
  receiver: { validator: ValidatorId } | { newValidators: number };
  /** In Gwei, of each deposit. */
  amount: bigint;
  /** By default those of the validator, or for a new one those that its own key controls. */
  withdrawalCredentials?: Uint8Array | undefined;
  /** Whether the signature is a wrong one. */
  isBadlySigned: boolean;
}

/** "pooled": with the operations that blocks take up; "queued": for the next payload; "logged": for the validators to vote on. */
export const OPERATION_STATUSES = ["pooled", "queued", "logged"] as const;

export interface MadeOperation {
  /** What it is in the words of the standard, such as `voluntary_exit`. */
  type: string;
  /** Where it waits. */
  status: (typeof OPERATION_STATUSES)[number];
  /** In the JSON of the standard. */
  data: unknown;
}

/** Which of the validators whose keys the chain has do their duties. */
export interface ValidatorControl {
  presence(): Presence;
  /** Those, and no others, are online from the next slot on. */
  setOnline(selection: ValidatorSelection): Promise<void>;
  /** The same for all but those. */
  setOffline(selection: ValidatorSelection): Promise<void>;
}

interface Presence {
  online: readonly ValidatorIndex[];
  offline: readonly ValidatorIndex[];
}

/** A share of all, from 0 to 1, which is spread evenly over the indices; or those of the ranges. */
export type ValidatorSelection = { share: number } | { ranges: readonly IndexRange[] };

/** Both ends belong to it. */
export interface IndexRange {
  first: ValidatorIndex;
  last: ValidatorIndex;
}

/** Blocks beside the head and votes for them. Time stands still but for the slots that it takes. */
export interface BranchControl {
  /** Replaces the last blocks: validators build on the one before them and vote for that branch until it is the head's. */
  reorg(depth: number, signal?: AbortSignal): Promise<Reorg>;
  /** Lets two branches grow, slot by slot the shorter one: those of the call before, or a new one beside the head's. */
  fork(passage: Passage & ForkOrder): Promise<Fork>;
}

export interface ChainBlock {
  slot: Slot;
  root: RootHex;
}

export interface Reorg {
  oldHead: ChainBlock;
  newHead: ChainBlock;
  commonAncestor: ChainBlock;
  /** How many it took. */
  slots: Slot;
}

export interface ForkOrder {
  /** How many blocks before the head a new branch is to begin; without it the branches of the call before go on. */
  depth?: number | undefined;
  /** How many of the votes go to the new branch, from 0 to 1. */
  newShare: number;
}

export const BRANCHES = ["old", "new"] as const;
export type BranchName = (typeof BRANCHES)[number];

export interface Fork {
  branches: Readonly<Record<BranchName, Branch>>;
  commonAncestor: ChainBlock;
  /** The branch of the head. */
  head: BranchName;
}

export interface Branch {
  head: ChainBlock;
  /** What fork choice counts for the branch, in Gwei. */
  weight: number;
}

export interface LateBlockControl {
  /** The blocks of the next slots come late. Returns when. */
  delay(order: DelayOrder): Promise<Delay>;
}

export interface DelayOrder {
  slots: Slot;
  /** How many slots after its own a block comes. */
  slotsLate: Slot;
  /** How long after the beginning of the slot in which it comes; by default halfway between when attesting is due and the end. */
  seconds?: number | undefined;
}

export interface Delay {
  fromSlot: Slot;
  /** The first whose block is not late any more. */
  untilSlot: Slot;
  slotsLate: Slot;
  seconds: number;
}

/** The dev chain was asked for something that cannot be done to it. */
export class ControlRefusal extends Error {
  readonly failure: Failure;

  private constructor(failure: Failure) {
    super(failure.message);
    this.name = "ControlRefusal";
    this.failure = failure;
  }

  /** What was asked for makes no sense, whatever the chain. */
  static wrong = (message: string) => new ControlRefusal(invalidParams(message));
  /** It refers to something that is not there. */
  static absent = (message: string) => new ControlRefusal(notFound(message));
  /** The chain, as it is now, has rules against it. */
  static against = (message: string) => new ControlRefusal(rejected(message));
  /** No chain that was started like this one can do it. */
  static impossible = (message: string) => new ControlRefusal(unsupported(message));
}

export function controlOf({ control }: { control?: DevControl | undefined }): DevControl {
  if (control) return control;
  throw unsupported(
    "This node follows the chain of a network, which is nobody's to control: `fanal dev` starts one that is.",
  );
}
