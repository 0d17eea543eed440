import { type ChainSettings, DEFAULT_CHAIN_SETTINGS } from "../../../chain/settings.ts";
import { booleanFlag, type FlagsOf, valueFlag } from "../flag.ts";
import { feeRecipient, graffiti, wholeNumber } from "../flag-values.ts";

const { graffitiCodes, proposerReorgs, fastConfirmation, safeSlotsToImportOptimistically } = DEFAULT_CHAIN_SETTINGS;

/** Chain flags specific to `fanal node`. */
export const NETWORK_CHAIN_FLAGS = {
  safeSlotsToImportOptimistically: valueFlag({
    name: "safe-slots-to-import-optimistically",
    kind: "number",
    placeholder: "SLOTS",
    description: "Minimum age of a merge block to import it optimistically (sync/optimistic.md)",
    fallback: safeSlotsToImportOptimistically,
    parse: wholeNumber(0),
  }),
} as const satisfies Partial<FlagsOf<ChainSettings>>;

/** Chain flags for all nodes. Together with `NETWORK_CHAIN_FLAGS`, they cover all fields of the settings. */
export const CHAIN_FLAGS = {
  graffiti: valueFlag({
    name: "graffiti",
    kind: "text",
    placeholder: "TEXT",
    description: "Graffiti of proposed blocks: text of at most 32 bytes, or 0x and at most 64 hex digits",
    fallback: undefined,
    parse: graffiti,
  }),
  graffitiCodes: booleanFlag({
    name: "graffiti-codes",
    description: "Append the client versions to the graffiti of proposed blocks, as in GE168dFA0100, if they fit",
    fallback: graffitiCodes,
  }),
  suggestedFeeRecipient: valueFlag({
    name: "suggested-fee-recipient",
    kind: "text",
    placeholder: "ADDRESS",
    description: "Fee recipient for proposers that the validator client has not prepared; the zero address by default",
    fallback: undefined,
    parse: feeRecipient,
  }),
  proposerReorgs: booleanFlag({
    name: "proposer-reorgs",
    description: "Reorg late heads with few votes: build on their parent (proposer boost reorg)",
    fallback: proposerReorgs,
  }),
  fastConfirmation: booleanFlag({
    name: "fast-confirmation",
    description: "Report the block of the fast confirmation rule as safe, instead of the justified block",
    fallback: fastConfirmation,
  }),
} as const satisfies FlagsOf<Omit<ChainSettings, keyof typeof NETWORK_CHAIN_FLAGS>>;
