import type { RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { type Failure, invalidParams, notFound, rejected, unsupported } from "../failure.ts";

/** What can be done to a dev chain beside asking it. The dev chain itself does it; the methods `dev_*` say how it is called. */
export interface DevControl {
  readonly time: TimeControl;
  readonly keys: KnownKeys;
  readonly validators: ValidatorControl;
  readonly branches: BranchControl;
  readonly lateBlocks: LateBlockControl;
}

/** One thing after the other; time stands still while each of them is done, and flows on afterwards if it did before. */
export interface TimeControl {
  /** Goes through slots, with all that validators do in them, until as many have passed or the condition holds after one. */
  advance(passage: Passage & { until?(): boolean }): Promise<void>;
  /** Goes through slots in which nobody does anything. */
  skip(passage: Passage): Promise<void>;
  /** Ends with the slot that is under way. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** In seconds of chain time in one of real time; 0 pauses. */
  setSpeed(speed: number): Promise<void>;
}

/** The keys of the validators that the chain began with. */
interface KnownKeys {
  readonly count: number;
  /** Undefined for a validator that came later. */
  secretKey(index: ValidatorIndex): { toHex(): string } | undefined;
}

interface Passage {
  slots: Slot;
  /** Ends it after the slot that is under way. */
  signal?: AbortSignal | undefined;
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
