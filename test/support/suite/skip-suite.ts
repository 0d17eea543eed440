import { beforeEach } from "vitest";

/** Skips the surrounding suite if there is a reason. `npm test` prints reasons at its end. */
export function skipSuite(reason: string | undefined): void {
  if (reason !== undefined) beforeEach((context) => context.skip(reason));
}
