import type { RootHex, Slot } from "@lodestar/types";
import { ChainFileError, EntryKind, readChainFile } from "./chain-file.ts";

// Read before the preset is known, so nothing here may load the code of chains.

/** The first entry of an exported chain. */
export interface AboutChain {
  identity: unknown;
  finalized: { epoch: number; root: RootHex };
  /** Only of a dev chain: the slot that its clock had reached. */
  clockSlot: Slot | null;
}

/** What a file says of its chain; throws a `ChainFileError`. */
export async function readAbout(path: string): Promise<AboutChain> {
  for await (const { kind, bytes } of readChainFile(path)) {
    if (kind !== EntryKind.about) break;
    return JSON.parse(new TextDecoder().decode(bytes)) as AboutChain;
  }
  throw new ChainFileError("it does not say which chain it holds");
}
