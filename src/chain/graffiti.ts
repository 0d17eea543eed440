export const GRAFFITI_BYTES = 32;
const DEFAULT_TEXT = "Fanal";
const HEX_FORM = /^0x(?:[0-9a-f]{2})*$/i;

/**
 * Graffiti is written as `0x` and pairs of hex digits or as text, which is taken as UTF-8; both are filled up with zero
 * bytes on the right. Undefined for what is neither or does not fit.
 */
export function parseGraffiti(written: string): Uint8Array | undefined {
  // Nothing longer than 32 bytes in hex can fit, so it need not be encoded to be refused.
  if (written.length > 2 + 2 * GRAFFITI_BYTES) return undefined;
  const isHex = written.startsWith("0x");
  if (isHex && !HEX_FORM.test(written)) return undefined;
  return padGraffiti(isHex ? Buffer.from(written.slice(2), "hex") : Buffer.from(written, "utf8"));
}

export function padGraffiti(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length > GRAFFITI_BYTES) return undefined;
  const graffiti = new Uint8Array(GRAFFITI_BYTES);
  graffiti.set(bytes);
  return graffiti;
}

/** The graffiti of blocks that are produced without one of their own. */
export class Graffiti {
  #bytes: Uint8Array;

  constructor(bytes = parseGraffiti(DEFAULT_TEXT)!) {
    this.#bytes = bytes;
  }

  get(): Uint8Array {
    return this.#bytes;
  }

  set(bytes: Uint8Array): void {
    this.#bytes = bytes;
  }
}
