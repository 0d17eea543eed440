/** Settings of the chain. Components receive the whole object and declare the fields they read with `Pick`. */
export interface ChainSettings {
  /** 32 bytes; undefined to use the client's name. */
  graffiti: Uint8Array | undefined;
  /** Appends client codes to the graffiti where they fit. */
  graffitiCodes: boolean;
  /** 20 bytes, for proposers without a preparation; undefined to use the zero address. */
  suggestedFeeRecipient: Uint8Array | undefined;
  /** Enables proposer reorgs: late blocks with few votes are reorged. */
  proposerReorgs: boolean;
  /** Runs the fast confirmation rule, whose block is the safe one; otherwise it is the justified block. */
  fastConfirmation: boolean;
  /** Minimum age of a merge transition block that is imported optimistically (sync/optimistic.md). */
  safeSlotsToImportOptimistically: number;
}

export const DEFAULT_CHAIN_SETTINGS: ChainSettings = {
  graffiti: undefined,
  graffitiCodes: true,
  suggestedFeeRecipient: undefined,
  proposerReorgs: true,
  fastConfirmation: true,
  safeSlotsToImportOptimistically: 128,
};
