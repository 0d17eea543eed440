import { ControlError, type SnapshotControl, type SnapshotInfo } from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ChainSnapshot } from "../../chain/chain-snapshots.ts";
import type { DevTime } from "./time.ts";

/** Maximum number of ids listed in an error. */
const MAX_LISTED = 8;

/** State outside the beacon chain that is covered by a snapshot. */
export interface Revertible {
  /** Captures the current state. Returns a function that restores it. */
  capture(): () => void;
}

/** Execution engine that runs in another thread and takes its own snapshots. */
interface SnapshotEngine {
  /** Resolves once finalized blocks are stored. */
  flush(): Promise<void>;
  capture(id: number): Promise<void>;
  /** Returns false if the snapshot has been lost. */
  revert(id: number): Promise<boolean>;
  release(ids: readonly number[]): Promise<void>;
  /** Rebuilds the head's state from the database. */
  restore(): Promise<void>;
}

interface DevSnapshotsParts {
  chain: BeaconChain;
  time: DevTime;
  revertible: readonly Revertible[];
  /** Omitted for a chain without an EVM. */
  evm?: SnapshotEngine;
}

interface Snapshot extends Omit<SnapshotInfo, "id"> {
  snapshot: ChainSnapshot;
  restore: (() => void)[];
}

/** Takes in-memory snapshots of a dev chain and reverts the chain to them. */
export class DevSnapshots implements SnapshotControl {
  readonly #parts: DevSnapshotsParts;
  /** By id, in the order taken. */
  readonly #snapshots = new Map<number, Snapshot>();
  #lastId = 0;

  constructor(parts: DevSnapshotsParts) {
    this.#parts = parts;
  }

  take(): Promise<number> {
    const { chain, time, revertible, evm } = this.#parts;
    return time.whilePaused(async () => {
      const id = this.#lastId + 1;
      await evm?.capture(id);
      const restore = revertible.map((part) => part.capture());
      const snapshot = await chain.chainSnapshots.take();
      this.#snapshots.set(id, { snapshot, restore, slot: chain.clock.currentSlot, headRoot: chain.head.root });
      this.#lastId = id;
      return id;
    });
  }

  revert(id: number): Promise<void> {
    const { chain, time, evm } = this.#parts;
    return time.whilePaused(async () => {
      const found = this.#snapshots.get(id);
      if (!found) throw ControlError.notFound(this.#missing(id));
      // A block that is stored after the database was reverted would stay in it.
      await evm?.flush();
      let reverting: Promise<boolean> | undefined;
      await chain.chainSnapshots.revertTo(found.snapshot, () => {
        for (const restore of found.restore) restore();
        // Calls arrive in order, so the EVM reverts before it receives the new head.
        reverting = evm?.revert(id);
      });
      if ((await reverting) === false) await evm?.restore();
      const dropped = [...this.#snapshots.keys()].filter((other) => other >= id);
      for (const other of dropped) this.#snapshots.delete(other);
      await evm?.release(dropped);
    });
  }

  list(): SnapshotInfo[] {
    return Array.from(this.#snapshots, ([id, { slot, headRoot }]) => ({ id, slot, headRoot }));
  }

  /** Explains why the snapshot does not exist and lists those that do. */
  #missing(id: number): string {
    const isConsumed = id <= this.#lastId;
    return `No snapshot ${hex(id)}${isConsumed ? ": a revert consumes its snapshot and all later ones" : ""}. ${this.#describeAvailable()}`;
  }

  #describeAvailable(): string {
    const ids = [...this.#snapshots.keys()].map(hex);
    if (ids.length === 0) return `None ${this.#lastId === 0 ? "has been taken" : "is left"}: dev_snapshot takes one.`;
    if (ids.length > MAX_LISTED) return `There are ${ids.length}, from ${ids[0]} to ${ids.at(-1)}.`;
    return `Available: ${ids.join(", ")}.`;
  }
}

const hex = (id: number): string => `0x${id.toString(16)}`;
