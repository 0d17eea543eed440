import type { Slot } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import { clearArchive } from "./evm/evm-store.ts";
import { clearSigningRecords } from "./validators/slashing-protection.ts";

/**
 * Fits what a dev chain stores besides its blocks and states to a chain that was cut off before a slot: the archive of
 * the EVM, the clock, and the signing records, which would forbid the votes for the other branch.
 */
export async function rewindDevChain(db: BeaconDb, before: Slot): Promise<void> {
  await clearArchive(db);
  await clearSigningRecords(db);
  const clockSlot = await db.meta.getClockSlot();
  if (clockSlot !== null) await db.meta.putClockSlot(Math.min(clockSlot, before - 1));
}
