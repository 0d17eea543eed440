import type { Epoch, phase0, Slot, ValidatorIndex } from "@lodestar/types";
import { SerialQueue } from "../../chain/serial-queue.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";

/** The latest slot that a validator proposed in, and the latest epochs of its attestations; −1 for none. */
export interface SignedByValidator {
  index: ValidatorIndex;
  proposed: Slot;
  source: Epoch;
  target: Epoch;
}

/** Where a history outlives the process. */
interface SlashingProtectionStore {
  load(): Promise<SignedByValidator[]>;
  /** Keeps what these validators signed; what others signed stays as it is. */
  save(changed: readonly SignedByValidator[]): Promise<void>;
  /** The same as a part of a larger write. */
  addTo(batch: BeaconDbBatch, changed: readonly SignedByValidator[]): void;
}

/**
 * What each validator has signed, so that none signs anything slashable when a reorganisation changes its duties or a
 * slot is run twice, be it after a restart. As in the minimal form of EIP-3076, only the latest slot and epochs are kept.
 */
export class SlashingProtection {
  readonly #store: SlashingProtectionStore | undefined;
  readonly #writes = new SerialQueue();
  readonly #signed = new Map<ValidatorIndex, SignedByValidator>();
  /** What is not stored yet. */
  #changed = new Set<SignedByValidator>();

  static async open(store: SlashingProtectionStore): Promise<SlashingProtection> {
    return new SlashingProtection(store, await store.load());
  }

  /** Without a store it lives as long as the process. */
  constructor(store?: SlashingProtectionStore, signed: readonly SignedByValidator[] = []) {
    this.#store = store;
    for (const each of signed) this.#signed.set(each.index, each);
  }

  /** Takes note of a block that is about to be signed; throws when signing it would be slashable. */
  noteProposal(index: ValidatorIndex, slot: Slot): void {
    const signed = this.#of(index);
    if (slot <= signed.proposed) {
      throw new Error(`Validator ${index} has already signed a block for slot ${slot} or a later one.`);
    }
    signed.proposed = slot;
    this.#changed.add(signed);
  }

  /** Takes note of an attestation that is about to be signed; false when signing it could be slashable. */
  mayAttest(index: ValidatorIndex, { source, target }: phase0.AttestationData): boolean {
    const signed = this.#of(index);
    if (target.epoch <= signed.target || source.epoch < signed.source) return false;
    signed.source = source.epoch;
    signed.target = target.epoch;
    this.#changed.add(signed);
    return true;
  }

  /**
   * Returns the function that forgets what is signed from now on. It is for a chain that goes back as a whole, database and
   * all: what was signed after that moment is on no chain.
   */
  capture(): () => void {
    const signed = Array.from(this.#signed.values(), (each) => ({ ...each }));
    return () => this.replace(signed);
  }

  /** Takes this for all that was signed. It is for a chain that takes the place of the one on which that was signed. */
  replace(signed: readonly SignedByValidator[]): void {
    this.#signed.clear();
    for (const each of signed) this.#signed.set(each.index, each);
    // Not all of it need have been stored by then.
    this.#changed = new Set(signed);
  }

  /** Resolves when all that was noted is stored. Before that nothing of it may leave the node. */
  async keep(): Promise<void> {
    const store = this.#store;
    if (!store) return;
    await this.#writes.run(async () => {
      const changed = this.#takeChanged();
      if (changed.length > 0) await store.save(changed);
    });
  }

  /** For whoever keeps all that was noted in the very write with which it leaves the node. */
  keepIn(batch: BeaconDbBatch): void {
    this.#store?.addTo(batch, this.#takeChanged());
  }

  #takeChanged(): SignedByValidator[] {
    const changed = [...this.#changed];
    this.#changed = new Set();
    return changed;
  }

  #of(index: ValidatorIndex): SignedByValidator {
    const known = this.#signed.get(index);
    if (known) return known;
    const none = { index, proposed: -1, source: -1, target: -1 };
    this.#signed.set(index, none);
    return none;
  }
}

const NAME = "signed/";

type Row = [proposed: number, source: number, target: number];

/** Keeps what validators signed in the database of their node, each in an entry of its own. */
export function slashingProtectionStore(db: BeaconDb): SlashingProtectionStore {
  return {
    async load() {
      const signed: SignedByValidator[] = [];
      for await (const [name, stored] of db.meta.customEntries(NAME)) {
        const [proposed, source, target] = JSON.parse(new TextDecoder().decode(stored)) as Row;
        signed.push({ index: Number(name.slice(NAME.length)), proposed, source, target });
      }
      return signed;
    },

    async save(changed) {
      const batch = db.batch();
      addTo(batch, changed);
      await batch.write();
    },

    addTo,
  };
}

function addTo(batch: BeaconDbBatch, changed: readonly SignedByValidator[]): void {
  for (const { index, proposed, source, target } of changed) {
    const row: Row = [proposed, source, target];
    batch.meta.putCustom(`${NAME}${index}`, new TextEncoder().encode(JSON.stringify(row)));
  }
}
