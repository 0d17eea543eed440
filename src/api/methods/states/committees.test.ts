import { EPOCHS_PER_HISTORICAL_VECTOR } from "@lodestar/params";
import { createCachedBeaconState } from "@lodestar/state-transition";
import { describe, expect, it } from "vitest";
import { Caller } from "../../../../test/support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../../../test/support/api/fake-chain.ts";
import { createApi } from "../../api.ts";

const METHOD = "get_v1_beacon_states_stateId_committees_epoch";
const fake = createFakeChain([{ fork: "phase0", epoch: 0 }]);

/** Returns a fake RANDAO mix for the end of an epoch. */
const mixOf = (epoch: number) => new Uint8Array(32).fill(epoch % 251);

/** Returns a state at the start of an epoch, including the mixes in its historical vector. */
function stateAt(epoch: number) {
  const state = fake.headState.clone();
  state.slot = 8 * epoch;
  const oldest = Math.max(0, epoch - EPOCHS_PER_HISTORICAL_VECTOR + 1);
  for (let past = oldest; past <= epoch; past++) {
    state.randaoMixes.set(past % EPOCHS_PER_HISTORICAL_VECTOR, mixOf(past));
  }
  state.commit();
  return createCachedBeaconState(
    fake.config.getForkTypes(state.slot).BeaconState.deserializeToViewDU(state.serialize()),
    { config: fake.config, pubkeyCache: fake.headState.epochCtx.pubkeyCache },
    { skipSyncPubkeys: true },
  );
}

const HEAD_EPOCH = 100;
/** The oldest epoch that is accepted. */
const OLDEST = HEAD_EPOCH - EPOCHS_PER_HISTORICAL_VECTOR + 1;

function callerWith(canonicalAtSlot: (slot: number) => Promise<ReturnType<typeof stateAt> | null>) {
  const headState = stateAt(HEAD_EPOCH);
  const view = Object.create(fake, {
    headState: { value: headState },
    head: { value: { ...fake.head, slot: headState.slot } },
    clock: { value: { currentSlot: headState.slot } },
    states: { value: { ...fake.states, canonicalAtSlot } },
  });
  const api = createApi({ chain: asBeaconChain(view), network: fakeNetwork(view), setLogSpec: () => {} });
  return new Caller(api);
}

describe("committees of old epochs", () => {
  const caller = callerWith(async (slot) => stateAt(Math.floor(slot / 8)));

  it.each([OLDEST, OLDEST + 1, OLDEST + 2, OLDEST + 3, HEAD_EPOCH - 2])(
    "of epoch %i are those that attested in it",
    async (epoch) => {
      expect(await caller.call(METHOD, ["head", epoch])).toEqual(await caller.call(METHOD, [8 * epoch]));
    },
  );

  it("are rejected if the state no longer has the mix", async () => {
    expect(await caller.error(METHOD, ["head", OLDEST - 1])).toMatchObject({ code: -32602 });
    expect(await caller.error(METHOD, ["head", 0])).toMatchObject({ code: -32602 });
  });

  it("are not found if no state has them", async () => {
    const forgetful = callerWith(async () => null);
    expect(await forgetful.error(METHOD, ["head", OLDEST])).toMatchObject({ code: -32001 });
    expect(await forgetful.call(METHOD, ["head", OLDEST + 2])).toHaveLength(8);
  });
});
