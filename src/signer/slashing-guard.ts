import type { ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { SlashingProtection } from "../dev/validators/slashing-protection.ts";
import type { SigningMessage } from "./signing-message.ts";

/** A message is not signed, since it could be slashable. */
export class SlashableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SlashableError";
  }
}

/**
 * Records messages in the slashing protection of the chain before they are signed. The same message may be signed
 * again, for a client that repeats a request.
 */
export class SlashingGuard {
  readonly #protection: SlashingProtection;
  /** Signing roots of the latest block and attestation of each validator. */
  readonly #latestRoots = { block: new Map<ValidatorIndex, string>(), attestation: new Map<ValidatorIndex, string>() };

  constructor(protection: SlashingProtection) {
    this.#protection = protection;
  }

  /** Resolves once the record is stored. Rejects with a `SlashableError` if the message must not be signed. */
  async record(index: ValidatorIndex, { signingRoot, slashable }: SigningMessage): Promise<void> {
    if (slashable === undefined) return;
    const roots = this.#latestRoots["block" in slashable ? "block" : "attestation"];
    const root = toHex(signingRoot);
    const conflict = this.#conflict(index, slashable);
    if (conflict === undefined) {
      if ("block" in slashable) this.#protection.recordProposal(index, slashable.block.slot);
      else this.#protection.recordAttestation(index, slashable.attestation);
      roots.set(index, root);
    } else if (roots.get(index) !== root) {
      throw new SlashableError(conflict);
    }
    await this.#protection.flush();
  }

  /** Returns why signing could be slashable; undefined if it is safe. */
  #conflict(index: ValidatorIndex, slashable: NonNullable<SigningMessage["slashable"]>): string | undefined {
    const { proposed, source, target } = this.#protection.latest(index);
    const refused = `Slashing protection: validator ${index} has already signed`;
    if ("block" in slashable) {
      const { slot } = slashable.block;
      return slot > proposed ? undefined : `${refused} a block for slot ${proposed}, and this one is for slot ${slot}.`;
    }
    const { attestation } = slashable;
    if (attestation.target.epoch > target && attestation.source.epoch >= source) return undefined;
    return (
      `${refused} an attestation with source ${source} and target ${target}, ` +
      `and this one has source ${attestation.source.epoch} and target ${attestation.target.epoch}.`
    );
  }
}
