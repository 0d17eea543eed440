import { promisify } from "node:util";
import { constants, createGzip, type Gzip, gzip } from "node:zlib";

/** Smaller bodies fit into one packet even if they are not compressed. */
const COMPRESS_FROM_BYTES = 1400;

/** On hex digits, the lowest level compresses almost as well as higher ones and is much faster. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

const gzipWhole = promisify(gzip);

export const isWorthCompressing = (length: number): boolean => length >= COMPRESS_FROM_BYTES;

/** Compresses a complete body, using the thread pool. */
export const compressWhole = (body: Buffer): Promise<Buffer> => gzipWhole(body, OPTIONS);

/** Returns a compressor for a streamed body. */
export const createCompressor = (): Gzip => createGzip(OPTIONS);
