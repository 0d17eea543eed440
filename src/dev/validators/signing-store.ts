import type { BeaconDb } from "../../db/beacon-db.ts";
import type { SigningStore } from "./signing-history.ts";

const NAME = "signed";

type Row = [index: number, proposed: number, source: number, target: number];

/** Keeps what validators signed in the database of their node. */
export function signingStore(db: BeaconDb): SigningStore {
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
