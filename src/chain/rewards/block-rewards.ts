import {
  EFFECTIVE_BALANCE_INCREMENT,
  ForkSeq,
  WHISTLEBLOWER_REWARD_QUOTIENT,
  WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA,
} from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { SignedBeaconBlock, ValidatorIndex } from "@lodestar/types";
import { replayBlock } from "../states/advance.ts";

/** What a block paid its proposer, in Gwei. */
export interface BlockRewards {
  proposerIndex: ValidatorIndex;
  total: number;
  /** Nothing in phase0, which pays for inclusions when the epoch after that of the votes ends. */
  attestations: number;
  syncAggregate: number;
  proposerSlashings: number;
  attesterSlashings: number;
}

/** The genesis block was never processed. */
export function genesisBlockRewards({ message }: SignedBeaconBlock): BlockRewards {
  const nothing = { total: 0, attestations: 0, syncAggregate: 0, proposerSlashings: 0, attesterSlashings: 0 };
  return { proposerIndex: message.proposerIndex, ...nothing };
}

/** `preState` is the state of the block's slot without the block. The transition itself counts what it pays. */
export async function computeBlockRewards(
  preState: CachedBeaconStateAllForks,
  block: SignedBeaconBlock,
): Promise<BlockRewards> {
  const { after } = await replayBlock(preState, block);
  const { attestations, syncAggregate, slashing } = after.proposerRewards;
  // Proposer slashings come first, and each of them slashes one validator; the rest is due to attester slashings.
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

/** slash_validator: nobody but the proposer of a block is its whistleblower. */
function whistleblowerReward({ config, slot, epochCtx }: CachedBeaconStateAllForks, slashed: ValidatorIndex): number {
  const isElectra = config.getForkSeq(slot) >= ForkSeq.electra;
  const quotient = isElectra ? WHISTLEBLOWER_REWARD_QUOTIENT_ELECTRA : WHISTLEBLOWER_REWARD_QUOTIENT;
  return Math.floor((epochCtx.effectiveBalanceIncrements[slashed]! * EFFECTIVE_BALANCE_INCREMENT) / quotient);
}
