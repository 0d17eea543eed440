import type { RootHex, Slot } from "@lodestar/types";
import { ChainFileError, EntryKind, readChainFile } from "./chain-file.ts";

// Must not import chain code: the header is read before the preset is known.

/** First entry of an exported chain. */
export interface ChainFileHeader {
  identity: unknown;
  finalized: { epoch: number; root: RootHex };
  /** Last slot reached by a dev chain's clock. */
  clockSlot: Slot | null;
}

const ROOT = /^0x[0-9a-f]{64}$/;

/** Reads the header of a chain file; throws a `ChainFileError`. */
export async function readChainFileHeader(path: string): Promise<ChainFileHeader> {
  for await (const { kind, bytes } of readChainFile(path)) {
    const header = kind === EntryKind.about ? parseHeader(new TextDecoder().decode(bytes)) : undefined;
    if (header) return header;
    break;
  }
  throw new ChainFileError("it has no valid chain header");
}

function parseHeader(json: string): ChainFileHeader | undefined {
  try {
    const { identity, finalized, clockSlot } = JSON.parse(json) as ChainFileHeader;
    const isValid =
      typeof identity === "object" &&
      identity !== null &&
      isNatural(finalized.epoch) &&
      ROOT.test(finalized.root) &&
      (clockSlot === null || isNatural(clockSlot));
    return isValid ? { identity, finalized, clockSlot } : undefined;
  } catch {
    return undefined;
  }
}

const isNatural = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
