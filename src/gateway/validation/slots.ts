import { SLOTS_PER_EPOCH } from "@lodestar/params";

export const DECIMAL = /^\d+$/;

export const epochOf = (slot: number | string): number => Math.floor(Number(slot) / SLOTS_PER_EPOCH);

/** Returns the slot that an id names, or undefined for a root or a moving tag. */
export function slotOf(id: string | undefined): number | undefined {
  if (id === "genesis") return 0;
  return id !== undefined && DECIMAL.test(id) ? Number(id) : undefined;
}
