import type { Slot } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import { clearArchive } from "./evm/evm-store.ts";
import { clearSigningRecords } from "./validators/slashing-protection.ts";

/**
 * Resets the remaining data of a dev chain after its blocks and states from a slot on have been dropped: the EVM's
 * archive, the clock, and the signing records, which would forbid votes for another branch.
 */
export async function rewindDevChain(db: BeaconDb, before: Slot): Promise<void> {
  await clearArchive(db);
  await clearSigningRecords(db);
  const clockSlot = await db.meta.getClockSlot();
  if (clockSlot !== null) await db.meta.putClockSlot(Math.min(clockSlot, before - 1));
}
