import {
  EFFECTIVE_BALANCE_INCREMENT,
  ForkSeq,
  WHISTLEBLOWER_REWARD_QUOTIENT,
  WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA,
} from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { SignedBeaconBlock, ValidatorIndex } from "@lodestar/types";
import { replayBlock } from "../states/advance.ts";

/** Rewards of a block's proposer, in Gwei. */
export interface BlockRewards {
  proposerIndex: ValidatorIndex;
  total: number;
  /** Zero in phase0, which pays for inclusion at the end of the next epoch. */
  attestations: number;
  syncAggregate: number;
  proposerSlashings: number;
  attesterSlashings: number;
}

/** Returns zero rewards, since the genesis block is never processed. */
export function genesisBlockRewards({ message }: SignedBeaconBlock): BlockRewards {
  const nothing = { total: 0, attestations: 0, syncAggregate: 0, proposerSlashings: 0, attesterSlashings: 0 };
  return { proposerIndex: message.proposerIndex, ...nothing };
}

/**
 * Computes the rewards by replaying the block. `preState` is the state before the block, already advanced to the
 * block's slot.
 */
export async function computeBlockRewards(
  preState: CachedBeaconStateAllForks,
  block: SignedBeaconBlock,
): Promise<BlockRewards> {
  const { after } = await replayBlock(preState, block);
  const { attestations, syncAggregate, slashing } = after.proposerRewards;
  // Proposer slashings are processed first, and each slashes one validator. All other slashed validators come from
  // attester slashings.
  const proposerSlashings = block.message.body.proposerSlashings
    .map(({ signedHeader1 }) => whistleblowerReward(preState, signedHeader1.message.proposerIndex))
    .reduce((sum, reward) => sum + reward, 0);
  return {
    proposerIndex: block.message.proposerIndex,
    total: attestations + syncAggregate + slashing,
    attestations,
    syncAggregate,
    proposerSlashings,
    attesterSlashings: slashing - proposerSlashings,
  };
}

/** slash_validator: returns the whistleblower reward. The whistleblower is always the proposer. */
function whistleblowerReward({ config, slot, epochCtx }: CachedBeaconStateAllForks, slashed: ValidatorIndex): number {
  const isElectra = config.getForkSeq(slot) >= ForkSeq.electra;
  const quotient = isElectra ? WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA : WHISTLEBLOWER_REWARD_QUOTIENT;
  return Math.floor((epochCtx.effectiveBalanceIncrements[slashed]! * EFFECTIVE_BALANCE_INCREMENT) / quotient);
}
