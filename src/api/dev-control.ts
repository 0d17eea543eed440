import type { Slot, ValidatorIndex } from "@lodestar/types";
import { type Failure, invalidParams, notFound, rejected, unsupported } from "../failure.ts";
import type { ValidatorId } from "./params/identifiers.ts";

/** What can be done to a dev chain beside asking it. The dev chain itself does it; the methods `dev_*` say how it is called. */
export interface DevControl {
  readonly time: TimeControl;
  readonly operations: OperationControl;
  readonly keys: KnownKeys;
  readonly snapshots: SnapshotControl;
  readonly dumps: DumpControl;
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

/** Moments of the chain, to which it can go back while the process lives. Each is done while time stands still, and nothing else is. */
export interface SnapshotControl {
  /** Tells the id by which the chain goes back to how it is now. */
  take(): Promise<number>;
  /** Goes back; the snapshot and those that were taken later are gone then. */
  revert(id: number): Promise<void>;
}

/** The whole chain as one file. Each is done while time stands still, and nothing else is. */
export interface DumpControl {
  /** The file itself. */
  dump(): Promise<Uint8Array>;
  /** Writes the file under a name into a directory of its own, and tells its path. */
  dumpTo(name: string): Promise<string>;
  /** Puts the chain of a dump in the place of the one that there is. */
  load(dump: Uint8Array): Promise<void>;
  loadFrom(name: string): Promise<void>;
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
