import type { ValidatorIndex } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import type { SlashingProtection } from "../dev/validators/slashing-protection.ts";
import type { SigningMessage } from "./signing-message.ts";

/** Thrown instead of signing a message that could be slashable. */
export class SlashableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SlashableError";
  }
}

type Slashable = NonNullable<SigningMessage["slashable"]>;

interface Signed {
  signingRoot: string;
  slashable: Slashable;
}

/**
 * Records messages in the chain's slashing protection before they are signed. A repeated request may sign the same
 * message again.
 */
export class SlashingGuard {
  readonly #protection: SlashingProtection;
  /** Latest signed block and attestation per validator. */
  readonly #latest = { block: new Map<ValidatorIndex, Signed>(), attestation: new Map<ValidatorIndex, Signed>() };

  constructor(protection: SlashingProtection) {
    this.#protection = protection;
  }

  /** Resolves once the record is stored. Rejects with a `SlashableError` if the message must not be signed. */
  async record(index: ValidatorIndex, { signingRoot, slashable }: SigningMessage): Promise<void> {
    if (slashable === undefined) return;
    const latest = this.#latest["block" in slashable ? "block" : "attestation"];
    const previous = latest.get(index);
    const current: Signed = { signingRoot: toHex(signingRoot), slashable };
    const conflict = this.#conflict(index, slashable, () => difference(previous, current));
    if (conflict === undefined) {
      if ("block" in slashable) this.#protection.recordProposal(index, slashable.block.slot);
      else this.#protection.recordAttestation(index, slashable.attestation);
      latest.set(index, current);
    } else if (previous?.signingRoot !== current.signingRoot) {
      throw new SlashableError(`Slashing protection: validator ${index} has already signed ${conflict}.`);
    }
    await this.#protection.flush();
  }

  /** Describes the earlier message that makes signing slashable; returns undefined if signing is safe. */
  #conflict(index: ValidatorIndex, slashable: Slashable, differs: () => string): string | undefined {
    const { proposed, source, target } = this.#protection.latest(index);
    if ("block" in slashable) {
      const { slot } = slashable.block;
      if (slot > proposed) return undefined;
      const before = `a block for slot ${proposed}`;
      return slot === proposed ? `${before}, ${differs()}` : `${before}, and this one is for slot ${slot}`;
    }
    const { attestation } = slashable;
    const epochs = { source: attestation.source.epoch, target: attestation.target.epoch };
    if (epochs.target > target && epochs.source >= source) return undefined;
    const before = `an attestation with source ${source} and target ${target}`;
    return epochs.source === source && epochs.target === target
      ? `${before}, ${differs()}`
      : `${before}, and this one has source ${epochs.source} and target ${epochs.target}`;
  }
}

/** Describes the root in which two messages for the same slot or epochs differ. */
function difference(previous: Signed | undefined, current: Signed): string {
  const previousRoots = new Map(previous && rootsOf(previous));
  const isSameDuty = previous !== undefined && dutyOf(previous.slashable) === dutyOf(current.slashable);
  const changedRoot = isSameDuty
    ? rootsOf(current).find(([name, root]) => previousRoots.get(name) !== root)
    : undefined;
  if (changedRoot === undefined) return "which may be another message than this one";
  const [name, root] = changedRoot;
  return `whose ${name} is ${previousRoots.get(name)}, not ${root}`;
}

function dutyOf(slashable: Slashable): string {
  if ("block" in slashable) return String(slashable.block.slot);
  return `${slashable.attestation.source.epoch}-${slashable.attestation.target.epoch}`;
}

function rootsOf({ signingRoot, slashable }: Signed): [name: string, root: string][] {
  const ofMessage: [name: string, root: string][] = [["signing root", signingRoot]];
  if ("block" in slashable) return ofMessage;
  const { beaconBlockRoot, source, target } = slashable.attestation;
  return [
    ["beacon_block_root", toHex(beaconBlockRoot)],
    ["target root", toHex(target.root)],
    ["source root", toHex(source.root)],
    ...ofMessage,
  ];
}
