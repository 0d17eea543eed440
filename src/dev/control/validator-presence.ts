import type { ValidatorIndex } from "@lodestar/types";
import { ControlError, type ValidatorControl } from "../../api/dev-control.ts";
import type { ValidatorSelection } from "../../api/validator-selection.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { ValidatorKeys } from "../validator-keys.ts";
import { isInShare } from "./even-share.ts";
import type { DevTime } from "./time.ts";

interface ValidatorPresenceDeps {
  keys: ValidatorKeys;
  time: DevTime;
  /** Validators that are online by default. If undefined, all validators are. */
  activeValidators: readonly ValidatorIndex[] | undefined;
  stored: PresenceStore;
  /** Called initially and whenever the set of online validators changes. */
  onChange(online: ReadonlySet<ValidatorIndex>): void;
}

/** Controls which validators of a dev chain are online and perform their duties. */
export class ValidatorPresence implements ValidatorControl {
  readonly #parts: ValidatorPresenceDeps;
  #isOffline: (index: ValidatorIndex) => boolean;
  #online: ReadonlySet<ValidatorIndex> | undefined;

  constructor(parts: ValidatorPresenceDeps) {
    this.#parts = parts;
    this.#isOffline = this.#offlineTest(parts.stored.atOpening);
    this.onlineNow();
  }

  capture(): () => void {
    const isOffline = this.#isOffline;
    return () => this.#apply(isOffline);
  }

  /** Reads the validator presence from a loaded dump. */
  async reload(): Promise<void> {
    this.#apply(this.#offlineTest(await this.#parts.stored.load()));
  }

  /** Returns the same set object until the online validators change. */
  onlineNow(): ReadonlySet<ValidatorIndex> {
    const { online } = this.presence();
    // Between calls that change the presence, validators are only added, so a change shows in the size.
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
      const online = resolveSelection(indices, selection);
      return new Set(indices.filter((index) => !online.has(index)));
    });
  }

  setOffline(selection: ValidatorSelection): Promise<void> {
    return this.#set((indices) => resolveSelection(indices, selection));
  }

  #set(offlineOf: (indices: readonly ValidatorIndex[]) => ReadonlySet<ValidatorIndex>): Promise<void> {
    const { keys, time, stored } = this.#parts;
    return time.exclusive(async () => {
      const offline = offlineOf(keys.indices);
      await stored.replace(offline);
      this.#apply((index) => offline.has(index));
    });
  }

  /** Uses `activeValidators` if no presence is stored. */
  #offlineTest(offline: ReadonlySet<ValidatorIndex> | null): (index: ValidatorIndex) => boolean {
    const { activeValidators } = this.#parts;
    const active = activeValidators && new Set(activeValidators);
    return (index) => (offline ? offline.has(index) : active?.has(index) === false);
  }

  #apply(isOffline: (index: ValidatorIndex) => boolean): void {
    this.#isOffline = isOffline;
    this.#online = undefined;
    this.onlineNow();
  }
}

export function resolveSelection(
  indices: readonly ValidatorIndex[],
  selection: ValidatorSelection,
): ReadonlySet<ValidatorIndex> {
  if ("share" in selection) return new Set(indices.filter((_, position) => isInShare(position, selection.share)));
  const knownIndices = new Set(indices);
  const chosen = new Set<ValidatorIndex>();
  for (const { first, last } of selection.ranges) {
    // Stops at the first unknown index, however long the range is.
    for (let index = first; index <= last; index++) {
      if (!knownIndices.has(index)) {
        throw ControlError.notFound(
          `The key of validator ${index} is unknown. ` +
            `This chain has keys of ${indices.length} validators, up to ${indices.at(-1)}.`,
        );
      }
      chosen.add(index);
    }
  }
  return chosen;
}

const NAME = "offline";

/** Persists the offline validators in the chain's database. */
export class PresenceStore {
  readonly #db: BeaconDb;
  /** Null if it was never set. */
  readonly atOpening: ReadonlySet<ValidatorIndex> | null;

  static async open(db: BeaconDb): Promise<PresenceStore> {
    return new PresenceStore(db, await readOffline(db));
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
