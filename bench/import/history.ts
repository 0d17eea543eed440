import { join } from "node:path";
import type { SignedBeaconBlock } from "@lodestar/types";
import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import { sum } from "../support/statistics.ts";
import { printHeader, printRow } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { LibraryImport } from "./library-import.ts";
import { PipelineImport } from "./pipeline-import.ts";
import type { RecordedChain } from "./record-chain.ts";

/** Blocks of a batch of range sync: four epochs of the minimal preset. */
const SEGMENT_LENGTH = 32;

type TakeSegment = (segment: SignedBeaconBlock[]) => Promise<void>;

/** Imports a history block by block and by segments, and with the library alone. All signatures are verified. */
export function benchHistory(recorded: RecordedChain): Promise<void> {
  return withTempDirectory(async (directory) => {
    const open = async (name: string) => {
      const pipeline = await PipelineImport.open(join(directory, name), recorded, { sync: false });
      // The clock is at the end of the history, as during sync.
      await pipeline.tick(recorded.blocks.length);
      return pipeline;
    };
    const [one, segments] = [await open("blocks"), await open("segments")];
    try {
      await measure(recorded, {
        "library: transition, no signatures": byLibrary(recorded, { signatures: false }),
        "library: signatures of a block in one batch": byLibrary(recorded, { signatures: true }),
        "importBlock in a loop": async (segment) => {
          for (const signed of segment) await one.import(signed);
        },
        importSegment: async (segment) => {
          const { imported } = await segments.chain.importSegment(segment);
          if (imported !== segment.length) throw new Error("A block of the history was already known.");
        },
      });
    } finally {
      await one.close();
      await segments.close();
    }
  });
}

function byLibrary(recorded: RecordedChain, options: { signatures: boolean }): TakeSegment {
  const library = new LibraryImport(recorded, options);
  return async (segment) => {
    for (const signed of segment) library.import(signed);
  };
}

/** Imports segment by segment in turn, so that noise affects all. Later ones find warm caches, so the order rotates. */
async function measure(
  { config, blocks }: RecordedChain,
  variants: Readonly<Record<string, TakeSegment>>,
): Promise<void> {
  const measured = Object.entries(variants).map(([name, take]) => ({
    name,
    take,
    elapsed: [] as number[],
    spent: [] as number[],
  }));
  for (let start = 0, turn = 0; start < blocks.length; start += SEGMENT_LENGTH, turn++) {
    const bytes = blocks.slice(start, start + SEGMENT_LENGTH);
    for (const [position] of measured.entries()) {
      const { take, elapsed, spent } = measured[(position + turn) % measured.length]!;
      const segment = bytes.map((block) => deserializeSignedBlock(config, block));
      const begin = performance.now();
      const before = process.cpuUsage();
      await take(segment);
      elapsed.push(performance.now() - begin);
      const { user, system } = process.cpuUsage(before);
      spent.push((user + system) / 1000);
    }
  }
  printHeader(`${blocks.length} blocks of history`, "blocks/s", "CPU ms per block");
  for (const { name, elapsed, spent } of measured) {
    printRow(name, ((1000 * blocks.length) / sum(elapsed)).toFixed(0), (sum(spent) / blocks.length).toFixed(2));
  }
}
