import { describe, expect, it } from "vitest";
import { DutyCache, type FetchedDuties } from "./duty-cache.ts";

function countingCache(answer: (epoch: number, fetches: number) => FetchedDuties<string>) {
  const fetched: number[] = [];
  const cache = new DutyCache<string>(async (epoch) => {
    fetched.push(epoch);
    return answer(epoch, fetched.length);
  });
  return { cache, fetched };
}

describe("DutyCache", () => {
  it("fetches once for concurrent and later callers", async () => {
    const { cache, fetched } = countingCache((epoch) => ({ duties: [`duty of ${epoch}`], dependentRoot: "0xaa" }));
    expect(await Promise.all([cache.get(3), cache.get(3)])).toEqual([["duty of 3"], ["duty of 3"]]);
    await cache.get(3);
    await cache.get(4);
    expect(fetched).toEqual([3, 4]);
  });

  it("keeps duties with a matching dependent root and fetches others again", async () => {
    const { cache } = countingCache((_, fetches) => ({ duties: [`fetch ${fetches}`], dependentRoot: `0x0${fetches}` }));
    await cache.get(3);
    cache.invalidateUnless(3, ["0x00", "0x01"]);
    expect(await cache.get(3)).toEqual(["fetch 1"]);
    cache.invalidateUnless(3, ["0x02"]);
    expect(await cache.get(3)).toEqual(["fetch 2"]);
  });

  it("does not fetch with every head if the node keeps returning another root", async () => {
    const { cache, fetched } = countingCache(() => ({ duties: [], dependentRoot: "0xaa" }));
    for (let head = 0; head < 5; head++) {
      await cache.get(3);
      cache.invalidateUnless(3, ["0xbb"]);
    }
    expect(fetched).toEqual([3, 3]);
  });

  it("never drops duties that have no dependent root", async () => {
    const { cache, fetched } = countingCache(() => ({ duties: [] }));
    await cache.get(3);
    cache.invalidateUnless(3, ["0xbb"]);
    await cache.get(3);
    expect(fetched).toEqual([3]);
  });

  it("prunes old epochs", async () => {
    const { cache, fetched } = countingCache(() => ({ duties: [] }));
    await cache.get(3);
    await cache.get(4);
    cache.pruneBefore(4);
    await cache.get(4);
    await cache.get(3);
    expect(fetched).toEqual([3, 4, 3]);
  });
});
