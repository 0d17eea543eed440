import { beforeEach } from "vitest";

/** Skips all tests of the surrounding suite if there is a reason, which `npm test` prints at its end. */
export function skipSuite(reason: string | undefined): void {
  if (reason !== undefined) beforeEach((context) => context.skip(reason));
}
