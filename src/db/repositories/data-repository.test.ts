import { toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { DatabaseCorruptError } from "../errors.ts";
import { openDatabase } from "../open-database.ts";

const rootOf = (fill: number) => toRootHex(new Uint8Array(32).fill(fill));

it("stores sidecars by block and index, indexes their blocks, and rejects damaged ones", async () => {
  const dir = removableDirectory();
  const db = await openDatabase(dir.path, { sync: false });
  onTestFinished(async () => {
    await db.close();
    dir.remove();
  });
  const [a, b] = [
    { slot: 300, root: rootOf(1) },
    { slot: 2, root: rootOf(2) },
  ];
  const written = db.batch();
  written.data.put(a, 127, Uint8Array.of(1, 2));
  written.data.put(a, 0, Uint8Array.of());
  written.data.put(b, 5, Uint8Array.of(5));
  await written.write();
  expect(Uint8Array.from((await db.data.get(a.root, 127))!)).toEqual(Uint8Array.of(1, 2));
  expect((await db.data.get(a.root, 0))?.length).toBe(0);
  expect(await db.data.get(b.root, 0)).toBeNull();
  expect([await db.data.has(b.root, 5), await db.data.has(b.root, 6)]).toEqual([true, false]);
  for (const index of [2 ** 16 + 127, Number.POSITIVE_INFINITY]) {
    expect([await db.data.get(a.root, index), await db.data.has(a.root, index)]).toEqual([null, false]);
  }
  expect(await db.data.indices(a.root)).toEqual([0, 127]);
  expect(await Array.fromAsync(db.data.blocks())).toEqual([b, a]);
  expect(await Array.fromAsync(db.data.blocks({ from: 3, to: 300 }))).toEqual([a]);
  expect(await Array.fromAsync(db.data.blocks({ to: 299 }))).toEqual([b]);

  for await (const { bucket, key, value } of db.chainEntries()) {
    if (value.length === 0) continue;
    const damaging = db.batch();
    damaging.putRaw({ bucket, key, value: value.map((byte, at) => (at === 0 ? byte ^ 1 : byte)) });
    await damaging.write();
  }
  for (const [root, index] of [
    [a.root, 0],
    [a.root, 127],
    [b.root, 5],
  ] as const) {
    await expect(db.data.get(root, index)).rejects.toThrow(DatabaseCorruptError);
  }

  const deleting = db.batch();
  deleting.data.delete(a, await db.data.indices(a.root));
  await deleting.write();
  expect(await db.data.indices(a.root)).toEqual([]);
  expect(await Array.fromAsync(db.data.blocks())).toEqual([b]);
});
