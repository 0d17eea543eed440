import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { ValidatorIndex } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { Logger } from "../../log/logger.ts";

/** Validators selected by index or public key. The selected validators may not exist yet. */
export interface MonitorSelection {
  readonly indices: readonly ValidatorIndex[];
  /** 0x-prefixed hex. */
  readonly pubkeys: readonly string[];
}

const MAX_IN_LOG = 10;

/** Resolves selected validators to indices as they are added to the chain. */
export class MonitoredValidators {
  readonly #logger: Pick<Logger, "info" | "notice">;
  readonly #known = new Set<ValidatorIndex>();
  readonly #unknownIndices: Set<ValidatorIndex>;
  readonly #unknownPubkeys: Set<string>;
  #loggedUnknown = false;

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

  /** Resolves selected validators that have been unknown so far. */
  resolve({ validators, epochCtx }: CachedBeaconStateAllForks): void {
    for (const index of this.#unknownIndices) {
      if (index >= validators.length) continue;
      this.#unknownIndices.delete(index);
      this.#add(index);
    }
    for (const pubkey of this.#unknownPubkeys) {
      const bytes = fromHex(pubkey);
      const index = epochCtx.pubkeyCache.getIndex(bytes);
      // The cache includes keys from other branches.
      if (index === null || index >= validators.length) continue;
      if (Buffer.compare(validators.getReadonly(index).pubkey, bytes) !== 0) continue;
      this.#unknownPubkeys.delete(pubkey);
      this.#add(index, pubkey);
    }
    this.#logUnknown();
  }

  #add(validator: ValidatorIndex, pubkey?: string): void {
    this.#known.add(validator);
    if (this.#loggedUnknown) this.#logger.info("Found monitored validator", { validator, pubkey });
  }

  #logUnknown(): void {
    if (this.#loggedUnknown || this.unknownCount === 0) return;
    this.#loggedUnknown = true;
    const validators = [...this.#unknownIndices, ...this.#unknownPubkeys].slice(0, MAX_IN_LOG).join(" ");
    this.#logger.notice("Waiting for unknown monitored validators", {
      count: this.unknownCount,
      validators,
    });
  }
}
