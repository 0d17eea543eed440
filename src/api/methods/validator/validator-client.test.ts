import { SLOTS_PER_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import type { BlockContents } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ByHand } from "../../../../test/support/chain/by-hand.ts";
import {
  type OpenedDevChain,
  openDevChain,
  QUIET,
  startQuietDevChain,
} from "../../../../test/support/chain/dev-chain.ts";
import type { Api } from "../../api.ts";

type ValidatorHandlers = Api["validator"];
type RejectedRequest = [name: string, ask: (api: ValidatorHandlers) => unknown, complaint: RegExp];

/** In the middle of epoch 2. */
const SLOT = 2 * SLOTS_PER_EPOCH + 3;
const ALL_INDICES = Array.from({ length: 16 }, (_, index) => index);
const REVEAL = new Uint8Array(96);
const INFINITY = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));

let phase0: OpenedDevChain;
let electra: OpenedDevChain;

beforeAll(async () => {
  phase0 = await startQuietDevChain(SLOT);
  electra = await startQuietDevChain(SLOT, { forks: [{ fork: "electra", epoch: 0 }] });
});

afterAll(async () => {
  await phase0?.close();
  await electra?.close();
});

describe("rejects", () => {
  const ofPhase0: RejectedRequest[] = [
    [
      "attestation data for a slot too far ahead",
      (api) => api.produceAttestationData({ slot: SLOT + 2, committeeIndex: 0 }),
      /Slot 21 is too far ahead: the current slot is 19/,
    ],
    [
      "attestation data for an unknown committee",
      (api) => api.produceAttestationData({ slot: SLOT, committeeIndex: 1 }),
      /has 1 committees, so the committee index 1 is too high/,
    ],
    [
      "attestation data without a committee before electra",
      (api) => api.produceAttestationData({ slot: SLOT } as never),
      /required for slots before the electra fork/,
    ],
    [
      "attester duties of the epoch after the next",
      (api) => api.getAttesterDuties({ epoch: 4, indices: ALL_INDICES }),
      /the last known epoch is 3/,
    ],
    ["proposer duties of the epoch after the next", (api) => api.getProposerDuties({ epoch: 4 }), /epoch is 3/],
    [
      "a block of the head's slot",
      (api) => api.produceBlockV3({ slot: SLOT, randaoReveal: REVEAL }),
      /cannot be built on the head/,
    ],
    [
      "a block more than two epochs ahead",
      (api) => api.produceBlockV3({ slot: SLOT + 2 * SLOTS_PER_EPOCH + 1, randaoReveal: REVEAL }),
      /more than 2 epochs after the head/,
    ],
    [
      "a block with a randao reveal of another validator",
      (api) => api.produceBlockV3({ slot: SLOT + 1, randaoReveal: REVEAL }),
      /The randao reveal is not validator \d+'s signature over epoch 2/,
    ],
    [
      "a randao reveal other than infinity if its verification is skipped",
      (api) => api.produceBlockV3({ slot: SLOT + 1, randaoReveal: REVEAL, skipRandaoVerification: true }),
      /must be the point at infinity/,
    ],
  ];

  it.each(ofPhase0)("%s", async (_, request, message) => {
    const answer = Promise.resolve(request(phase0.devChain.api.validator));
    await expect(answer).rejects.toMatchObject({ kind: "invalid-params", message: expect.stringMatching(message) });
  });

  it("sync committee duties before altair", async () => {
    const answer = phase0.devChain.api.validator.getSyncCommitteeDuties({ epoch: 2, indices: ALL_INDICES });
    await expect(answer).rejects.toMatchObject({ kind: "invalid-params" });
  });

  it("sync committee duties of a future period", async () => {
    const answer = electra.devChain.api.validator.getSyncCommitteeDuties({ epoch: 3 * 8, indices: ALL_INDICES });
    await expect(answer).rejects.toMatchObject({ kind: "invalid-params" });
  });

  it.each([false, true])("an aggregate of unknown attestations (optimistic: %s)", async (isOptimistic) => {
    const { validator } = electra.devChain.api;
    const spy = vi.spyOn(electra.devChain.chain.status, "isOptimistic", "get").mockReturnValue(isOptimistic);
    onTestFinished(() => spy.mockRestore());
    const unknown = { attestationDataRoot: ZERO_HASH_HEX, slot: SLOT, committeeIndex: 0 };
    await expect(validator.getAggregatedAttestationV2(unknown)).rejects.toMatchObject({ kind: "not-found" });
    const contribution = { slot: SLOT, subcommitteeIndex: 0, beaconBlockRoot: ZERO_HASH_HEX };
    await expect(validator.produceSyncCommitteeContribution(contribution)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("attestation data", () => {
  it("has head, target and source, up to the slot after the current one", async () => {
    for (const { devChain } of [phase0, electra]) {
      const { api, chain } = devChain;
      for (const slot of [SLOT, SLOT + 1]) {
        const { data } = await api.validator.produceAttestationData({ slot, committeeIndex: 0 });
        const { beaconBlockRoot, source, target, index } = data;
        expect(toRootHex(beaconBlockRoot)).toBe(chain.head.root);
        expect(index).toBe(0);
        expect(source.epoch).toBe(chain.headState.currentJustifiedCheckpoint.epoch);
        const targetBlock = await chain.blocks.canonicalAtSlot(2 * SLOTS_PER_EPOCH);
        expect({ epoch: target.epoch, root: toRootHex(target.root) }).toEqual({ epoch: 2, root: targetBlock!.root });
      }
    }
  });

  it("of a past slot has the block of that slot", async () => {
    const { api, chain } = phase0.devChain;
    const { data } = await api.validator.produceAttestationData({ slot: SLOT - 2, committeeIndex: 0 });
    const block = await chain.blocks.canonicalAtSlot(SLOT - 2);
    expect(toRootHex(data.beaconBlockRoot)).toBe(block!.root);
  });
});

describe("duties", () => {
  it("of attesters match the committees, in committee order", async () => {
    const { api, chain } = phase0.devChain;
    for (const epoch of [0, 1, 2, 3]) {
      const indices = [...ALL_INDICES].reverse().concat(3, 3, 99);
      const { data: duties } = await api.validator.getAttesterDuties({ epoch, indices });
      expect(duties).toHaveLength(ALL_INDICES.length);
      const state = (await chain.states.canonicalAtSlot(Math.min(SLOT, epoch * SLOTS_PER_EPOCH)))!;
      const inOrder = state.epochCtx.getShufflingAtEpoch(epoch).committees.flatMap((slot) => slot.map((c) => [...c]));
      expect(duties.map((duty) => duty.validatorIndex)).toEqual(inOrder.flat());
      for (const duty of duties) {
        expect(duty.pubkey).toEqual(phase0.devChain.keys.publicKey(duty.validatorIndex));
        expect(Math.floor(duty.slot / SLOTS_PER_EPOCH)).toBe(epoch);
      }
    }
  });

  it("of proposers are one per slot, and past ones match the proposed blocks", async () => {
    for (const { devChain } of [phase0, electra]) {
      const { api, chain } = devChain;
      for (const epoch of [0, 1, 2, 3]) {
        const { data: duties } = await api.validator.getProposerDuties({ epoch });
        expect(duties.map(({ slot }) => slot)).toEqual(
          Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => epoch * SLOTS_PER_EPOCH + i),
        );
        for (const { slot, validatorIndex } of duties) {
          const block = slot === 0 ? null : await chain.blocks.canonicalAtSlot(slot);
          if (block) expect(block.signed.message.proposerIndex).toBe(validatorIndex);
        }
      }
    }
  });

  it("of the sync committee list the positions of each member", async () => {
    const { api, chain } = electra.devChain;
    const { data: duties } = await api.validator.getSyncCommitteeDuties({ epoch: 2, indices: [...ALL_INDICES, 3, 99] });
    const seats = duties.flatMap(({ validatorSyncCommitteeIndices }) => [...validatorSyncCommitteeIndices]);
    expect(seats.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, i) => i));
    const { validatorIndices } = chain.headState.epochCtx.getIndexedSyncCommitteeAtEpoch(2);
    for (const { validatorIndex, validatorSyncCommitteeIndices } of duties) {
      for (const seat of validatorSyncCommitteeIndices) expect(validatorIndices[seat]).toBe(validatorIndex);
    }
  });
});

describe("a produced block", () => {
  it("has the requested graffiti, or the default", async () => {
    const { api, chain } = phase0.devChain;
    const { signer } = new ByHand(phase0.devChain);
    const state = await chain.states.afterBlock(chain.head.root, SLOT + 1);
    const randaoReveal = signer.randaoReveal(state.epochCtx.getBeaconProposer(SLOT + 1), SLOT + 1);
    chain.graffiti.set(new Uint8Array(32).fill(7));
    const graffitiOf = async (graffiti?: Uint8Array) => {
      const { data } = await api.validator.produceBlockV3({ slot: SLOT + 1, randaoReveal, graffiti });
      return Buffer.from((data as BlockContents).block.body.graffiti).toString("latin1");
    };
    expect(await graffitiOf()).toBe("\x07".repeat(32));
    expect(await graffitiOf(new Uint8Array(32).fill(8))).toBe("\x08".repeat(32));
  });

  it("can be produced without a randao reveal, but not imported", async () => {
    const { api, chain, clock } = electra.devChain;
    const slot = SLOT + 1;
    const { data } = await api.validator.produceBlockV3({
      slot,
      randaoReveal: INFINITY,
      skipRandaoVerification: true,
    });
    await clock.advanceTo(slot);
    const { signed } = new ByHand(electra.devChain).sign((data as BlockContents).block);
    await expect(chain.importBlock(signed)).rejects.toMatchObject({ reason: "invalid-signature" });
  });
});

it("produces nothing to sign while syncing", async () => {
  const { devChain } = await openDevChain(QUIET);
  devChain.chain.status.setSource({ isSyncing: true });
  const { validator } = devChain.api;
  const questions = () => [
    validator.getAttesterDuties({ epoch: 0, indices: ALL_INDICES }),
    validator.getProposerDuties({ epoch: 0 }),
    validator.getSyncCommitteeDuties({ epoch: 0, indices: ALL_INDICES }),
    validator.produceAttestationData({ slot: 2, committeeIndex: 0 }),
    validator.produceBlockV3({ slot: 3, randaoReveal: REVEAL }),
    validator.getAggregatedAttestationV2({ attestationDataRoot: ZERO_HASH_HEX, slot: 1, committeeIndex: 0 }),
    validator.produceSyncCommitteeContribution({ slot: 1, subcommitteeIndex: 0, beaconBlockRoot: ZERO_HASH_HEX }),
  ];
  await devChain.clock.advanceTo(2);

  for (const outcome of await Promise.allSettled(questions())) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { kind: "unavailable" } });
  }
});
