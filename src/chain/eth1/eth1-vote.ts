import { EPOCHS_PER_ETH1_VOTING_PERIOD, ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  computeTimeAtSlot,
} from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Eth1Block } from "../../execution/eth1/deposit-chain.ts";

/**
 * Returns true once all deposits come through execution payloads (electra/beacon-chain.md, EIP-6110). Since Fulu, the
 * state transition no longer accepts eth1 deposits.
 */
export function isBridgeRetired(state: CachedBeaconStateAllForks): boolean {
  const fork = state.config.getForkSeq(state.slot);
  if (fork < ForkSeq.electra) return false;
  const { eth1DepositIndex, depositRequestsStartIndex } = state as CachedBeaconStateElectra;
  return fork >= ForkSeq.fulu || BigInt(eth1DepositIndex) === depositRequestsStartIndex;
}

/** Returns the eth1 vote for a block built on this state (phase0/validator.md, get_eth1_vote). */
export function eth1Vote(state: CachedBeaconStateAllForks, blocks: readonly Eth1Block[]): phase0.Eth1Data {
  if (isBridgeRetired(state)) return state.eth1Data.toValue();
  const periodStart = votingPeriodStart(state);
  const considered = blocks
    .filter(
      (block) => isCandidate(state, block, periodStart) && BigInt(block.depositCount) >= state.eth1Data.depositCount,
    )
    .map(eth1DataOf);
  const keys = new Set(considered.map(keyOf));
  const votes = state.eth1DataVotes.getAllReadonlyValues().filter((vote) => keys.has(keyOf(vote)));
  return mostFrequent(votes) ?? considered.at(-1) ?? state.eth1Data.toValue();
}

/** phase0/validator.md, voting_period_start_time. */
function votingPeriodStart({ config, slot, genesisTime }: CachedBeaconStateAllForks): number {
  const slotOfPeriod = slot % (EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH);
  return computeTimeAtSlot(config, slot - slotOfPeriod, genesisTime);
}

/** phase0/validator.md, is_candidate_block. */
function isCandidate({ config }: CachedBeaconStateAllForks, { timestamp }: Eth1Block, periodStart: number): boolean {
  const distance = config.SECONDS_PER_ETH1_BLOCK * config.ETH1_FOLLOW_DISTANCE;
  return timestamp + distance <= periodStart && timestamp + distance * 2 >= periodStart;
}

function eth1DataOf({ depositRoot, depositCount, hash }: Eth1Block): phase0.Eth1Data {
  return { depositRoot, depositCount: BigInt(depositCount), blockHash: hash };
}

/** Returns the most frequent vote; on a tie, the earliest. */
function mostFrequent(votes: readonly phase0.Eth1Data[]): phase0.Eth1Data | undefined {
  const counts = new Map<string, { vote: phase0.Eth1Data; count: number }>();
  for (const vote of votes) {
    const counted = counts.get(keyOf(vote));
    if (counted) counted.count++;
    else counts.set(keyOf(vote), { vote, count: 1 });
  }
  const maxCount = Math.max(...[...counts.values()].map(({ count }) => count));
  return [...counts.values()].find(({ count }) => count === maxCount)?.vote;
}

const keyOf = (vote: phase0.Eth1Data): string => toRootHex(ssz.phase0.Eth1Data.hashTreeRoot(vote));
