import type { BeaconDb } from "../../db/beacon-db.ts";
import { DEV_FEE_RECIPIENT } from "../constants.ts";

const NAME = "feeRecipient";

/** Fee recipient of the in-process validators. Stored with the chain, so snapshots and dumps contain it. */
export class FeeRecipient {
  readonly #db: BeaconDb;
  #address: Uint8Array;

  static async open(db: BeaconDb): Promise<FeeRecipient> {
    return new FeeRecipient(db, await read(db));
  }

  private constructor(db: BeaconDb, address: Uint8Array) {
    this.#db = db;
    this.#address = address;
  }

  get address(): Uint8Array {
    return this.#address;
  }

  async set(address: Uint8Array): Promise<void> {
    const batch = this.#db.batch();
    batch.meta.putCustom(NAME, address);
    await batch.write();
    this.#address = address;
  }

  /** Reads the fee recipient from the chain that has replaced this one. */
  async reload(): Promise<void> {
    this.#address = await read(this.#db);
  }

  capture(): () => void {
    const address = this.#address;
    return () => {
      this.#address = address;
    };
  }
}

async function read(db: BeaconDb): Promise<Uint8Array> {
  return (await db.meta.getCustom(NAME)) ?? DEV_FEE_RECIPIENT;
}
