import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CoverSource, maxCover } from "./max-cover.ts";

/** Creates one source per set of numbers. A number is worth its value until it is taken. */
function createSources(sets: number[][]) {
  const covered = new Set<number>();
  let evaluations = 0;
  const sources = sets.map((set): CoverSource<number[]> => {
    const gainOf = () => set.reduce((sum, value) => sum + (covered.has(value) ? 0 : value), 0);
    return {
      evaluate() {
        evaluations++;
        return { gain: gainOf(), choice: set };
      },
      take(choice) {
        for (const value of choice) covered.add(value);
      },
    };
  });
  return { sources, evaluations: () => evaluations };
}

/** Naive greedy choice that re-evaluates everything each time. */
function gainsOfNaiveGreedy(sets: number[][], limit: number): number[] {
  const covered = new Set<number>();
  const gains: number[] = [];
  while (gains.length < limit) {
    const gainOf = (set: number[]) => set.reduce((sum, value) => sum + (covered.has(value) ? 0 : value), 0);
    const best = sets.reduce<number[]>((a, b) => (gainOf(b) > gainOf(a) ? b : a), []);
    if (gainOf(best) === 0) break;
    gains.push(gainOf(best));
    for (const value of best) covered.add(value);
  }
  return gains;
}

function gainsOf(choices: number[][]): number[] {
  const covered = new Set<number>();
  return choices.map((set) => {
    const gain = set.reduce((sum, value) => sum + (covered.has(value) ? 0 : value), 0);
    for (const value of set) covered.add(value);
    return gain;
  });
}

describe("maxCover", () => {
  it("takes the largest first and counts nothing twice", () => {
    const { sources } = createSources([
      [1, 2],
      [2, 3, 4],
      [1, 5],
      [3, 4],
    ]);
    expect(maxCover(sources, 10)).toEqual([
      [2, 3, 4],
      [1, 5],
    ]);
  });

  it("respects the limit and takes nothing without gain", () => {
    const { sources } = createSources([[3], [2], [1], []]);
    expect(maxCover(sources, 2)).toEqual([[3], [2]]);
    expect(maxCover(createSources([[], []]).sources, 2)).toEqual([]);
    expect(maxCover([], 2)).toEqual([]);
  });

  it("never takes a choice with less gain than another", () => {
    // Values are powers of two, so the greedy order is unique.
    const sets = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 20 }).map((exponent) => 2 ** exponent)));
    fc.assert(
      fc.property(sets, fc.integer({ min: 0, max: 8 }), (candidates, limit) => {
        const chosen = maxCover(createSources(candidates).sources, limit);
        expect(gainsOf(chosen)).toEqual(gainsOfNaiveGreedy(candidates, limit));
      }),
    );
  });

  it("evaluates sources that cannot win only once", () => {
    const { sources, evaluations } = createSources(Array.from({ length: 5000 }, (_, i) => [i + 1]));
    expect(maxCover(sources, 128)).toHaveLength(128);
    expect(evaluations()).toBeLessThan(5000 + 3 * 128);
  });
});
