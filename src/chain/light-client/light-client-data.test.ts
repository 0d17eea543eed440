import { BitArray } from "@chainsafe/ssz";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { isValidLightClientHeader } from "@lodestar/state-transition/light-client";
import {
  type altair,
  type BeaconBlock,
  type capella,
  type deneb,
  type gloas,
  type LightClientHeader,
  ssz,
} from "@lodestar/types";
import { verifyMerkleBranch } from "@lodestar/utils";
import { expect, it } from "vitest";
import {
  blockToLightClientHeader,
  createBootstrap,
  createFinalityUpdate,
  participants,
  summaryOf,
  withNextSyncCommittee,
} from "./light-client-data.ts";

const PERIOD_SLOTS = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;

/** One fork per epoch. */
const config = createBeaconConfig(
  {
    ...chainConfig,
    ALTAIR_FORK_EPOCH: 0,
    BELLATRIX_FORK_EPOCH: 1,
    CAPELLA_FORK_EPOCH: 2,
    DENEB_FORK_EPOCH: 3,
    ELECTRA_FORK_EPOCH: 4,
    FULU_FORK_EPOCH: 5,
    GLOAS_FORK_EPOCH: 6,
  },
  new Uint8Array(32),
);
const SLOTS = { altair: 1, bellatrix: 8, capella: 16, deneb: 24, electra: 32, fulu: 40, gloas: 48 };

function headerAt(slot: number): LightClientHeader {
  const { message } = config.getForkTypes(slot).SignedBeaconBlock.defaultValue();
  message.slot = slot;
  message.proposerIndex = 3;
  return blockToLightClientHeader(config, message as BeaconBlock);
}

/** A state that finalizes a root and has different committees. */
function stateAt(slot: number, finalizedRoot: Uint8Array = new Uint8Array(32)) {
  const state = ssz.altair.BeaconState.defaultViewDU();
  state.slot = slot;
  state.finalizedCheckpoint = ssz.phase0.Checkpoint.toViewDU({ epoch: 0, root: finalizedRoot });
  const { SyncCommittee } = ssz.altair;
  state.currentSyncCommittee = SyncCommittee.toViewDU(committee(1));
  state.nextSyncCommittee = SyncCommittee.toViewDU(committee(2));
  return state as unknown as CachedBeaconStateAllForks;
}

const committee = (mark: number): altair.SyncCommittee => ({
  ...ssz.altair.SyncCommittee.defaultValue(),
  aggregatePubkey: new Uint8Array(48).fill(mark),
});

const aggregate = (signers: number): altair.SyncAggregate => ({
  syncCommitteeBits: BitArray.fromBoolArray(Array.from({ length: SYNC_COMMITTEE_SIZE }, (_, seat) => seat < signers)),
  syncCommitteeSignature: new Uint8Array(96),
});

/** Verifies a branch using the generalized index from the specification (altair/light-client/sync-protocol.md). */
function isProven(state: CachedBeaconStateAllForks, leaf: Uint8Array, branch: Uint8Array[], gindex: number): boolean {
  const depth = Math.floor(Math.log2(gindex));
  return verifyMerkleBranch(leaf, branch, depth, gindex % 2 ** depth, state.hashTreeRoot());
}

const CURRENT_SYNC_COMMITTEE_GINDEX = 54;
const NEXT_SYNC_COMMITTEE_GINDEX = 55;
const FINALIZED_ROOT_GINDEX = 105;

function updateWith(finalizedHeader: LightClientHeader | null | undefined, finalizedRoot?: Uint8Array) {
  const attestedState = stateAt(SLOTS.altair, finalizedRoot);
  const attestedHeader = headerAt(SLOTS.altair);
  const signed = { syncAggregate: aggregate(5), signatureSlot: 2, attestedHeader, attestedState, finalizedHeader };
  return { update: createFinalityUpdate(config, signed), attestedState };
}

it.each(Object.entries(SLOTS))("%s: creates a valid header", (fork, slot) => {
  const header = headerAt(slot) as deneb.LightClientHeader;
  expect(isValidLightClientHeader(config, header)).toBe(true);
  expect(header.beacon).toMatchObject({ slot, proposerIndex: 3 });
  const hasExecution = slot >= SLOTS.capella && slot < SLOTS.gloas;
  expect("execution" in header).toBe(hasExecution);
  expect("executionBlockHash" in header).toBe(slot >= SLOTS.gloas);
  if (hasExecution) expect("blobGasUsed" in header.execution, fork).toBe(slot >= SLOTS.deneb);
});

it("proves the current committee to a new client", () => {
  const state = stateAt(1);
  const { currentSyncCommittee, currentSyncCommitteeBranch } = createBootstrap(headerAt(1), state);
  const leaf = ssz.altair.SyncCommittee.hashTreeRoot(committee(1));
  expect(currentSyncCommittee.aggregatePubkey).toEqual(committee(1).aggregatePubkey);
  expect(isProven(state, leaf, currentSyncCommitteeBranch, CURRENT_SYNC_COMMITTEE_GINDEX)).toBe(true);
});

