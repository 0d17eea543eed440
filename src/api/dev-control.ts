import type { Slot, ValidatorIndex } from "@lodestar/types";
import { type Failure, invalidParams, notFound, rejected, unsupported } from "../failure.ts";

/** What can be done to a dev chain beside asking it. The dev chain itself does it; the methods `dev_*` say how it is called. */
export interface DevControl {
  readonly time: TimeControl;
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

/** The keys of the validators that the chain began with. */
interface KnownKeys {
  readonly count: number;
  /** Undefined for a validator that came later. */
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
