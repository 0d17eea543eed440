import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type bellatrix, ssz } from "@lodestar/types";
import { beforeEach, describe, expect, it } from "vitest";
import { createRecordingLogger, type RecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { flushPromises } from "../../../test/support/time/fake-timers.ts";
import { BuilderError } from "../../execution/builder/builder.ts";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { BuilderRegistrations } from "./builder-registrations.ts";
import { ProposerPreparations } from "./proposer-preparations.ts";

function registration(validator: number, timestamp = 1): bellatrix.SignedValidatorRegistrationV1 {
  const registration = ssz.bellatrix.SignedValidatorRegistrationV1.defaultValue();
  new DataView(registration.message.pubkey.buffer).setUint32(0, validator);
  registration.message.timestamp = timestamp;
  return registration;
}

describe("BuilderRegistrations", () => {
  let clock: VirtualClock;
  let preparations: ProposerPreparations;
  let logger: RecordingLogger;
  /** Batches received by the builder. */
  let batches: bellatrix.SignedValidatorRegistrationV1[][];
  let failure: BuilderError | undefined;

  beforeEach(() => {
    clock = new VirtualClock({ genesisTime: 0, secondsPerSlot: 1, startSlot: 0, speed: 1, onListenerError() {} });
    preparations = new ProposerPreparations();
    logger = createRecordingLogger();
    batches = [];
    failure = undefined;
    const builder = {
      async registerValidators(batch: bellatrix.SignedValidatorRegistrationV1[]) {
        if (failure) throw failure;
        batches.push(batch);
      },
    };
    new BuilderRegistrations({ builder, clock, preparations, logger }).start();
  });

  const sizes = () => batches.map(({ length }) => length);
  const register = async (...validators: number[]) => {
    for (const validator of validators) preparations.register(registration(validator), clock.currentEpoch);
    await flushPromises();
    await flushPromises();
  };
  const reach = async (slot: number) => {
    await clock.advanceTo(slot);
    await flushPromises();
    await flushPromises();
  };

  it("forwards registrations in batches", async () => {
    await register(...Array.from({ length: 1001 }, (_, validator) => validator));
    expect(sizes()).toEqual([500, 500, 1]);
  });

  it("forwards them again each epoch until they expire", async () => {
    await register(1, 2);
    await reach(SLOTS_PER_EPOCH - 1);
    expect(sizes()).toEqual([2]);
    for (const epoch of [1, 2, 3]) await reach(epoch * SLOTS_PER_EPOCH);
    expect(sizes()).toEqual([2, 2, 2]);
  });

  it("retries while the builder is unresponsive", async () => {
    failure = new BuilderError("It is away.");
    await register(1);
    preparations.register(registration(1, 2), 0);
    failure = undefined;
    await reach(1);
    expect(batches.flat().map(({ message }) => message.timestamp)).toEqual([2]);
    expect(logger.records.filter(({ level }) => level !== "debug")).toEqual([]);
  });

  it("retries rejected registrations in the next epoch and logs once", async () => {
    failure = new BuilderError("They are wrong.", { isRejection: true });
    await register(1);
    await register(2);
    await reach(1);
    expect(logger.records).toMatchObject([{ level: "warn", fields: { count: 1, reason: "They are wrong." } }]);
    failure = undefined;
    await reach(2);
    expect(sizes()).toEqual([]);
    await reach(SLOTS_PER_EPOCH);
    expect(sizes()).toEqual([2]);
  });
});
