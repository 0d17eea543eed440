import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directories = new Set<string>();

/** Directory for a chain without `dataDir`. Created with its first file and deleted when the process exits. */
export class TemporaryDirectory {
  readonly path = join(tmpdir(), `fanal-chain-${randomUUID()}`);

  constructor() {
    if (directories.size === 0) process.on("exit", removeAll);
    directories.add(this.path);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    directories.delete(this.path);
    if (directories.size === 0) process.off("exit", removeAll);
  }
}

function removeAll(): void {
  for (const path of directories) rmSync(path, { recursive: true, force: true });
}
