import { createECDH } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../db/open-database.ts";
import { createTempDir } from "../db/temp-dir.test-support.ts";
import { openNodeKey } from "./node-key.ts";

it("makes a key at the first start, and keeps it", async () => {
  const { path, remove } = await createTempDir();
  onTestFinished(remove);
  const keyAtStart = async () => {
    const db = await openDatabase(path, { sync: false });
    try {
      return await openNodeKey(db);
    } finally {
      await db.close();
    }
  };
  const key = await keyAtStart();
  expect(key).toHaveLength(32);
  expect(() => createECDH("secp256k1").setPrivateKey(key)).not.toThrow();
  expect(Buffer.from(await keyAtStart())).toEqual(Buffer.from(key));
});
