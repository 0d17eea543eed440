import type { RootHex, Slot } from "@lodestar/types";
import { ChainFileError, EntryKind, readChainFile } from "./chain-file.ts";

// Read before the preset is known, so this must not import chain code.

/** First entry of an exported chain. */
export interface ChainFileHeader {
  identity: unknown;
  finalized: { epoch: number; root: RootHex };
  /** Dev chains only: last slot of the clock. */
  clockSlot: Slot | null;
}

/** Reads the header of a chain file; throws a `ChainFileError`. */
export async function readChainFileHeader(path: string): Promise<ChainFileHeader> {
  for await (const { kind, bytes } of readChainFile(path)) {
    if (kind !== EntryKind.about) break;
    return JSON.parse(new TextDecoder().decode(bytes)) as ChainFileHeader;
  }
  throw new ChainFileError("it has no chain header");
}
