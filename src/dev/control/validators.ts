import type { ValidatorIndex } from "@lodestar/types";
import { ControlRefusal, type ValidatorControl, type ValidatorSelection } from "../../api/dev-control.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { isInShare } from "./even-share.ts";
import type { DevTime } from "./time.ts";

interface DevPresenceParts {
  keys: ValidatorKeys;
  time: DevTime;
  /** Who is online unless something else was said; all when left out. */
  activeValidators: readonly ValidatorIndex[] | undefined;
  stored: StoredPresence;
  /** Told who is online, at first and when others are. */
  onChange(online: ReadonlySet<ValidatorIndex>): void;
}

/** Which validators of a dev chain are online. */
export class DevPresence implements ValidatorControl {
  readonly #parts: DevPresenceParts;
  #isOffline: (index: ValidatorIndex) => boolean;
  #online: ReadonlySet<ValidatorIndex> | undefined;

  constructor(parts: DevPresenceParts) {
    this.#parts = parts;
    this.#isOffline = this.#asStored(parts.stored.atOpening);
    this.onlineNow();
  }

  capture(): () => void {
    const isOffline = this.#isOffline;
    return () => this.#become(isOffline);
  }

  /** Another chain has taken the place of the one that there was. */
  async reload(): Promise<void> {
    this.#become(this.#asStored(await this.#parts.stored.load()));
  }

  /** The same set as long as the same validators are online. */
  onlineNow(): ReadonlySet<ValidatorIndex> {
    const { online } = this.presence();
    // Unless somebody says something else, who is online stays so, and only new validators come.
    if (this.#online?.size !== online.length) {
      this.#online = new Set(online);
      this.#parts.onChange(this.#online);
    }
    return this.#online;
  }

  presence() {
    const { indices } = this.#parts.keys;
    return {
      online: indices.filter((index) => !this.#isOffline(index)),
      offline: indices.filter((index) => this.#isOffline(index)),
    };
  }

  setOnline(selection: ValidatorSelection): Promise<void> {
    return this.#set((indices) => {
      const online = selected(indices, selection);
      return new Set(indices.filter((index) => !online.has(index)));
    });
  }

  setOffline(selection: ValidatorSelection): Promise<void> {
    return this.#set((indices) => selected(indices, selection));
  }

  #set(offlineOf: (indices: readonly ValidatorIndex[]) => ReadonlySet<ValidatorIndex>): Promise<void> {
    const { keys, time, stored } = this.#parts;
    return time.inTurn(async () => {
      const offline = offlineOf(keys.indices);
      await stored.replace(offline);
      this.#become((index) => offline.has(index));
    });
  }

  /** Unless something was said, those are online that the chain was started with. */
  #asStored(offline: ReadonlySet<ValidatorIndex> | null): (index: ValidatorIndex) => boolean {
    const { activeValidators } = this.#parts;
    const active = activeValidators && new Set(activeValidators);
    return (index) => (offline ? offline.has(index) : active?.has(index) === false);
  }

  #become(isOffline: (index: ValidatorIndex) => boolean): void {
    this.#isOffline = isOffline;
    this.#online = undefined;
    this.onlineNow();
  }
}

function selected(indices: readonly ValidatorIndex[], selection: ValidatorSelection): ReadonlySet<ValidatorIndex> {
  if ("share" in selection) return new Set(indices.filter((_, position) => isInShare(position, selection.share)));
  const known = new Set(indices);
  const chosen = new Set<ValidatorIndex>();
  for (const { first, last } of selection.ranges) {
    // It ends with the first that is not known, however long the range is.
    for (let index = first; index <= last; index++) {
      if (!known.has(index)) {
        throw ControlRefusal.absent(`The chain has no key of a validator ${index}: it has those of ${named(indices)}.`);
      }
      chosen.add(index);
    }
  }
  return chosen;
}

function named(indices: readonly ValidatorIndex[]): string {
  return `${indices.length} validators, up to ${indices.at(-1)}`;
}

const NAME = "offline";

/** Who was told to be offline, as the database of the chain holds it. */
export class StoredPresence {
  readonly #db: BeaconDb;
  /** Null where nothing was ever said. */
  readonly atOpening: ReadonlySet<ValidatorIndex> | null;

  static async open(db: BeaconDb): Promise<StoredPresence> {
    return new StoredPresence(db, await readOffline(db));
  }

  private constructor(db: BeaconDb, atOpening: ReadonlySet<ValidatorIndex> | null) {
    this.#db = db;
    this.atOpening = atOpening;
  }

  load(): Promise<ReadonlySet<ValidatorIndex> | null> {
    return readOffline(this.#db);
  }

  async replace(offline: ReadonlySet<ValidatorIndex>): Promise<void> {
    const batch = this.#db.batch();
    batch.meta.putCustom(NAME, new TextEncoder().encode(JSON.stringify([...offline])));
    await batch.write();
  }
}

async function readOffline(db: BeaconDb): Promise<ReadonlySet<ValidatorIndex> | null> {
  const stored = await db.meta.getCustom(NAME);
  return stored && new Set(JSON.parse(new TextDecoder().decode(stored)) as ValidatorIndex[]);
}
