import { BitArray } from "@chainsafe/ssz";
import { type ForkPostBellatrix, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { type CachedBeaconStateAllForks, processSlots } from "@lodestar/state-transition";
import { type altair, type bellatrix, type SignedBeaconBlock, ssz, type ValidatorIndex } from "@lodestar/types";
import { expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { DevFork } from "../../dev/forks.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { createDevPayload } from "../../execution/dev-payload.ts";
import { latestBlockHeader } from "../anchor/anchor.ts";
import { latestPayload, payloadRequest } from "../production/payload-request.ts";
import { processBlock } from "../states/advance.ts";
import { computeBlockRewards, genesisBlockRewards } from "./block-rewards.ts";
import { computeSyncCommitteeRewards, genesisSyncCommitteeRewards } from "./sync-committee-rewards.ts";

/** Fewer validators than seats in the sync committee, so that every validator has several. */
const VALIDATORS = 8;

/** The state at slot 1, before the slot's block is applied. */
function stateBefore(fork: DevFork): CachedBeaconStateAllForks {
  const chainConfig = devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 2, genesisTime: 0 });
  return processSlots(createDevGenesis({ chainConfig, validatorCount: VALIDATORS, genesisTime: 0 }).state, 1);
}

interface BlockOptions {
  /** True for seats that sign; by default, all of them. */
  signs?(seat: number): boolean;
  slashed?: ValidatorIndex[];
}

/** An unsigned block for the state's slot. */
function blockOn(state: CachedBeaconStateAllForks, { signs = () => true, slashed = [] }: BlockOptions = {}) {
  const signed = state.config.getForkTypes(state.slot).SignedBeaconBlock.defaultValue() as altair.SignedBeaconBlock;
  const { message } = signed;
  message.slot = state.slot;
  message.proposerIndex = state.epochCtx.getBeaconProposer(state.slot);
  message.parentRoot = ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state));
  message.body.proposerSlashings = slashed.map((index) => slashingOf(index));
  if (message.body.syncAggregate) {
    const bits = Array.from({ length: SYNC_COMMITTEE_SIZE }, (_, seat) => signs(seat));
    message.body.syncAggregate.syncCommitteeBits = BitArray.fromBoolArray(bits);
  }
  if ("executionPayload" in message.body) message.body.executionPayload = payloadOn(state);
  return signed as SignedBeaconBlock;
}

function payloadOn(state: CachedBeaconStateAllForks): bellatrix.ExecutionPayload {
  const { config, slot } = state;
  const fork = config.getForkName(slot) as ForkPostBellatrix;
  const parent = latestPayload(state)!;
  const options = { slot, parentRoot: `0x${"00".repeat(32)}`, feeRecipient: new Uint8Array(20), parent };
  const request = payloadRequest(config, fork, state, options);
  return createDevPayload(request, parent.blockHash, parent.blockNumber! + 1) as bellatrix.ExecutionPayload;
}

function slashingOf(proposerIndex: ValidatorIndex) {
  const header = (mark: number) => ({
    message: {
      ...ssz.phase0.BeaconBlockHeaderBigint.defaultValue(),
      proposerIndex,
      bodyRoot: new Uint8Array(32).fill(mark),
    },
    signature: new Uint8Array(96),
  });
  return { signedHeader1: header(1), signedHeader2: header(2) };
}

const seatsOf = (state: CachedBeaconStateAllForks) =>
  Array.from(state.epochCtx.currentSyncCommitteeIndexed.validatorIndices);

it("the genesis block earns its proposer nothing", () => {
  const block = ssz.phase0.SignedBeaconBlock.defaultValue();
  block.message.proposerIndex = 4;
  const nothing = { total: 0, attestations: 0, syncAggregate: 0, proposerSlashings: 0, attesterSlashings: 0 };
  expect(genesisBlockRewards(block)).toEqual({ proposerIndex: 4, ...nothing });
});

// 32 ETH divided by WHISTLEBLOWER_REWARD_QUOTIENT and WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA, 512 and 4096.
it.each<[DevFork, number]>([
  ["phase0", 62_500_000],
  ["altair", 62_500_000],
  ["deneb", 62_500_000],
  ["electra", 7_812_500],
  ["fulu", 7_812_500],
])("%s: a slashing earns the proposer %d Gwei of 32 ETH", async (fork, share) => {
  const state = stateBefore(fork);
  const proposer = state.epochCtx.getBeaconProposer(1);
  const slashed = [0, 1, 2].filter((index) => index !== proposer).slice(0, 2);
  const rewards = await computeBlockRewards(state, blockOn(state, { slashed, signs: () => false }));
  expect(rewards).toEqual({
    proposerIndex: proposer,
    total: 2 * share,
    attestations: 0,
    syncAggregate: 0,
    proposerSlashings: 2 * share,
    attesterSlashings: 0,
  });
});

