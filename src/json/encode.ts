/** The JSON bytes of a value. A value without a JSON form (`undefined`, a function) is a mistake of the caller. */
export function encodeJson(value: unknown): Buffer {
  const text = JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError(`A value of type ${typeof value} has no JSON form; an answer must be a JSON value.`);
  }
  return Buffer.from(text);
}
