import { ByteLru } from "../../../collections/byte-lru.ts";
import { toHex } from "../../execution/payload.ts";
import { isEmptyBloom } from "../../execution/receipt.ts";
import type { Keccak } from "../../state/trie.ts";
import type { BlockArchive, BloomedBlock } from "./block-archive.ts";

/** An archived block with logs. */
export interface BlockWithLogs {
  number: number;
  hash: string;
  logsBloom: Uint8Array;
}

/** Consecutive blocks, linked by hash. Only blocks with logs are listed. */
interface Section {
  parentHash: string;
  lastHash: string;
  lastNumber: number;
  withLogs: readonly BlockWithLogs[];
}

type Archive = Pick<BlockArchive, "has" | "blooms">;

export const BLOCKS_PER_SECTION = 128;
const MAX_BYTES = 32 * 2 ** 20;
const SECTION_BYTES = 500;
/** Estimated size of a block with logs: bloom, hash and objects. */
const BLOCK_BYTES = 700;

/** True if a block is known to be canonical without a look-up in the archive. */
type IsRecent = (number: number, hash: string) => boolean;

/**
 * Blooms of archived blocks, grouped into sections that are read on first use. A revert can replace archived blocks, so
 * a cached section is reused only if its last block is recent or still archived, or is the parent of a section known to
 * be archived. Hashes commit to ancestors, so this check covers the whole section.
 */
export class BloomIndex {
  readonly #archive: Archive;
  readonly #keccak: Keccak;
  readonly #sections: ByteLru<Section>;

  constructor(archive: Archive, keccak: Keccak, maxBytes = MAX_BYTES) {
    this.#archive = archive;
    this.#keccak = keccak;
    this.#sections = new ByteLru({ bytes: maxBytes });
  }

  /** Yields the blocks with logs in a range, section by section. */
  async *search(from: number, to: number, isRecent: IsRecent): AsyncGenerator<BlockWithLogs[]> {
    const [first, last] = [sectionOf(from), sectionOf(to)];
    await this.#dropReverted(first, last, isRecent);
    for (let section = first; section <= last; section++) {
      const end = Math.min(to, endOf(section));
      const cached = this.#sections.get(String(section));
      const withLogs = cached && cached.lastNumber >= end ? cached.withLogs : await this.#read(section);
      yield withLogs.filter(({ number }) => number >= from && number <= end);
    }
  }

  /** Drops cached sections that are no longer archived. */
  async #dropReverted(first: number, last: number, isRecent: IsRecent): Promise<void> {
    let next: Section | undefined;
    for (let section = last; section >= first; section--) {
      const cached = this.#sections.get(String(section));
      const isArchived =
        cached &&
        (cached.lastHash === next?.parentHash ||
          isRecent(cached.lastNumber, cached.lastHash) ||
          (await this.#archive.has(cached.lastHash)));
      if (!isArchived) this.#sections.delete(String(section));
      next = isArchived ? cached : undefined;
    }
  }

  /** Reads a section, and caches it unless there is a gap before its last block. */
  async #read(section: number): Promise<readonly BlockWithLogs[]> {
    const start = endOf(section - 1) + 1;
    const blocks = await this.#archive.blooms(start, endOf(section));
    const hashOf = ({ header }: BloomedBlock) => toHex(this.#keccak(header));
    const withLogs = blocks
      .filter(({ logsBloom }) => !isEmptyBloom(logsBloom))
      // Copied, because a view would keep the whole block in memory.
      .map((block) => ({ number: block.number, hash: hashOf(block), logsBloom: block.logsBloom.slice() }));
    const [oldest, newest] = [blocks[0], blocks.at(-1)];
    if (oldest && newest && oldest.number === start && newest.number === start + blocks.length - 1) {
      const read = {
        parentHash: toHex(oldest.parentHash),
        lastHash: hashOf(newest),
        lastNumber: newest.number,
        withLogs,
      };
      this.#sections.set(String(section), read, SECTION_BYTES + withLogs.length * BLOCK_BYTES);
    }
    return withLogs;
  }
}

/** Genesis is not archived, so the first section starts with block 1. */
const sectionOf = (number: number): number => Math.floor((number - 1) / BLOCKS_PER_SECTION);
const endOf = (section: number): number => (section + 1) * BLOCKS_PER_SECTION;
