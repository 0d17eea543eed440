import { vi } from "vitest";

/**
 * A condition that comes true does so at once on a machine that is idle, and may take many seconds on one that is busy.
 */
const PATIENCE = { timeout: 30_000, interval: 10 };

const { waitFor, waitUntil } = vi;

/** Has `vi.waitFor` and `vi.waitUntil` wait longer than a second by default; `expect.poll` has a setting for that. */
export function waitPatiently(): void {
  vi.waitFor = (callback, options = PATIENCE) => waitFor(callback, options);
  vi.waitUntil = (callback, options = PATIENCE) => waitUntil(callback, options);
}
