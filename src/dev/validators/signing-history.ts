import type { Epoch, phase0, Slot, ValidatorIndex } from "@lodestar/types";

/**
 * What each validator has signed, so that none signs anything slashable when a reorganisation changes its duties or a
 * slot is run twice. As in the minimal form of EIP-3076, only the latest slot and epochs are kept. It lives in memory:
 * the keys of a dev chain are public, there is no stake to protect beyond the run.
 */
export class SigningHistory {
  readonly #proposed = new Map<ValidatorIndex, Slot>();
  readonly #attested = new Map<ValidatorIndex, { source: Epoch; target: Epoch }>();

  /** Takes note of a block that is about to be signed; false when signing it would be slashable. */
  mayPropose(index: ValidatorIndex, slot: Slot): boolean {
    if (slot <= (this.#proposed.get(index) ?? -1)) return false;
    this.#proposed.set(index, slot);
    return true;
  }

  /** Takes note of an attestation that is about to be signed; false when signing it could be slashable. */
  mayAttest(index: ValidatorIndex, { source, target }: phase0.AttestationData): boolean {
    const last = this.#attested.get(index);
    if (last && (target.epoch <= last.target || source.epoch < last.source)) return false;
    this.#attested.set(index, { source: source.epoch, target: target.epoch });
    return true;
  }
}
