/** A value that is encoded as JSON already. */
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
