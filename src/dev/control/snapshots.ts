import { ControlRefusal, type SnapshotControl } from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ChainSnapshot } from "../../chain/chain-snapshots.ts";
import type { DevTime } from "./time.ts";

/** More ids than this are not listed one by one. */
const MOST_LISTED = 8;

/** What a dev chain has beside its beacon chain, and what goes back with it. */
export interface Revertible {
  /** Returns the function that makes it again what it is now. */
  capture(): () => void;
}

interface DevSnapshotsParts {
  chain: BeaconChain;
  time: DevTime;
  revertible: readonly Revertible[];
}

interface Snapshot {
  moment: ChainSnapshot;
  goBack: (() => void)[];
}

/** The snapshots of a dev chain. */
export class DevSnapshots implements SnapshotControl {
  readonly #parts: DevSnapshotsParts;
  /** By their ids, in the order in which they were taken. */
  readonly #taken = new Map<number, Snapshot>();
  #lastId = 0;

  constructor(parts: DevSnapshotsParts) {
    this.#parts = parts;
  }

  take(): Promise<number> {
    const { chain, time, revertible } = this.#parts;
    return time.atRest(async () => {
      const goBack = revertible.map((part) => part.capture());
      const moment = await chain.chainSnapshots.take();
      this.#taken.set(++this.#lastId, { moment, goBack });
      return this.#lastId;
    });
  }

  revert(id: number): Promise<void> {
    const { chain, time } = this.#parts;
    return time.atRest(async () => {
      const snapshot = this.#taken.get(id);
      if (!snapshot) throw ControlRefusal.absent(`There is no snapshot ${hex(id)}: ${this.#listed()}`);
      await chain.chainSnapshots.revertTo(snapshot.moment, () => {
        for (const goBack of snapshot.goBack) goBack();
      });
      for (const other of this.#taken.keys()) if (other >= id) this.#taken.delete(other);
    });
  }

  #listed(): string {
    const ids = [...this.#taken.keys()].map(hex);
    if (ids.length === 0) return "there are none. dev_snapshot takes one.";
    if (ids.length === 1) return `there is ${ids[0]} only.`;
    if (ids.length > MOST_LISTED) return `there are ${ids.length}, from ${ids[0]} to ${ids.at(-1)}.`;
    return `there are ${ids.slice(0, -1).join(", ")} and ${ids.at(-1)}.`;
  }
}

const hex = (id: number): string => `0x${id.toString(16)}`;
