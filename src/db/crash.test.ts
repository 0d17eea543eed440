import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect } from "../../test/support/db/collect.ts";
import { type RemovableDirectory, removableDirectory } from "../../test/support/directories/removable-directory.ts";
import { DatabaseInUseError } from "./errors.ts";
import { openDatabase } from "./open-database.ts";

const WRITER = fileURLToPath(new URL("../../test/support/db/crash-writer.ts", import.meta.url));
const BATCHES_BEFORE_KILL = 50;

describe("a process killed while writing", () => {
  let dir: RemovableDirectory;

  beforeEach(async () => {
    dir = removableDirectory();
  });

  afterEach(() => dir.remove());

  it("holds the lock while alive and leaves every acknowledged batch complete", async () => {
    const child = spawn(process.execPath, [WRITER, dir.path], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    let reported = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      reported = Number(line);
      if (reported === 1) await expect(openDatabase(dir.path, { sync: true })).rejects.toThrow(DatabaseInUseError);
      if (reported === BATCHES_BEFORE_KILL) child.kill("SIGKILL");
    }
    expect(await exited).toEqual([null, "SIGKILL"]);
    expect(reported).toBeGreaterThanOrEqual(BATCHES_BEFORE_KILL);

    const db = await openDatabase(dir.path, { sync: true });
    const hot = await collect(db.hotBlocks.entries());
    expect(hot.length).toBeGreaterThanOrEqual(reported);
    expect(hot.map(({ slot }) => slot)).toEqual(hot.map((_, index) => index + 1));
    expect(await db.meta.getClockSlot()).toBe(hot.length);
    for (const { slot, root } of hot) {
      expect(await db.blocks.get(root)).toEqual(new Uint8Array(2000).fill(slot));
    }
    await db.close();
  });
});
