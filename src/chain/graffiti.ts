import type { EngineClientVersion, ExecutionEngine } from "../execution/engine.ts";
import { CLIENT_CODE, CLIENT_COMMIT } from "../runtime/version.ts";

export const GRAFFITI_BYTES = 32;
const DEFAULT_TEXT = "Fanal";
/** Of a commit in a graffiti, the more the better. */
const COMMIT_DIGITS = [4, 2, 0];
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

interface GraffitiOptions {
  /** What the user chose when the node was started. */
  chosen?: Uint8Array | undefined;
  /** Whether the clients are named where there is room; by default they are. */
  codes?: boolean | undefined;
  engine?: Pick<ExecutionEngine, "clientVersion">;
}

/** The graffiti of blocks that are produced without one of their own. */
export class Graffiti {
  readonly #options: GraffitiOptions;
  #set: Uint8Array | undefined;

  constructor(options: GraffitiOptions = {}) {
    this.#options = options;
  }

  get(): Uint8Array {
    return this.#set ?? this.#atStart();
  }

  /** From now on it is exactly that. */
  set(bytes: Uint8Array): void {
    this.#set = bytes;
  }

  #atStart(): Uint8Array {
    const { chosen, codes = true, engine } = this.#options;
    const clientVersion = engine?.clientVersion;
    if (!codes || !clientVersion) return chosen ?? parseGraffiti(DEFAULT_TEXT)!;
    return withCodes(chosen, clientVersion);
  }
}

/**
 * Names the execution client and this one behind what the user chose, as in "mine GE168dFA0001": with as many digits of their
 * commits as there is room for, and not at all where there is none for the codes. Other clients write it the same way.
 */
function withCodes(chosen: Uint8Array = new Uint8Array(), { code, commit }: EngineClientVersion): Uint8Array {
  const own = chosen.subarray(0, chosen.findLastIndex((byte) => byte !== 0) + 1);
  const gap = own.length > 0 ? " " : "";
  const bareCommit = commit.replace(/^0x/, "");
  for (const digits of COMMIT_DIGITS) {
    const codes = `${gap}${code}${bareCommit.slice(0, digits)}${CLIENT_CODE}${CLIENT_COMMIT.slice(0, digits)}`;
    const graffiti = padGraffiti(Buffer.concat([own, Buffer.from(codes)]));
    if (graffiti) return graffiti;
  }
  return chosen;
}
