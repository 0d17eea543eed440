import { vi } from "vitest";

/** Long enough for a busy machine, where conditions may take many seconds. */
const PATIENCE = { timeout: 30_000, interval: 10 };

const { waitFor, waitUntil } = vi;

/** Raises the default timeout of `vi.waitFor` and `vi.waitUntil`. `expect.poll` has a setting for it. */
export function waitPatiently(): void {
  vi.waitFor = (callback, options = PATIENCE) => waitFor(callback, options);
  vi.waitUntil = (callback, options = PATIENCE) => waitUntil(callback, options);
}
