import { crc32c } from "@node-rs/crc32";

const CHECKSUM_BYTES = 4;

/** Appends a CRC-32C checksum to a value. */
export function withChecksum(bytes: Uint8Array): Uint8Array {
  const value = new Uint8Array(bytes.length + CHECKSUM_BYTES);
  value.set(bytes);
  new DataView(value.buffer).setUint32(bytes.length, crc32c(bytes));
  return value;
}

/** Returns undefined if the checksum does not match. */
export function withoutChecksum(value: Uint8Array): Uint8Array | undefined {
  const length = value.length - CHECKSUM_BYTES;
  if (length < 0) return undefined;
  const bytes = value.subarray(0, length);
  const checksum = new DataView(value.buffer, value.byteOffset).getUint32(length);
  return checksum === crc32c(bytes) ? bytes : undefined;
}
