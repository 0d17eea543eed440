import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_ATTESTATIONS_ELECTRA, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { mean } from "../support/statistics.ts";
import { megabytes, printHeader, printRow } from "../support/table.ts";
import { bytesIn, withTempDirectory } from "../support/temp-directory.ts";
import { RecordedBlocks } from "./recorded-blocks.ts";
import { ScaleNode } from "./scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "./state.ts";
import type { Bench } from "./subject.ts";

const EPOCHS = 12;
/** Epochs until the first fully recorded epoch is finalized. */
const SETTLING_EPOCHS = 3;
/** A block has room for the attestations of this many slots, so one block in as many slots includes all. */
const SLOTS_PER_BLOCK = MAX_ATTESTATIONS_ELECTRA;
/** On mainnet. */
const EPOCHS_PER_DAY = (24 * 60 * 60) / (12 * SLOTS_PER_EPOCH);

/** Measures disk writes of a chain that finalizes every epoch. */
export async function benchEpochsOnDisk(bench: Bench): Promise<void> {
  const { kept, programs } = bench;
  console.log(`\n### Disk writes per epoch with ${kept.validators} validators\n`);
  printHeader(
    "program",
    "written per epoch",
    "database growth per epoch",
    `written per day of ${EPOCHS_PER_DAY} epochs`,
  );
  for (const program of programs) {
    await withTempDirectory(async (directory) => {
      const end = STATE_SLOT + EPOCHS * SLOTS_PER_EPOCH;
      const slots: Slot[] = [];
      for (let slot = STATE_SLOT + SLOTS_PER_BLOCK; slot <= end; slot += SLOTS_PER_BLOCK) slots.push(slot);
      const blocks = new RecordedBlocks(kept, { now: end, slots, slotSeconds: SECONDS_PER_SLOT }, directory);
      await blocks.record();
      const dataDir = join(directory, "data");
      const node = await ScaleNode.start(program, { network: blocks.network, stateFile: blocks.stateFile, dataDir });
      try {
        const epochs = await writtenByEpoch(node, blocks, join(dataDir, "beacon-db"));
        const settled = epochs.slice(SETTLING_EPOCHS);
        const written = mean(settled.map(({ written }) => written));
        const grown = mean(settled.map(({ grown }) => grown));
        printRow(program.title, megabytes(written), megabytes(grown), megabytes(written * EPOCHS_PER_DAY));
      } finally {
        await node.stop();
      }
    });
  }
  console.log(
    `\nMeans of ${EPOCHS - SETTLING_EPOCHS} epochs. Every ${SLOTS_PER_BLOCK} slots a block includes all attestations. Blocks are ` +
      `published without waiting for their slots of ${SECONDS_PER_SLOT} s. Per day is extrapolated.`,
  );
}

interface Written {
  /** Bytes that the process wrote, almost all to files. */
  written: number;
  /** Growth of the database files in bytes. */
  grown: number;
}

async function writtenByEpoch(node: ScaleNode, blocks: RecordedBlocks, database: string): Promise<Written[]> {
  const epochs: Written[] = [];
  let written = writtenBy(node.pid);
  let size = bytesIn(database);
  for (const slot of blocks.slots) {
    await blocks.publish(slot, node.restUrl);
    if (slot % SLOTS_PER_EPOCH !== 0) continue;
    const now = { written: writtenBy(node.pid), size: bytesIn(database) };
    epochs.push({ written: now.written - written, grown: now.size - size });
    written = now.written;
    size = now.size;
  }
  return epochs;
}

/** Bytes written since the start of the process (proc_pid_io(5)). */
function writtenBy(pid: number): number {
  const io = readFileSync(`/proc/${pid}/io`, "utf8");
  return Number(io.match(/^wchar: (\d+)$/m)?.[1]);
}
