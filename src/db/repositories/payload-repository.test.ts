import { expect, it } from "vitest";
import { openEmptyDatabase } from "../../../test/support/db/empty-database.ts";
import { DatabaseCorruptError } from "../errors.ts";
import { Bucket } from "../keys.ts";

const [A, B] = [1, 2].map((fill) => `0x${String(fill).padStart(2, "0").repeat(32)}`) as [string, string];

it("stores payloads by block root and rejects damaged ones", async () => {
  const db = await openEmptyDatabase();
  const written = db.batch();
  written.payloads.put(A, Uint8Array.of(1, 2, 3));
  written.payloads.put(B, Uint8Array.of(4));
  await written.write();
  expect(Uint8Array.from((await db.payloads.get(A))!)).toEqual(Uint8Array.of(1, 2, 3));
  expect([await db.payloads.has(B), await db.payloads.has(`0x${"03".repeat(32)}`)]).toEqual([true, false]);
  expect(await Array.fromAsync(db.payloads.roots())).toEqual([A, B]);

  const changed = db.batch();
  changed.payloads.delete(B);
  for await (const { bucket, key, value } of db.chainEntries([Bucket.payloads])) {
    if (value.length > 5) changed.putRaw({ bucket, key, value: value.map((byte, at) => (at === 0 ? byte ^ 1 : byte)) });
  }
  await changed.write();
  expect(await db.payloads.get(B)).toBeNull();
  await expect(db.payloads.get(A)).rejects.toThrow(DatabaseCorruptError);
  await expect(db.payloads.get(A)).rejects.toThrow(`the payload of block ${A} does not match its checksum`);
});
