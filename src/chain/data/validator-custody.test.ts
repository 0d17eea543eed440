import { createBeaconConfig } from "@lodestar/config";
import { EFFECTIVE_BALANCE_INCREMENT } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { yieldToEventLoop } from "../../async/time-slice.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { ChainEvents } from "../events.ts";
import { ProposerPreparations } from "../production/proposer-preparations.ts";
import { AttachedValidators } from "../subscriptions/attached-validators.ts";
import { Custody } from "./custody.ts";
import { ValidatorCustody } from "./validator-custody.ts";

const forks = [{ fork: "fulu", epoch: 4 } as const];
const config = createBeaconConfig(devChainConfig({ forks, slotSeconds: 6, genesisTime: 0 }), new Uint8Array(32));
const FEES = new Uint8Array(20);
const ETH_32 = (32 * 10 ** 9) / EFFECTIVE_BALANCE_INCREMENT;

/** A chain whose validators have 32 ETH each by default. */
function setUp(increments = Array<number>(200).fill(ETH_32)) {
  const logger = createRecordingLogger();
  const events = new ChainEvents(logger);
  const attached = new AttachedValidators();
  const custody = new Custody(config, { nodeId: new Uint8Array(32).fill(3) });
  const clock = { currentEpoch: 0 };
  let stateReads = 0;
  const states = {
    async atCheckpoint() {
      stateReads++;
      return { epochCtx: { effectiveBalanceIncrements: increments } } as never;
    },
  };
  const forkChoice = { finalized: { epoch: 0, root: "0x" } } as never;
  const following = new ValidatorCustody({ config, clock, attached, custody, states, forkChoice, events, logger });
  const stop = following.start();
  const settle = async () => {
    for (let turn = 0; turn < 3; turn++) await yieldToEventLoop();
  };
  const finalize = () => events.publish("finalized", {} as never);
  return { attached, custody, clock, increments, logger, stop, settle, finalize, timesAsked: () => stateReads };
}

describe("ValidatorCustody", () => {
  it("keeps the default without validators and a minimum with any", async () => {
    const { attached, custody, settle, timesAsked } = setUp();
    await settle();
    expect([custody.groupCount, timesAsked()]).toEqual([config.CUSTODY_REQUIREMENT, 0]);
    attached.register(5, 0);
    await settle();
    expect(custody.groupCount).toBe(config.VALIDATOR_CUSTODY_REQUIREMENT);
  });

  it("grows with the balance, debounces registrations and never shrinks", async () => {
    const { attached, custody, clock, increments, settle, finalize, timesAsked } = setUp();
    const preparations = new ProposerPreparations(attached);
    for (let validator = 0; validator < 10; validator++) preparations.prepare(validator, FEES, 0);
    // A validator that both prepares and subscribes counts once. An unknown validator has no balance.
    attached.register(9, 0);
    attached.register(10_000, 0);
    await settle();
    expect([custody.groupCount, timesAsked()]).toEqual([10, 1]);

    preparations.prepareOwn([9, 10, 11], FEES);
    await settle();
    expect(custody.groupCount).toBe(12);
    for (const validator of increments.keys()) increments[validator] = 2 * ETH_32;
    await settle();
    expect(custody.groupCount).toBe(12);
    finalize();
    await settle();
    expect(custody.groupCount).toBe(24);

    clock.currentEpoch = 9;
    preparations.prepareOwn([], FEES);
    attached.register(1, 9);
    await settle();
    expect(custody.groupCount).toBe(24);
    for (const validator of increments.keys()) attached.register(validator, 9);
    await settle();
    expect(custody.groupCount).toBe(config.NUMBER_OF_CUSTODY_GROUPS);
    const readsBefore = timesAsked();
    finalize();
    await settle();
    expect(timesAsked()).toBe(readsBefore);
  });

  it("drops validators after three epochs and stops when it has ended", async () => {
    const { attached, custody, clock, stop, settle } = setUp();
    for (let validator = 0; validator < 20; validator++) attached.register(validator, 0);
    clock.currentEpoch = 3;
    await settle();
    expect(custody.groupCount).toBe(config.CUSTODY_REQUIREMENT);
    stop();
    attached.register(1, 3);
    await settle();
    expect(custody.groupCount).toBe(config.CUSTODY_REQUIREMENT);
  });
});
