import { join } from "node:path";
import type { SignedBeaconBlock } from "@lodestar/types";
import { deserializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import { LibraryImport } from "../import/library-import.ts";
import { PipelineImport } from "../import/pipeline-import.ts";
import type { RecordedChain } from "../import/record-chain.ts";
import { withTempDirectory } from "../support/temp-directory.ts";

/** Wall time and CPU time of all threads per segment, in milliseconds. */
export interface VariantTimes {
  name: string;
  blocks: number;
  elapsed: number[];
  spent: number[];
}

interface Variant {
  name: string;
  take(segment: SignedBeaconBlock[]): Promise<void>;
  close(): Promise<void>;
}

/** Imports the history in all variants, segment by segment in turn, so that noise affects all. */
export function measure(recorded: RecordedChain, segmentLength: number): Promise<VariantTimes[]> {
  return withTempDirectory(async (directory) => {
    const variants: Variant[] = [
      libraryVariant(recorded, "library: transition, no signatures", { signatures: false }),
      libraryVariant(recorded, "library: signatures of a block in one batch", { signatures: true }),
    ];
    const times: VariantTimes[] = [];
    try {
      for (const [name, sync] of [
        ["", false],
        [", writes synced to disk", true],
      ] as const) {
        variants.push(await oneByOne(await openPipeline(join(directory, `one-${sync}`), recorded, sync), name));
        variants.push(await bySegment(await openPipeline(join(directory, `segment-${sync}`), recorded, sync), name));
      }
      times.push(...variants.map(({ name }) => ({ name, blocks: recorded.blocks.length, elapsed: [], spent: [] })));
      for (let start = 0; start < recorded.blocks.length; start += segmentLength) {
        const bytes = recorded.blocks.slice(start, start + segmentLength);
        // Later variants find warm CPU caches, so the order rotates.
        for (let turn = 0; turn < variants.length; turn++) {
          const index = (turn + start / segmentLength) % variants.length;
          const segment = bytes.map((block) => deserializeSignedBlock(recorded.config, block));
          const begin = performance.now();
          const spentBefore = process.cpuUsage();
          await variants[index]!.take(segment);
          times[index]!.elapsed.push(performance.now() - begin);
          const { user, system } = process.cpuUsage(spentBefore);
          times[index]!.spent.push((user + system) / 1000);
        }
      }
    } finally {
      for (const variant of variants) await variant.close();
    }
    return times;
  });
}

function libraryVariant(recorded: RecordedChain, name: string, options: { signatures: boolean }): Variant {
  const library = new LibraryImport(recorded, options);
  return {
    name,
    async take(segment) {
      for (const signed of segment) library.import(signed);
    },
    async close() {},
  };
}

/** Opens a pipeline with the clock at the end of the history, as during sync. */
async function openPipeline(directory: string, recorded: RecordedChain, sync: boolean): Promise<PipelineImport> {
  const pipeline = await PipelineImport.open(directory, recorded, { sync });
  await pipeline.tick(recorded.blocks.length);
  return pipeline;
}

async function oneByOne(pipeline: PipelineImport, suffix: string): Promise<Variant> {
  return {
    name: `importBlock in a loop${suffix}`,
    async take(segment) {
      for (const signed of segment) await pipeline.import(signed);
    },
    close: () => pipeline.close(),
  };
}

async function bySegment(pipeline: PipelineImport, suffix: string): Promise<Variant> {
  return {
    name: `importSegment${suffix}`,
    async take(segment) {
      const { imported } = await pipeline.chain.importSegment(segment);
      if (imported !== segment.length) throw new Error("A block of the history was already known.");
    },
    close: () => pipeline.close(),
  };
}
