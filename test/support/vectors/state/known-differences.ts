import type { VectorCase } from "../vector-case.ts";

interface KnownDifference {
  /** How the run of the case fails. */
  failure: RegExp;
  reason: string;
}

const ACCEPTED = /was accepted/;
const UNCHECKED_INDEX = /^Cannot read properties of undefined/;
const SWEEP = "The library reduces an index of the sweep by the length. The transition itself keeps it in range.";

/**
 * Cases of gloas in which the library's transition differs from the specification, by runner and case. A chain cannot
 * reach the accepted ones, and a block whose transition throws a TypeError is rejected like any invalid block
 * (src/chain/import/apply-block.ts).
 */
const KNOWN_DIFFERENCES: Readonly<Record<string, KnownDifference>> = {
  "operations/withdrawals/invalid_builder_index_sweep": { failure: ACCEPTED, reason: SWEEP },
  "operations/withdrawals/invalid_validator_index_sweep": { failure: ACCEPTED, reason: SWEEP },
  "operations/withdrawals/invalid_validator_index_pending_partial": {
    failure: UNCHECKED_INDEX,
    reason: "The library does not check the bounds of the registry before it reads a validator.",
  },
  "operations/proposer_slashing/invalid_incorrect_proposer_index": {
    failure: UNCHECKED_INDEX,
    reason: "As above; gossip and API check the index themselves (src/chain/validation/proposer-slashing.ts).",
  },
  "epoch_processing/registry_updates/invalid_large_withdrawable_epoch": {
    failure: ACCEPTED,
    reason: "Epochs are numbers, so there is no overflow of 64 bits. It needs an exit epoch near 2^64.",
  },
};

export const knownDifference = ({ path, id }: VectorCase): KnownDifference | undefined =>
  path.fork === "gloas" ? KNOWN_DIFFERENCES[`${path.runner}/${id}`] : undefined;
