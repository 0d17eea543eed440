import { FlagValueError } from "./flag-values.ts";

const GRAFFITI_BYTES = 32;

/**
 * Graffiti is written either as `0x` and pairs of hex digits or as text, which is taken as UTF-8; both are filled up with
 * zero bytes on the right.
 */
export function parseGraffiti(text: string): Uint8Array {
  const isHex = text.startsWith("0x");
  if (isHex && !/^(?:[0-9a-f]{2})*$/i.test(text.slice(2))) {
    throw new FlagValueError(
      "what follows 0x must be an even number of hex digits (write plain text without 0x in front)",
    );
  }
  const bytes = isHex ? Buffer.from(text.slice(2), "hex") : Buffer.from(text, "utf8");
  if (bytes.length > GRAFFITI_BYTES) {
    throw new FlagValueError(`it must be at most ${GRAFFITI_BYTES} bytes, and it is ${bytes.length}`);
  }
  const graffiti = new Uint8Array(GRAFFITI_BYTES);
  graffiti.set(bytes);
  return graffiti;
}