it("altair: each signed seat earns the proposer its share", async () => {
  const state = stateBefore("altair");
  const rewardOf = async (signers: number) =>
    (await computeBlockRewards(state, blockOn(state, { signs: (seat) => seat < signers }))).syncAggregate;
  const one = await rewardOf(1);
  expect(one).toBeGreaterThan(0);
  expect(await rewardOf(3)).toBe(3 * one);
  expect(await rewardOf(0)).toBe(0);
});

it("altair: members gain for signed seats and lose for others, summed over their seats", async () => {
  const state = stateBefore("altair");
  const seats = seatsOf(state);
  const { syncParticipantReward } = state.epochCtx;
  const signs = (seat: number) => seat % 3 === 0;
  const rewards = await computeSyncCommitteeRewards(state, blockOn(state, { signs }));
  expect(rewards.map(({ validatorIndex }) => validatorIndex)).toEqual([...new Set(seats)]);
  for (const { validatorIndex, reward } of rewards) {
    const own = [...seats.entries()].filter(([, member]) => member === validatorIndex);
    const signed = own.filter(([seat]) => signs(seat)).length;
    expect(reward).toBe((2 * signed - own.length) * syncParticipantReward);
  }
});

it("altair: penalties stop at a balance of zero, rewards of earlier seats included", async () => {
  const state = stateBefore("altair");
  const seats = seatsOf(state);
  const { syncParticipantReward } = state.epochCtx;
  const proposer = state.epochCtx.getBeaconProposer(1);
  const member = seats.find((index) => index !== proposer && seats.filter((other) => other === index).length >= 3)!;
  const [first] = seats.flatMap((other, seat) => (other === member ? [seat] : []));
  state.balances.set(member, 1);
  state.commit();
  const rewardOf = async (signs: (seat: number) => boolean) => {
    const rewards = await computeSyncCommitteeRewards(state, blockOn(state, { signs }));
    return rewards.find(({ validatorIndex }) => validatorIndex === member)?.reward;
  };
  expect(await rewardOf(() => false)).toBe(-1);
  expect(await rewardOf((seat) => seat === first)).toBe(-1);
  expect(await rewardOf(() => true)).toBe(seats.filter((other) => other === member).length * syncParticipantReward);
});

it("phase0 has no sync committee", async () => {
  const state = stateBefore("phase0");
  expect(await computeSyncCommitteeRewards(state, blockOn(state))).toEqual([]);
  expect(genesisSyncCommitteeRewards(state)).toEqual([]);
});

it("the genesis block rewards no member of the sync committee", () => {
  const state = stateBefore("altair");
  const members = [...new Set(seatsOf(state))];
  expect(genesisSyncCommitteeRewards(state)).toEqual(members.map((validatorIndex) => ({ validatorIndex, reward: 0 })));
});

it.each<[string, (seat: number) => boolean]>([
  ["none", () => false],
  ["all", () => true],
  ["the first half", (seat) => seat < SYNC_COMMITTEE_SIZE / 2],
  ["the second half", (seat) => seat >= SYNC_COMMITTEE_SIZE / 2],
  ["every other one", (seat) => seat % 2 === 0],
])(
  "altair: rewards explain the balances of members who have next to nothing, also the proposer's: %s sign",
  async (_, signs) => {
    const state = stateBefore("altair");
    for (let index = 0; index < VALIDATORS; index++) state.balances.set(index, index);
    state.commit();
    const block = blockOn(state, { signs });
    const before = state.balances.getAll();
    const expected = processBlock(state.clone(true), block).balances.getAll();
    const ofProposer = await computeBlockRewards(state, block);
    const rewards = await computeSyncCommitteeRewards(state, block);
    expect(rewards.map(({ validatorIndex }) => validatorIndex)).toContain(ofProposer.proposerIndex);
    const explained = [...before];
    explained[ofProposer.proposerIndex]! += ofProposer.total;
    for (const { validatorIndex, reward } of rewards) explained[validatorIndex]! += reward;
    expect(explained).toEqual(expected);
  },
);
