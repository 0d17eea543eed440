import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import { createCachedBeaconState, processSlots } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { openQuietDevChain } from "../../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { Pubkeys } from "../pubkeys/pubkeys.ts";
import { withCaches } from "./cached-state.ts";
import { readState } from "./read-state.ts";

it("a state with caches handles a sync committee change like the library's", async () => {
  const { devChain } = await openQuietDevChain(3, { forks: [{ fork: "fulu", epoch: 0 }] });
  const { config, headState } = devChain.chain;
  const read = () => readState(ssz.fulu.BeaconState, headState.serialize());
  const caches = { config, pubkeyCache: new Pubkeys({ logger: createRecordingLogger([]) }) };
  const ours = await withCaches(await read(), caches);
  const theirs = createCachedBeaconState(await read(), caches);
  expect(ours.epochCtx.nextActiveIndices).toEqual(theirs.epochCtx.nextActiveIndices);
  const later = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;
  expect(processSlots(ours, later).hashTreeRoot()).toEqual(processSlots(theirs, later).hashTreeRoot());
});
