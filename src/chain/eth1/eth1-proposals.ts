import { becomesNewEth1Data, type CachedBeaconStateAllForks, getEth1DepositCount } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { type DepositChain, DepositsUnavailableError } from "../../execution/eth1/deposit-chain.ts";
import { eth1Vote, isBridgeRetired } from "./eth1-vote.ts";

export interface Eth1Proposal {
  eth1Data: phase0.Eth1Data;
  deposits: phase0.Deposit[];
}

/** Eth1 data and deposits for blocks produced by this node. */
export class Eth1Proposals {
  readonly deposits: DepositChain;

  constructor(deposits: DepositChain) {
    this.deposits = deposits;
  }

  /**
   * Returns the eth1 vote and the deposits for a block built on this state. Rejects with a `DepositsUnavailableError`
   * if required deposits are unknown.
   */
  async forBlock(preState: CachedBeaconStateAllForks): Promise<Eth1Proposal> {
    const vote = eth1Vote(preState, this.deposits.blocks);
    // The vote is processed before the deposits (phase0/beacon-chain.md, process_block), so the vote may determine the
    // eth1 data that proves the deposits.
    const isDecisive = becomesNewEth1Data(preState, ssz.phase0.Eth1Data.toViewDU(vote));
    const eth1Data = isDecisive ? vote : preState.eth1Data.toValue();
    const due = isBridgeRetired(preState) ? 0 : getEth1DepositCount(preState, eth1Data);
    const deposits = due > 0 ? await this.#deposits(eth1Data, preState.eth1DepositIndex, due) : [];
    return { eth1Data: vote, deposits };
  }

  #deposits(eth1Data: phase0.Eth1Data, from: number, count: number): Promise<phase0.Deposit[]> {
    if (this.deposits.newest) return this.deposits.provenDeposits(eth1Data, from, count);
    throw new DepositsUnavailableError(
      `The block must include ${count} deposits, but this node does not follow the deposit chain. Set --eth1.`,
    );
  }
}
