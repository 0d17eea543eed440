import { promisify } from "node:util";
import { constants, createGzip, type Gzip, gzip } from "node:zlib";

/** Smaller bodies fit into one packet even uncompressed. */
const COMPRESS_FROM_BYTES = 1400;

/** At the lowest level, hex compresses about as well as at others, in a fraction of the time. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

const gzipWhole = promisify(gzip);

export const isWorthCompressing = (length: number): boolean => length >= COMPRESS_FROM_BYTES;

/** Compresses a complete body in the thread pool. */
export const compressWhole = (body: Buffer): Promise<Buffer> => gzipWhole(body, OPTIONS);

/** Returns a compressor for a streamed body. */
export const createCompressor = (): Gzip => createGzip(OPTIONS);
