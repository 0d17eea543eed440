import { BitArray, type CompositeTypeAny, type TreeViewDU } from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { streamSszJson } from "./ssz-json-stream.ts";

async function collect(type: CompositeTypeAny, value: unknown): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  const view = type.toViewDU(value) as TreeViewDU<CompositeTypeAny>;
  for await (const chunk of streamSszJson(type, view.node)) chunks.push(chunk);
  return chunks;
}

function validators(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    pubkey: new Uint8Array(48).fill(index),
    withdrawalCredentials: new Uint8Array(32).fill(index + 1),
    effectiveBalance: 32e9,
    slashed: index % 3 === 0,
    activationEligibilityEpoch: index,
    activationEpoch: index + 1,
    exitEpoch: Number.POSITIVE_INFINITY,
    withdrawableEpoch: Number.POSITIVE_INFINITY,
  }));
}

const roots = (count: number) => Array.from({ length: count }, (_, index) => new Uint8Array(32).fill(index));

// Counts that are no multiple of a slice or of a leaf, so that the last, shorter ones are met too.
function filled<T extends { slot: number }>(state: T): T {
  const count = 1301;
  const common = {
    genesisTime: 1_700_000_000,
    slot: 77,
    historicalRoots: roots(3),
    validators: validators(count),
    balances: Array.from({ length: count }, (_, index) => 32e9 + index),
  };
  return Object.assign(state, common);
}

const checkpoint = { epoch: 1, root: new Uint8Array(32).fill(7) };

describe("streamSszJson", () => {
  const phase0 = filled(ssz.phase0.BeaconState.defaultValue());
  phase0.previousEpochAttestations = Array.from({ length: 130 }, (_, index) => ({
    aggregationBits: BitArray.fromBoolArray([true, false, index % 2 === 0]),
    data: { slot: index, index: 1, beaconBlockRoot: new Uint8Array(32), source: checkpoint, target: checkpoint },
    inclusionDelay: 1,
    proposerIndex: index,
  }));

  const altair = filled(ssz.altair.BeaconState.defaultValue());
  altair.previousEpochParticipation = Array.from({ length: 1301 }, (_, index) => index % 8);
  altair.inactivityScores = Array.from({ length: 1301 }, (_, index) => index);

  const electra = filled(ssz.electra.BeaconState.defaultValue());
  electra.latestExecutionPayloadHeader.extraData = new Uint8Array([1, 2, 3]);
  electra.latestExecutionPayloadHeader.baseFeePerGas = 2n ** 200n;
  electra.historicalSummaries = [{ blockSummaryRoot: new Uint8Array(32), stateSummaryRoot: new Uint8Array(32) }];
  electra.pendingPartialWithdrawals = [{ validatorIndex: 1, amount: 5n, withdrawableEpoch: 9 }];

  const fulu = filled(ssz.fulu.BeaconState.defaultValue());
  fulu.proposerLookahead = fulu.proposerLookahead.map((_, index) => index);

  it.each([
    ["phase0", ssz.phase0.BeaconState, phase0],
    ["altair", ssz.altair.BeaconState, altair],
    ["electra", ssz.electra.BeaconState, electra],
    ["fulu", ssz.fulu.BeaconState, fulu],
    ["gloas", ssz.gloas.BeaconState, ssz.gloas.BeaconState.defaultValue()],
  ])("writes a %s state as its codec does", async (_fork, stateType, state) => {
    const type = stateType as CompositeTypeAny;
    const text = Buffer.concat(await collect(type, state)).toString("utf8");
    expect(text).toBe(JSON.stringify(type.toJson(state)));
  });

  it("writes empty lists and empty states", async () => {
    const type: CompositeTypeAny = ssz.phase0.BeaconState;
    const state = ssz.phase0.BeaconState.defaultValue();
    expect(Buffer.concat(await collect(type, state)).toString("utf8")).toBe(JSON.stringify(type.toJson(state)));
  });

  it("keeps its chunks between 64 and 256 KiB", async () => {
    const chunks = await collect(ssz.phase0.BeaconState, phase0);
    expect(chunks.length).toBeGreaterThan(3);
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk.length).toBeGreaterThanOrEqual(64 * 1024);
      expect(chunk.length).toBeLessThanOrEqual(256 * 1024);
    }
  });

  it("lets the event loop turn between chunks", async () => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const chunks = await collect(ssz.phase0.BeaconState, phase0);
    running = false;
    expect(turns).toBeGreaterThanOrEqual(chunks.length - 1);
  });
});
