/**
 * The child process of the crash test: writes batch after batch into the database at its first argument and prints the
 * number of each once it is written, until it is killed.
 */
import { writeSync } from "node:fs";
import { toRootHex } from "@lodestar/utils";
import { openDatabase } from "./open-database.ts";

const path = process.argv[2];
if (path === undefined) throw new Error("The path of the database is missing.");

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
