type Value = Uint8Array | readonly Uint8Array[] | readonly number[] | readonly boolean[];

/**
 * Copies all bytes of a record into one transferable buffer. Posting the record itself would copy every array
 * separately, and every view together with its whole buffer.
 */
export function packBuffers<T extends { [Key in keyof T]: Value }>(record: T): { record: T; buffer: ArrayBuffer } {
  const values: [string, Value][] = Object.entries(record);
  const size = values.flatMap(([, value]) => bytesOf(value)).reduce((sum, { length }) => sum + length, 0);
  const buffer = new ArrayBuffer(size);
  let end = 0;
  const copy = (bytes: Uint8Array) => {
    const target = new Uint8Array(buffer, end, bytes.length);
    target.set(bytes);
    end += bytes.length;
    return target;
  };
  const copies = values.map(([key, value]) => {
    if (value instanceof Uint8Array) return [key, copy(value)];
    return [key, isBytes(value) ? value.map(copy) : value];
  });
  return { record: Object.fromEntries(copies) as T, buffer };
}

function bytesOf(value: Value): readonly Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  return isBytes(value) ? value : [];
}

function isBytes(value: Exclude<Value, Uint8Array>): value is readonly Uint8Array[] {
  return value[0] instanceof Uint8Array;
}
