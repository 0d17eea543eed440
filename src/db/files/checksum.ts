import { crc32c } from "@node-rs/crc32";

/** LevelDB masks its CRCs, because the CRC of data that contains CRCs is weak (util/crc32c.h). */
const MASK_DELTA = 0xa282ead8;

/** Compares a masked CRC-32C from a LevelDB file with the checksum of the bytes. */
export function matchesChecksum(stored: number, bytes: Uint8Array): boolean {
  const checksum = crc32c(bytes);
  return (((checksum >>> 15) | (checksum << 17)) + MASK_DELTA) >>> 0 === stored;
}
