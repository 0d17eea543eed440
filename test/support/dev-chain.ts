import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { BeaconDb } from "../../src/db/beacon-db.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { DevChain, type DevChainOptions } from "../../src/dev/dev-chain.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface OpenedDevChain {
  devChain: DevChain;
  db: BeaconDb;
  /** Lines of warnings and errors; a healthy chain has none. */
  complaints: string[];
}

/** A dev chain in this process whose clock the test drives; closed when the test is over. */
export async function openDevChain(
  options: Partial<DevChainOptions> = {},
  directory = tempDirectory(),
): Promise<OpenedDevChain> {
  const complaints: string[] = [];
  const { logger, setSpec } = createLogger({
    format: "text",
    spec: "WARN",
    destination: { write: (line) => complaints.push(line) },
  });
  const db = await openDatabase(join(directory, "beacon-db"), { sync: false });
  const devChain = await DevChain.open(db, {
    validators: 16,
    forks: [],
    slotSeconds: 2,
    speed: 1,
    warmupEpochs: 0,
    logger,
    setLogSpec: setSpec,
    ...options,
  });
  onTestFinished(async () => {
    await devChain.close();
    await db.close();
  });
  return { devChain, db, complaints };
}
