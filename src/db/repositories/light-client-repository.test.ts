import { toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { openDatabase } from "../open-database.ts";

it("stores one update per period and deletes old ones with a new one", async () => {
  const dir = removableDirectory();
  const db = await openDatabase(dir.path, { sync: false });
  onTestFinished(async () => {
    await db.close();
    dir.remove();
  });
  const update = (n: number) => ({
    attestedSlot: 64 * n,
    blockRoot: toRootHex(new Uint8Array(32).fill(n)),
    bytes: Uint8Array.of(n, n),
  });
  const { lightClient } = db;
  for (const period of [2, 3, 5, 256]) await lightClient.put(period, update(period), 0);
  expect(await lightClient.get(2)).toEqual(update(2));
  expect(await lightClient.get(4)).toBeNull();
  expect(await lightClient.firstPeriodFrom(0)).toBe(2);
  expect(await lightClient.firstPeriodFrom(4)).toBe(5);
  expect(await lightClient.firstPeriodFrom(6)).toBe(256);
  expect(await lightClient.firstPeriodFrom(Number.POSITIVE_INFINITY)).toBeNull();

  await lightClient.put(256, { ...update(7), attestedSlot: 1 }, 5);
  expect(await lightClient.get(3)).toBeNull();
  expect(await lightClient.firstPeriodFrom(0)).toBe(5);
  expect(await lightClient.get(256)).toEqual({ ...update(7), attestedSlot: 1 });
});
