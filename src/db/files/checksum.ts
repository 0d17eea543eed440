import { crc32c } from "@node-rs/crc32";

/** LevelDB stores checksums in a form that is no checksum of the bytes beside it, as those may hold checksums themselves. */
const MASK_DELTA = 0xa282ead8;

/** Whether a masked CRC-32C, as it lies in a file of LevelDB, is that of the bytes. */
export function checksumFits(stored: number, bytes: Uint8Array): boolean {
  const checksum = crc32c(bytes);
  return (((checksum >>> 15) | (checksum << 17)) + MASK_DELTA) >>> 0 === stored;
}
