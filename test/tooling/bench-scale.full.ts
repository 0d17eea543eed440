import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  createCachedBeaconState,
  createPubkeyCache,
  DataAvailabilityStatus,
  ExecutionPayloadStatus,
  stateTransition,
} from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { RecordedChain } from "../../bench/scale/recorded-chain.ts";
import { makeState, SECONDS_PER_SLOT, STATE_SLOT, scaleConfig } from "../../bench/scale/state.ts";
import { KEY_BYTES, publicKeys, secretScalar, toSecretKey } from "../../bench/scale/validator-keys.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const VALIDATORS = 512;

describe("the chain of the benchmark of scale", () => {
  it("has matching keys, and caches them", () => {
    const file = join(tempDirectory(), "keys");
    const keys = publicKeys(file, VALIDATORS);
    for (const index of [0, 1, VALIDATORS - 1]) {
      const key = keys.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES);
      expect(key).toEqual(Buffer.from(toSecretKey(secretScalar(index)).toPublicKey().toBytes()));
    }
    expect(publicKeys(file, 10)).toEqual(readFileSync(file).subarray(0, 10 * KEY_BYTES));
  });

  it("passes the transition with all signatures, and finalizes, also with empty slots", () => {
    const keys = publicKeys(join(tempDirectory(), "keys"), VALIDATORS);
    const serialized = makeState(keys);
    const recorded = new RecordedChain(serialized, keys, SECONDS_PER_SLOT);
    const config = scaleConfig();
    let state: CachedBeaconStateAllForks = createCachedBeaconState(
      ssz.fulu.BeaconState.deserializeToViewDU(serialized),
      { config, pubkeyCache: createPubkeyCache() },
    );
    const finalizedBefore = state.finalizedCheckpoint.epoch;
    const everySlot = Array.from({ length: SLOTS_PER_EPOCH }, (_, position) => STATE_SLOT + 1 + position);
    const everySecond = Array.from(
      { length: (3 * SLOTS_PER_EPOCH) / 2 },
      (_, position) => everySlot.at(-1)! + 2 + 2 * position,
    );
    for (const slot of [...everySlot, ...everySecond]) {
      const { signedBlock } = ssz.fulu.SignedBlockContents.deserialize(recorded.next(slot).contents);
      state = stateTransition(state, signedBlock, {
        executionPayloadStatus: ExecutionPayloadStatus.valid,
        dataAvailabilityStatus: DataAvailabilityStatus.Available,
      });
    }
    expect(state.finalizedCheckpoint.epoch).toBe(finalizedBefore + 4);
  });
});
