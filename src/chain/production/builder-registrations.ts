import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { bellatrix, PubkeyHex, Slot } from "@lodestar/types";
import { type Builder, BuilderError } from "../../execution/builder/builder.ts";
import type { Logger } from "../../log/logger.ts";
import type { Clock } from "../clock/clock.ts";
import type { ProposerPreparations } from "./proposer-preparations.ts";

type Registration = bellatrix.SignedValidatorRegistrationV1;

interface BuilderRegistrationsParts {
  builder: Pick<Builder, "registerValidators">;
  clock: Clock;
  preparations: ProposerPreparations;
  logger: Logger;
}

/** Fits the request body limits of all builders. */
const BATCH_SIZE = 500;

/**
 * Forwards validator registrations to the builder: new registrations immediately, and all of them every epoch
 * (EPOCHS_PER_VALIDATOR_REGISTRATION_SUBMISSION in builder-specs is 1). Retries in the next slot if the builder does
 * not respond, and in the next epoch after a rejection.
 */
export class BuilderRegistrations {
  readonly #parts: BuilderRegistrationsParts;
  readonly #waiting = new Map<PubkeyHex, Registration>();
  #isPassing = false;
  #wasRefused = false;

  constructor(parts: BuilderRegistrationsParts) {
    this.#parts = parts;
  }

  /** Starts forwarding registrations. Returns a stop function. */
  start(): () => void {
    const { clock, preparations } = this.#parts;
    const ends = [
      preparations.onRegistration((pubkey, registration) => this.#add(pubkey, registration)),
      clock.onSlot((slot) => this.#onSlot(slot)),
    ];
    return () => {
      for (const end of ends) end();
      this.#waiting.clear();
    };
  }

  #onSlot(slot: Slot): void {
    const { clock, preparations } = this.#parts;
    if (slot % SLOTS_PER_EPOCH === 0) {
      for (const [pubkey, registration] of preparations.registrations(clock.currentEpoch)) {
        this.#add(pubkey, registration);
      }
    }
    this.#pass();
  }

  #add(pubkey: PubkeyHex, registration: Registration): void {
    this.#waiting.set(pubkey, registration);
    this.#pass();
  }

  /** Batches registrations received in the same turn of the event loop. */
  #pass(): void {
    if (this.#isPassing || this.#waiting.size === 0) return;
    this.#isPassing = true;
    setImmediate(() => void this.#passAll());
  }

  /** Never rejects. */
  async #passAll(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const batch = this.#nextBatch();
        await this.#passBatch(batch.map(([, registration]) => registration));
        for (const [pubkey, registration] of batch) {
          if (this.#waiting.get(pubkey) === registration) this.#waiting.delete(pubkey);
        }
      }
    } catch (error) {
      // The builder client already logs that the builder is unresponsive.
      if (!(error instanceof BuilderError)) {
        this.#parts.logger.error("Failed to forward registrations to the builder", { error });
      }
    } finally {
      this.#isPassing = false;
    }
  }

  #nextBatch(): [PubkeyHex, Registration][] {
    const batch: [PubkeyHex, Registration][] = [];
    for (const entry of this.#waiting) {
      if (batch.push(entry) === BATCH_SIZE) break;
    }
    return batch;
  }

  async #passBatch(registrations: Registration[]): Promise<void> {
    const { builder, logger } = this.#parts;
    try {
      await builder.registerValidators(registrations);
      logger.debug("Forwarded registrations to the builder", { count: registrations.length });
      this.#wasRefused = false;
    } catch (error) {
      if (!(error instanceof BuilderError && error.isRejection)) throw error;
      const fields = { count: registrations.length, reason: error.message };
      if (!this.#wasRefused) logger.warn("Builder rejected validator registrations", fields);
      this.#wasRefused = true;
    }
  }
}
