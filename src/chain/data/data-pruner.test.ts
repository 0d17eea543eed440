import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { SerialQueue } from "../../async/serial-queue.ts";
import { openDatabase } from "../../db/open-database.ts";
import { createLogger } from "../../log/pino-logger.ts";
import { DataPruner } from "./data-pruner.ts";

const rootOf = (slot: number) => toRootHex(new Uint8Array(32).fill(slot));

it("deletes data outside the window at the start of an epoch, interleaved with other changes", async () => {
  const dir = removableDirectory();
  const db = await openDatabase(dir.path, { sync: false });
  onTestFinished(async () => {
    await db.close();
    dir.remove();
  });
  const slots = Array.from({ length: 30 }, (_, slot) => slot);
  const batch = db.batch();
  for (const slot of slots)
    for (const index of [0, 7]) batch.data.put({ slot, root: rootOf(slot) }, index, Uint8Array.of(1));
  await batch.write();
  const left = async () => (await Array.fromAsync(db.data.blocks())).map(({ slot }) => slot);

  let firstKept = 0;
  const changes = new SerialQueue();
  const { logger } = createLogger({ format: "text", spec: "WARN", destination: { write: () => {} } });
  const pruner = new DataPruner({ db, data: { isWithinWindow: (slot) => slot >= firstKept }, changes, logger });
  pruner.begin();
  await pruner.idle();
  expect(await left()).toEqual(slots);

  firstKept = 20;
  pruner.onSlot(SLOTS_PER_EPOCH + 1);
  await pruner.idle();
  expect(await left()).toEqual(slots);
  pruner.onSlot(2 * SLOTS_PER_EPOCH);
  const seenByOther = await changes.run(left);
  expect(seenByOther.length).toBeGreaterThan(10);
  expect(seenByOther.length).toBeLessThan(30);
  await pruner.idle();
  expect(await left()).toEqual(slots.slice(20));
  expect(await db.data.indices(rootOf(19))).toEqual([]);
  expect(await db.data.indices(rootOf(20))).toEqual([0, 7]);

  firstKept = 30;
  await pruner.close();
  pruner.begin();
  await pruner.idle();
  expect(await left()).toEqual(slots.slice(20));
});
