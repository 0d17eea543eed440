/** A value that is already encoded as JSON. */
export class JsonBytes {
  readonly buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns the value. */
  parse(): unknown {
    return JSON.parse(this.buffer.toString("utf8"));
  }
}