it("proves the next committee", () => {
  const { update, attestedState } = updateWith(undefined);
  const { nextSyncCommittee, nextSyncCommitteeBranch } = withNextSyncCommittee(update, attestedState);
  const leaf = ssz.altair.SyncCommittee.hashTreeRoot(committee(2));
  expect(nextSyncCommittee.aggregatePubkey).toEqual(committee(2).aggregatePubkey);
  expect(isProven(attestedState, leaf, nextSyncCommitteeBranch, NEXT_SYNC_COMMITTEE_GINDEX)).toBe(true);
});

it("proves the finalized header, and the zero root of genesis", () => {
  const root = new Uint8Array(32).fill(9);
  const final = headerAt(0);
  const finalized = updateWith(final, root);
  expect(finalized.update.finalizedHeader).toBe(final);
  expect(isProven(finalized.attestedState, root, finalized.update.finalityBranch, FINALIZED_ROOT_GINDEX)).toBe(true);
  const genesis = updateWith(null);
  expect(genesis.update.finalizedHeader).toEqual(ssz.altair.LightClientHeader.defaultValue());
  const branch = genesis.update.finalityBranch;
  expect(isProven(genesis.attestedState, new Uint8Array(32), branch, FINALIZED_ROOT_GINDEX)).toBe(true);
});

it("a header that is not stored leaves the update without finality", () => {
  const { update } = updateWith(undefined, new Uint8Array(32).fill(9));
  expect(update.finalizedHeader).toEqual(ssz.altair.LightClientHeader.defaultValue());
  expect(summaryOf(update).isFinalityUpdate).toBe(false);
  expect(summaryOf(updateWith(null).update).isFinalityUpdate).toBe(true);
});

it("converts the finalized header to the fork of the attested one, and keeps the original", () => {
  const final = headerAt(SLOTS.capella) as capella.LightClientHeader;
  const update = createFinalityUpdate(config, {
    syncAggregate: aggregate(5),
    signatureSlot: SLOTS.deneb + 1,
    attestedHeader: headerAt(SLOTS.deneb),
    attestedState: stateAt(SLOTS.deneb),
    finalizedHeader: final,
  });
  const { execution } = update.finalizedHeader as deneb.LightClientHeader;
  expect([execution.blobGasUsed, execution.excessBlobGas]).toEqual([0n, 0n]);
  expect("blobGasUsed" in final.execution).toBe(false);
  expect(update.finalizedHeader.beacon).toEqual(final.beacon);
});

it("takes the execution block of a gloas header from the parent of its bid", () => {
  const { message } = ssz.gloas.SignedBeaconBlock.defaultValue();
  message.slot = SLOTS.gloas;
  message.body.signedExecutionPayloadBid.message.parentBlockHash = new Uint8Array(32).fill(5);
  const header = blockToLightClientHeader(config, message) as gloas.LightClientHeader;
  expect(header.executionBlockHash).toEqual(new Uint8Array(32).fill(5));
  expect(isValidLightClientHeader(config, header)).toBe(true);
  expect(isValidLightClientHeader(config, { ...header, executionBlockHash: new Uint8Array(32) })).toBe(false);
});

it.each(["capella", "electra"] as const)("converts a finalized header of %s to gloas, with its branch", (fork) => {
  const final = headerAt(SLOTS[fork]) as deneb.LightClientHeader;
  const { finalizedHeader } = createFinalityUpdate(config, {
    syncAggregate: aggregate(5),
    signatureSlot: SLOTS.gloas + 1,
    attestedHeader: headerAt(SLOTS.gloas),
    attestedState: ssz.gloas.BeaconState.defaultViewDU() as never,
    finalizedHeader: final,
  });
  expect((finalizedHeader as gloas.LightClientHeader).executionBlockHash).toEqual(final.execution.blockHash);
  expect(isValidLightClientHeader(config, finalizedHeader)).toBe(true);
});

it("an update signed in the next fork has the format of the attested one", () => {
  const update = createFinalityUpdate(config, {
    syncAggregate: aggregate(5),
    signatureSlot: SLOTS.deneb,
    attestedHeader: headerAt(SLOTS.deneb - 1),
    attestedState: stateAt(SLOTS.deneb - 1),
    finalizedHeader: headerAt(SLOTS.bellatrix),
  });
  const { execution } = update.finalizedHeader as capella.LightClientHeader;
  expect(execution).toEqual(ssz.capella.ExecutionPayloadHeader.defaultValue());
  const type = ssz.capella.LightClientFinalityUpdate;
  expect(type.toJson(type.deserialize(type.serialize(update as never)))).toEqual(type.toJson(update as never));
});

it("counts the signed seats", () => {
  expect([0, 1, SYNC_COMMITTEE_SIZE].map((signers) => participants(aggregate(signers)))).toEqual([
    0,
    1,
    SYNC_COMMITTEE_SIZE,
  ]);
});

it.each([
  ["in its own period", PERIOD_SLOTS - 2, PERIOD_SLOTS - 1, true],
  ["in the next period", PERIOD_SLOTS - 1, PERIOD_SLOTS, false],
])("an update signed %s", (_, attestedSlot, signatureSlot, isSyncCommitteeUpdate) => {
  const attestedHeader = { beacon: { ...headerAt(1).beacon, slot: attestedSlot } };
  const { update } = updateWith(undefined);
  expect(summaryOf({ ...update, attestedHeader, signatureSlot })).toMatchObject({
    activeParticipants: 5,
    attestedHeaderSlot: attestedSlot,
    signatureSlot,
    isSyncCommitteeUpdate,
  });
});
