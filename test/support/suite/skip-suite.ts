import { beforeEach } from "vitest";

/** Skips all tests of the surrounding suite for a reason, which `npm test` prints at its end; without a reason they run. */
export function skipSuite(reason: string | undefined): void {
  if (reason !== undefined) beforeEach((context) => context.skip(reason));
}
