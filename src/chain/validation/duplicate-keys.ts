import type { Epoch, RootHex, Slot, ValidatorIndex } from "@lodestar/types";
import { LruMap } from "../../collections/lru-map.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { AttachedValidators } from "../subscriptions/attached-validators.ts";

/**
 * Limits the log lines per epoch if a whole set of keys runs twice. The remaining validators are logged in later
 * epochs.
 */
const LINES_PER_EPOCH = 8;
const MAX_VALIDATORS = 200_000;

interface DuplicateKeysParts {
  attached: Pick<AttachedValidators, "has" | "ownSince" | "isEmpty">;
  clock: Pick<Clock, "currentEpoch">;
  logger: Pick<Logger, "error">;
}

type DutyKind = "attestation" | "block";

/** A message validly signed by the validator. */
export interface SignedDuty {
  validator: ValidatorIndex;
  kind: DutyKind;
  slot: Slot;
  /** Root of the block or of the attestation data. */
  root: RootHex;
}

/**
 * Detects that keys of this node's validators also sign elsewhere. Callers verify signatures first, so that peers
 * cannot forge evidence.
 *
 * For keys held by validator clients, only two different messages for one duty are evidence, because a client may use
 * several beacon nodes. In-process keys sign only here, so any message that this node did not create is evidence.
 */
export class DuplicateKeys {
  readonly #parts: DuplicateKeysParts;
  readonly #reported = new LruMap<ValidatorIndex, true>(MAX_VALIDATORS);
  readonly #counts: Record<DutyKind, number> = { attestation: 0, block: 0 };
  #lines: { epoch: Epoch; count: number } = { epoch: 0, count: 0 };

  constructor(parts: DuplicateKeysParts) {
    this.#parts = parts;
  }

  /** False if no validator is connected to this node, in which case individual checks are skipped. */
  get isWatching(): boolean {
    return !this.#parts.attached.isEmpty;
  }

  /** Number of messages that proved a duplicate key, by kind. */
  get counts(): Readonly<Record<DutyKind, number>> {
    return this.#counts;
  }

  /** Returns true if the validator is connected to this node. */
  watches(validator: ValidatorIndex): boolean {
    return this.#parts.attached.has(validator, this.#parts.clock.currentEpoch);
  }

  /**
   * Reports a message that conflicts with an earlier one for the same duty. `first` is the root of the earlier message.
   */
  conflict(duty: SignedDuty, first: RootHex): void {
    this.#report(duty, first);
  }

  /** Reports a new message from the network. */
  received(duty: SignedDuty): void {
    const since = this.#parts.attached.ownSince(duty.validator);
    // This node may have signed duties up to that slot before a restart.
    if (since !== undefined && duty.slot > since) this.#report(duty);
  }

  #report({ validator, kind, slot, root }: SignedDuty, first?: RootHex): void {
    this.#counts[kind]++;
    if (this.#reported.get(validator) || !this.#mayLog()) return;
    this.#reported.set(validator, true);
    this.#parts.logger.error(
      "Validator key is also used elsewhere; stop one instance now or the validator will be slashed",
      { validator, seen: kind, slot, root, conflictsWith: first },
    );
  }

  #mayLog(): boolean {
    const epoch = this.#parts.clock.currentEpoch;
    if (this.#lines.epoch !== epoch) this.#lines = { epoch, count: 0 };
    return this.#lines.count++ < LINES_PER_EPOCH;
  }
}
