import type { EngineClientVersion, ExecutionEngine } from "../../execution/engine.ts";
import { CLIENT_CODE, CLIENT_COMMIT } from "../../runtime/version.ts";
import type { ChainSettings } from "../settings.ts";

export const GRAFFITI_BYTES = 32;
const DEFAULT_TEXT = "Fanal";
/** Commit lengths to try, in digits, longest first. */
const COMMIT_DIGITS = [4, 2, 0];
const HEX_FORM = /^0x(?:[0-9a-f]{2})*$/i;

/**
 * Parses graffiti given as 0x-prefixed hex or as UTF-8 text, right-padded with zeros. Returns undefined if it is
 * invalid or too long.
 */
export function parseGraffiti(text: string): Uint8Array | undefined {
  // Cheap length check before encoding.
  if (text.length > 2 + 2 * GRAFFITI_BYTES) return undefined;
  const isHex = text.startsWith("0x");
  if (isHex && !HEX_FORM.test(text)) return undefined;
  return padGraffiti(isHex ? Buffer.from(text.slice(2), "hex") : Buffer.from(text, "utf8"));
}

function padGraffiti(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length > GRAFFITI_BYTES) return undefined;
  const graffiti = new Uint8Array(GRAFFITI_BYTES);
  graffiti.set(bytes);
  return graffiti;
}

interface GraffitiOptions {
  settings: Pick<ChainSettings, "graffiti" | "graffitiCodes">;
  engine?: Pick<ExecutionEngine, "clientVersion">;
}

/** Default graffiti for produced blocks. */
export class Graffiti {
  readonly #options: GraffitiOptions;
  #set: Uint8Array | undefined;

  constructor(options: GraffitiOptions) {
    this.#options = options;
  }

  get(): Uint8Array {
    return this.#set ?? this.#atStart();
  }

  /** Overrides the configured graffiti. */
  set(bytes: Uint8Array): void {
    this.#set = bytes;
  }

  #atStart(): Uint8Array {
    const { settings, engine } = this.#options;
    const { graffiti: chosen, graffitiCodes } = settings;
    const clientVersion = engine?.clientVersion;
    if (!graffitiCodes || !clientVersion) return chosen ?? parseGraffiti(DEFAULT_TEXT)!;
    return withCodes(chosen, clientVersion);
  }
}

/**
 * Appends the codes of the execution client and of this client, as in "mine GE168dFA0100" (Engine API,
 * `ClientVersionV1`). Shortens the commits to fit, or omits the codes if there is no room.
 */
function withCodes(chosen: Uint8Array = new Uint8Array(), { code, commit }: EngineClientVersion): Uint8Array {
  const text = chosen.subarray(0, chosen.findLastIndex((byte) => byte !== 0) + 1);
  const gap = text.length > 0 ? " " : "";
  const bareCommit = commit.replace(/^0x/, "");
  for (const digits of COMMIT_DIGITS) {
    const codes = `${gap}${code}${bareCommit.slice(0, digits)}${CLIENT_CODE}${CLIENT_COMMIT.slice(0, digits)}`;
    const graffiti = padGraffiti(Buffer.concat([text, Buffer.from(codes)]));
    if (graffiti) return graffiti;
  }
  return chosen;
}
