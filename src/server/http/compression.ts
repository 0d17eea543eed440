import { promisify } from "node:util";
import { constants, createGzip, type Gzip, gzip } from "node:zlib";

/** Below this an answer fits into one packet either way. */
const COMPRESS_FROM_BYTES = 1400;

/** Hex compresses about as well at the lowest level, which takes a fraction of the time. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

const gzipWhole = promisify(gzip);

export const isWorthCompressing = (length: number): boolean => length >= COMPRESS_FROM_BYTES;

/** A body that is there as a whole; it is compressed in a thread. */
export const compressWhole = (body: Buffer): Promise<Buffer> => gzipWhole(body, OPTIONS);

/** For a body that comes in pieces. */
export const createCompressor = (): Gzip => createGzip(OPTIONS);
