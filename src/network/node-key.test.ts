import { createECDH } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../test/support/directories/removable-directory.ts";
import { openDatabase } from "../db/open-database.ts";
import { isPrivateKey, openNodeKey } from "./node-key.ts";

it("creates a key at the first start and keeps it", async () => {
  const { path, remove } = removableDirectory();
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

it("accepts the private keys that secp256k1 accepts", () => {
  const scalars = [
    "00".repeat(32),
    "01".padStart(64, "0"),
    "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140",
    "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
    "ff".repeat(32),
  ].map((hex) => Buffer.from(hex, "hex"));
  const isValid = (key: Buffer) => {
    try {
      createECDH("secp256k1").setPrivateKey(key);
      return true;
    } catch {
      return false;
    }
  };
  expect(scalars.map(isPrivateKey)).toEqual([false, true, true, false, false]);
  expect(scalars.map(isPrivateKey)).toEqual(scalars.map(isValid));
});
