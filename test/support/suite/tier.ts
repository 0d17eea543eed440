/** True in the second tier, which test/full/vitest.config.ts runs. */
export const isFullTier = process.env.FANAL_TEST_TIER === "full";

/**
 * Variants of a test for the tier that runs: a few that represent all in npm test, and the others in the second tier,
 * where a file `x.full.ts` imports `x.test.ts`.
 */
export function variants<T>({ fast, full }: { fast: readonly T[]; full: readonly T[] }): readonly T[] {
  return isFullTier ? full : fast;
}
