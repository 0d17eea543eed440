import { join } from "node:path";
import type { SignedBeaconBlock } from "@lodestar/types";
import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import { LibraryImport } from "../import/library-import.ts";
import { PipelineImport } from "../import/pipeline-import.ts";
import type { RecordedChain } from "../import/record-chain.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

/** Milliseconds for each segment of the history: those that pass, and those that all processors spend on it. */
export interface WayTimes {
  name: string;
  blocks: number;
  elapsed: number[];
  spent: number[];
}

interface Way {
  name: string;
  take(segment: SignedBeaconBlock[]): Promise<void>;
  close(): Promise<void>;
}

/** Takes the history in all ways, segment by segment in turn, so that whatever disturbs the machine disturbs all. */
export function measure(recorded: RecordedChain, segmentLength: number): Promise<WayTimes[]> {
  return withTempDirectory(async (directory) => {
    const ways: Way[] = [
      libraryWay(recorded, "state transition, no signatures", { signatures: false }),
      libraryWay(recorded, "state transition, all signatures of a block in one batch", { signatures: true }),
    ];
    const times: WayTimes[] = [];
    try {
      for (const [name, sync] of [
        ["", false],
        [", writes synced to disk", true],
      ] as const) {
        ways.push(await oneByOne(await openPipeline(join(directory, `one-${sync}`), recorded, sync), name));
        ways.push(await bySegment(await openPipeline(join(directory, `segment-${sync}`), recorded, sync), name));
      }
      times.push(...ways.map(({ name }) => ({ name, blocks: recorded.blocks.length, elapsed: [], spent: [] })));
      for (let start = 0; start < recorded.blocks.length; start += segmentLength) {
        const bytes = recorded.blocks.slice(start, start + segmentLength);
        // Who comes after another finds the processor's caches filled, so they take turns at that, too.
        for (let turn = 0; turn < ways.length; turn++) {
          const index = (turn + start / segmentLength) % ways.length;
          const segment = bytes.map((block) => deserializeSignedBlock(recorded.config, block));
          const begin = performance.now();
          const spentBefore = process.cpuUsage();
          await ways[index]!.take(segment);
          times[index]!.elapsed.push(performance.now() - begin);
          const { user, system } = process.cpuUsage(spentBefore);
          times[index]!.spent.push((user + system) / 1000);
        }
      }
    } finally {
      for (const way of ways) await way.close();
    }
    return times;
  });
}

function libraryWay(recorded: RecordedChain, name: string, options: { signatures: boolean }): Way {
  const library = new LibraryImport(recorded, options);
  return {
    name,
    async take(segment) {
      for (const signed of segment) library.import(signed);
    },
    async close() {},
  };
}

/** The clock is at the end of the history, as it is for a node that has to catch up. */
async function openPipeline(directory: string, recorded: RecordedChain, sync: boolean): Promise<PipelineImport> {
  const pipeline = await PipelineImport.open(directory, recorded, { sync });
  await pipeline.tick(recorded.blocks.length);
  return pipeline;
}

async function oneByOne(pipeline: PipelineImport, suffix: string): Promise<Way> {
  return {
    name: `importBlock in a loop${suffix}`,
    async take(segment) {
      for (const signed of segment) await pipeline.import(signed);
    },
    close: () => pipeline.close(),
  };
}

async function bySegment(pipeline: PipelineImport, suffix: string): Promise<Way> {
  return {
    name: `importSegment${suffix}`,
    async take(segment) {
      const { imported } = await pipeline.chain.importSegment(segment);
      if (imported !== segment.length) throw new Error("A block of the history was known before it was imported.");
    },
    close: () => pipeline.close(),
  };
}
