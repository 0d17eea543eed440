const GRAFFITI_BYTES = 32;

/** The graffiti of blocks that are produced without one of their own. */
export class Graffiti {
  #bytes: Uint8Array;

  constructor(bytes: Uint8Array = new Uint8Array(GRAFFITI_BYTES)) {
    this.#bytes = bytes;
  }

  get(): Uint8Array {
    return this.#bytes;
  }

  set(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }
}
