const GRAFFITI_BYTES = 32;
const DEFAULT_TEXT = "Fanal";

/** The graffiti of blocks that are produced without one of their own. */
export class Graffiti {
  #bytes: Uint8Array;

  constructor(bytes: Uint8Array = padded(DEFAULT_TEXT)) {
    this.#bytes = bytes;
  }

  get(): Uint8Array {
    return this.#bytes;
  }

  set(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }
}

function padded(text: string): Uint8Array {
  const bytes = new Uint8Array(GRAFFITI_BYTES);
  new TextEncoder().encodeInto(text, bytes);
  return bytes;
}
