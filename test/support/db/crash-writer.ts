/**
 * Child process of the crash test. Writes batches into the database at the path in its first argument and prints the
 * number of each committed batch, until it is killed.
 */
import { writeSync } from "node:fs";
import { toRootHex } from "@lodestar/utils";
import { openDatabase } from "../../../src/db/open-database.ts";

const path = process.argv[2];
if (path === undefined) throw new Error("Missing argument: path of the database.");

const db = await openDatabase(path, { sync: true });
for (let slot = 1; ; slot++) {
  const root = new Uint8Array(32);
  new DataView(root.buffer).setUint32(0, slot);
  const batch = db.batch();
  batch.blocks.put(root, new Uint8Array(2000).fill(slot));
  batch.hotBlocks.put(slot, root, toRootHex(new Uint8Array(32)));
  batch.meta.putClockSlot(slot);
  await batch.write();
  writeSync(1, `${slot}\n`);
}
