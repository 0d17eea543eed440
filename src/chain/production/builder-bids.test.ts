import { expect, it } from "vitest";
import { prefersBid } from "./builder-bids.ts";

const ALWAYS_BUILDER = 2n ** 64n - 1n;

it.each<[name: string, local: bigint, bid: bigint, factor: bigint, isPreferred: boolean]>([
  ["more than the local payload", 1000n, 1100n, 100n, true],
  ["as much", 1000n, 1000n, 100n, false],
  ["more, but less when it is weighed", 1000n, 1100n, 90n, false],
  ["less, but more when it is weighed", 1000n, 900n, 120n, true],
  ["much, where the local payload is preferred", 0n, 10n ** 20n, 0n, false],
  ["little, where the builder is preferred", 10n ** 20n, 1n, ALWAYS_BUILDER, true],
])("prefersBid: %s", (_, local, bid, factor, isPreferred) => {
  expect(prefersBid(local, bid, factor)).toBe(isPreferred);
});
