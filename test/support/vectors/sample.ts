import { isFullTier } from "../suite/tier.ts";
import type { VectorCase } from "./vector-case.ts";

/**
 * Returns the cases to run in the current tier: in the second tier all, and in npm test every n-th of each handler,
 * beginning with the first.
 */
export function sampleOf(vectors: readonly VectorCase[], every: number): VectorCase[] {
  if (isFullTier) return [...vectors];
  const ofHandlers = Map.groupBy(vectors, ({ path }) => path.handler);
  return [...ofHandlers.values()].flatMap((cases) => cases.filter((_, index) => index % every === 0));
}

/** Arguments of `it.each`. */
export const titled = (vectors: readonly VectorCase[]) => vectors.map((vector) => [vector.id, vector] as const);
