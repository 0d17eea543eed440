/** True in the second tier, which test/full/vitest.config.ts runs. */
export const isFullTier = process.env.FANAL_TEST_TIER === "full";

/**
 * Returns the variants of a test for the current tier: a representative few in npm test, and the others in the second
 * tier, where a file `x.full.ts` imports `x.test.ts`.
 */
export function variants<T>({ fast, full }: { fast: readonly T[]; full: readonly T[] }): readonly T[] {
  return isFullTier ? full : fast;
}
