import type { Epoch, phase0, Slot, ValidatorIndex } from "@lodestar/types";
import { SerialQueue } from "../../chain/serial-queue.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";

/** The latest slot that a validator proposed in, and the latest epochs of its attestations; −1 for none. */
export interface SignedByValidator {
  index: ValidatorIndex;
  proposed: Slot;
  source: Epoch;
  target: Epoch;
}

/** Where a history outlives the process. */
export interface SlashingProtectionStore {
  load(): Promise<SignedByValidator[]>;
  save(signed: readonly SignedByValidator[]): Promise<void>;
}

/**
 * What each validator has signed, so that none signs anything slashable when a reorganisation changes its duties or a
 * slot is run twice, be it after a restart. As in the minimal form of EIP-3076, only the latest slot and epochs are kept.
 */
export class SlashingProtection {
  readonly #store: SlashingProtectionStore | undefined;
  readonly #writes = new SerialQueue();
  readonly #signed = new Map<ValidatorIndex, SignedByValidator>();

  static async open(store: SlashingProtectionStore): Promise<SlashingProtection> {
    return new SlashingProtection(store, await store.load());
  }

  /** Without a store it lives as long as the process. */
  constructor(store?: SlashingProtectionStore, signed: readonly SignedByValidator[] = []) {
    this.#store = store;
    for (const each of signed) this.#signed.set(each.index, each);
  }

  /** Takes note of a block that is about to be signed; false when signing it would be slashable. */
  mayPropose(index: ValidatorIndex, slot: Slot): boolean {
    const signed = this.#of(index);
    if (slot <= signed.proposed) return false;
    signed.proposed = slot;
    return true;
  }

  /** Takes note of an attestation that is about to be signed; false when signing it could be slashable. */
  mayAttest(index: ValidatorIndex, { source, target }: phase0.AttestationData): boolean {
    const signed = this.#of(index);
    if (target.epoch <= signed.target || source.epoch < signed.source) return false;
    signed.source = source.epoch;
    signed.target = target.epoch;
    return true;
  }

  /**
   * Returns the function that forgets what is signed from now on. It is for a chain that goes back as a whole, database and
   * all: what was signed after that moment is on no chain.
   */
  capture(): () => void {
    const signed = this.list();
    return () => this.replace(signed);
  }

  /** Takes this for all that was signed. It is for a chain that takes the place of the one on which that was signed. */
  replace(signed: readonly SignedByValidator[]): void {
    this.#signed.clear();
    for (const each of signed) this.#signed.set(each.index, each);
  }

  list(): SignedByValidator[] {
    return Array.from(this.#signed.values(), (each) => ({ ...each }));
  }

  /** Resolves when all that was noted is stored. Before that nothing of it may leave the node. */
  async keep(): Promise<void> {
    const store = this.#store;
    if (store) await this.#writes.run(() => store.save(this.list()));
  }

  #of(index: ValidatorIndex): SignedByValidator {
    const known = this.#signed.get(index);
    if (known) return known;
    const none = { index, proposed: -1, source: -1, target: -1 };
    this.#signed.set(index, none);
    return none;
  }
}

const NAME = "signed";

type Row = [index: number, proposed: number, source: number, target: number];

/** Keeps what validators signed in the database of their node. */
export function slashingProtectionStore(db: BeaconDb): SlashingProtectionStore {
  return {
    async load() {
      const stored = await db.meta.getFree(NAME);
      const rows = stored === null ? [] : (JSON.parse(new TextDecoder().decode(stored)) as Row[]);
      return rows.map(([index, proposed, source, target]) => ({ index, proposed, source, target }));
    },

    async save(signed) {
      const rows = signed.map(({ index, proposed, source, target }): Row => [index, proposed, source, target]);
      const batch = db.batch();
      batch.meta.putFree(NAME, new TextEncoder().encode(JSON.stringify(rows)));
      await batch.write();
    },
  };
}
