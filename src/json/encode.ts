/** Encodes a value as JSON. Throws for values that JSON cannot represent, such as `undefined` or a function. */
export function encodeJson(value: unknown): Buffer {
  const text = JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError(`A value of type ${typeof value} has no JSON form.`);
  }
  return Buffer.from(text);
}
