import type { ChainTags } from "./block-id.ts";

const HASH_BYTES = 32;
const NAMES = ["latest", "safe", "finalized"] as const;
/** Hashes, followed by the timestamp of the next block. A timestamp of 0 means the default. */
const SLOT_BYTES = NAMES.length * HASH_BYTES + Float64Array.BYTES_PER_ELEMENT;
/** Version, padded to the alignment of the timestamps. */
const HEADER_BYTES = 8;

/**
 * A chain's tags in memory shared between threads. One thread sets the tags; all others see them at once. The version
 * selects one of two slots. Tags are written to the other slot, so a read is repeated only if the version changes in
 * the meantime.
 */
export class SharedTags {
  readonly memory: SharedArrayBuffer;
  readonly #version: Int32Array;
  /** The tags last read, with their version. */
  #read: { version: number; tags: ChainTags } | undefined;

  constructor(memory = new SharedArrayBuffer(HEADER_BYTES + 2 * SLOT_BYTES)) {
    this.memory = memory;
    this.#version = new Int32Array(memory, 0, 1);
  }

  /** Must be called from a single thread only. */
  set(tags: ChainTags): void {
    const version = (this.#version[0]! + 1) | 0;
    const { hashes, nextTimestamp } = this.#slot(version);
    for (const [index, name] of NAMES.entries()) {
      hashes.set(Buffer.from(tags[name].slice(2), "hex"), index * HASH_BYTES);
    }
    nextTimestamp[0] = tags.nextTimestamp ?? 0;
    Atomics.store(this.#version, 0, version);
  }

  get(): ChainTags {
    for (;;) {
      const version = Atomics.load(this.#version, 0);
      if (this.#read?.version === version) return this.#read.tags;
      const tags = this.#copy(version);
      if (Atomics.load(this.#version, 0) !== version) continue;
      this.#read = { version, tags };
      return tags;
    }
  }

  #copy(version: number): ChainTags {
    const { hashes, nextTimestamp } = this.#slot(version);
    const [latest, safe, finalized] = NAMES.map((_, index) => {
      const start = index * HASH_BYTES;
      return `0x${Buffer.from(hashes.subarray(start, start + HASH_BYTES)).toString("hex")}`;
    });
    const [timestamp] = nextTimestamp;
    return { latest: latest!, safe: safe!, finalized: finalized!, ...(timestamp && { nextTimestamp: timestamp }) };
  }

  #slot(version: number) {
    const start = HEADER_BYTES + (version & 1) * SLOT_BYTES;
    const hashes = new Uint8Array(this.memory, start, NAMES.length * HASH_BYTES);
    return { hashes, nextTimestamp: new Float64Array(this.memory, start + hashes.length, 1) };
  }
}
