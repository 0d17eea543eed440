import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { Logger } from "../../log/logger.ts";

/** Validators by index or by public key. They need not be on the chain yet. */
export interface MonitorSelection {
  readonly indices: readonly ValidatorIndex[];
  /** In hexadecimal digits, with 0x. */
  readonly pubkeys: readonly string[];
}

const MOST_IN_LOG = 10;

/** Resolves the selected validators to indices as they come onto the chain. */
export class MonitoredValidators {
  readonly #logger: Pick<Logger, "info" | "notice">;
  readonly #known = new Set<ValidatorIndex>();
  readonly #unknownIndices: Set<ValidatorIndex>;
  readonly #unknownPubkeys: Set<string>;
  #toldOfUnknown = false;

  constructor({ indices, pubkeys }: MonitorSelection, logger: Pick<Logger, "info" | "notice">) {
    this.#unknownIndices = new Set(indices);
    this.#unknownPubkeys = new Set(pubkeys);
    this.#logger = logger;
  }

  get indices(): ReadonlySet<ValidatorIndex> {
    return this.#known;
  }

  get unknownCount(): number {
    return this.#unknownIndices.size + this.#unknownPubkeys.size;
  }

  /** Looks for the validators that were not on the chain so far. */
  resolve({ validators, epochCtx }: CachedBeaconStateAllForks): void {
    for (const index of this.#unknownIndices) {
      if (index >= validators.length) continue;
      this.#unknownIndices.delete(index);
      this.#add(index);
    }
    for (const pubkey of this.#unknownPubkeys) {
      const bytes = fromHex(pubkey);
      const index = epochCtx.pubkeyCache.getIndex(bytes);
      // The cache also holds keys of other branches.
      if (index === null || index >= validators.length) continue;
      if (Buffer.compare(validators.getReadonly(index).pubkey, bytes) !== 0) continue;
      this.#unknownPubkeys.delete(pubkey);
      this.#add(index, pubkey);
    }
    this.#tellOfUnknown();
  }

  #add(validator: ValidatorIndex, pubkey?: string): void {
    this.#known.add(validator);
    if (this.#toldOfUnknown) this.#logger.info("Found monitored validator", { validator, pubkey });
  }

  #tellOfUnknown(): void {
    if (this.#toldOfUnknown || this.unknownCount === 0) return;
    this.#toldOfUnknown = true;
    const validators = [...this.#unknownIndices, ...this.#unknownPubkeys].slice(0, MOST_IN_LOG).join(" ");
    this.#logger.notice("Waiting for monitored validators that are not on the chain yet", {
      count: this.unknownCount,
      validators,
    });
  }
}
