/** Range of keys within a bucket, in byte order. */
export interface KeyRange {
  gt?: Uint8Array;
  gte?: Uint8Array;
  lt?: Uint8Array;
  lte?: Uint8Array;
  reverse?: boolean;
  limit?: number;
}

export type LevelBounds = Omit<KeyRange, "limit"> & { reverse: boolean };

/** Prepends the bucket's byte to a key. */
export function prefixed(bucket: number, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + key.length);
  bytes[0] = bucket;
  bytes.set(key, 1);
  return bytes;
}

/** Converts a range to LevelDB bounds on prefixed keys. */
export function levelRange(
  bucket: number,
  { gt, gte, lt, lte, reverse = false, limit = -1 }: KeyRange,
): LevelBounds & { limit: number } {
  const lower = gt ? { gt: prefixed(bucket, gt) } : { gte: prefixed(bucket, gte ?? new Uint8Array()) };
  if (lt) return { ...lower, lt: prefixed(bucket, lt), reverse, limit };
  if (lte) return { ...lower, lte: prefixed(bucket, lte), reverse, limit };
  return { ...lower, lt: Uint8Array.of(bucket + 1), reverse, limit };
}
