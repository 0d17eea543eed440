import type { Epoch, phase0, Slot, ValidatorIndex } from "@lodestar/types";
import { SerialQueue } from "../../async/serial-queue.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";

/**
 * Latest proposal slot and attestation epochs signed by a validator; −1 if there are none. Since gloas also the latest
 * slots of an envelope and of a payload attestation, which are not slashable.
 */
export interface SigningRecord {
  index: ValidatorIndex;
  proposed: Slot;
  source: Epoch;
  target: Epoch;
  revealed: Slot;
  payloadVoted: Slot;
}

/** Persistent storage for signing records. */
interface SlashingProtectionStore {
  load(): Promise<SigningRecord[]>;
  /** Stores the changed records and leaves all others as they are. */
  save(changed: readonly SigningRecord[]): Promise<void>;
  /** Adds the changed records to a batch. */
  addTo(batch: BeaconDbBatch, changed: readonly SigningRecord[]): void;
}

/**
 * Prevents slashable signatures when a reorg changes duties, a slot is run twice or the node restarts. Stores only the
 * latest slot and epochs per validator, like the minimal format of EIP-3076.
 */
export class SlashingProtection {
  readonly #store: SlashingProtectionStore | undefined;
  readonly #writes = new SerialQueue();
  readonly #signed = new Map<ValidatorIndex, SigningRecord>();
  /** Records that are not stored yet. */
  #changed = new Set<SigningRecord>();

  static async open(store: SlashingProtectionStore): Promise<SlashingProtection> {
    return new SlashingProtection(store, await store.load());
  }

  /** If there is no store, records are kept only in memory. */
  constructor(store?: SlashingProtectionStore, signed: readonly SigningRecord[] = []) {
    this.#store = store;
    for (const each of signed) this.#signed.set(each.index, each);
  }

  /** Returns the latest signed slot and epochs of a validator. */
  latest(index: ValidatorIndex): Readonly<SigningRecord> {
    return this.#signed.get(index) ?? noneSigned(index);
  }

  /** Records a block before it is signed. Throws if signing the block would be slashable. */
  recordProposal(index: ValidatorIndex, slot: Slot): void {
    const record = this.#of(index);
    if (slot <= record.proposed) {
      throw new Error(
        `Slashing protection: validator ${index} has already signed a block for slot ${record.proposed}.`,
      );
    }
    record.proposed = slot;
    this.#changed.add(record);
  }

  /** Records an attestation before it is signed. Returns false, without recording it, if signing could be slashable. */
  recordAttestation(index: ValidatorIndex, { source, target }: phase0.AttestationData): boolean {
    const record = this.#of(index);
    if (target.epoch <= record.target || source.epoch < record.source) return false;
    record.source = source.epoch;
    record.target = target.epoch;
    this.#changed.add(record);
    return true;
  }

  /** Records an envelope before it is signed. Throws if one was signed for the slot or a later one. */
  recordEnvelope(index: ValidatorIndex, slot: Slot): void {
    const record = this.#of(index);
    if (slot <= record.revealed) {
      throw new Error(`Validator ${index} has already signed a payload envelope for slot ${record.revealed}.`);
    }
    record.revealed = slot;
    this.#changed.add(record);
  }

  /** Records a payload attestation before it is signed. Returns false if one was signed for the slot or a later one. */
  recordPayloadVote(index: ValidatorIndex, slot: Slot): boolean {
    const record = this.#of(index);
    if (slot <= record.payloadVoted) return false;
    record.payloadVoted = slot;
    this.#changed.add(record);
    return true;
  }

  /**
   * Captures the records. Returns a function that restores them when the chain is reverted to a snapshot, since the
   * revert discards the chain for which later messages were signed.
   */
  capture(): () => void {
    const records = Array.from(this.#signed.values(), (each) => ({ ...each }));
    return () => this.replace(records);
  }

  /** Replaces all records when another chain is loaded. */
  replace(signed: readonly SigningRecord[]): void {
    this.#signed.clear();
    for (const each of signed) this.#signed.set(each.index, each);
    // Some of the records may not be stored yet.
    this.#changed = new Set(signed);
  }

  /** Stores all changed records. Must complete before any signed message leaves the node. */
  async flush(): Promise<void> {
    const store = this.#store;
    if (!store) return;
    await this.#writes.run(async () => {
      const changed = this.#takeChanged();
      if (changed.length > 0) await store.save(changed);
    });
  }

  /** Adds all changed records to a batch that also stores the signed message. */
  flushInto(batch: BeaconDbBatch): void {
    this.#store?.addTo(batch, this.#takeChanged());
  }

  #takeChanged(): SigningRecord[] {
    const changed = [...this.#changed];
    this.#changed = new Set();
    return changed;
  }

  #of(index: ValidatorIndex): SigningRecord {
    const record = this.#signed.get(index);
    if (record) return record;
    const none = noneSigned(index);
    this.#signed.set(index, none);
    return none;
  }
}

const noneSigned = (index: ValidatorIndex): SigningRecord => ({
  index,
  proposed: -1,
  source: -1,
  target: -1,
  revealed: -1,
  payloadVoted: -1,
});

const NAME = "signed/";

/** Records from before gloas have no last two elements. */
type Row = [proposed: number, source: number, target: number, revealed?: number, payloadVoted?: number];

/** Deletes all signing records, after which the validators may sign the same duties again. */
export function clearSigningRecords(db: BeaconDb): Promise<void> {
  return db.meta.deleteCustoms(NAME);
}

/** Stores signing records in the node's database, one entry per validator. */
export function slashingProtectionStore(db: BeaconDb): SlashingProtectionStore {
  return {
    async load() {
      const records: SigningRecord[] = [];
      for await (const [name, stored] of db.meta.customEntries(NAME)) {
        const [proposed, source, target, revealed = -1, payloadVoted = -1] = JSON.parse(
          new TextDecoder().decode(stored),
        ) as Row;
        records.push({ index: Number(name.slice(NAME.length)), proposed, source, target, revealed, payloadVoted });
      }
      return records;
    },

    async save(changed) {
      const batch = db.batch();
      addTo(batch, changed);
      await batch.write();
    },

    addTo,
  };
}

function addTo(batch: BeaconDbBatch, changed: readonly SigningRecord[]): void {
  for (const { index, proposed, source, target, revealed, payloadVoted } of changed) {
    const isGloas = revealed >= 0 || payloadVoted >= 0;
    const row: Row = isGloas ? [proposed, source, target, revealed, payloadVoted] : [proposed, source, target];
    batch.meta.putCustom(`${NAME}${index}`, new TextEncoder().encode(JSON.stringify(row)));
  }
}
