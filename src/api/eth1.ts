import { getEth1DepositCount } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { notFound } from "../failure.ts";
import type { ChainView } from "./chain-view.ts";
import { requireSynced } from "./gate.ts";

export interface Eth1ProposalData {
  /** Eth1Data as JSON. */
  vote: unknown;
  deposits: unknown[];
  hasMissingDeposits: boolean;
}

/** The methods on the deposit chain, for a node that is connected to none. */
export interface Eth1Api {
  getEth1Chain(): unknown[];
  getEth1ProposalData(): Promise<Eth1ProposalData>;
}

export function createEth1Api(chain: ChainView): Eth1Api {
  return {
    getEth1Chain: () => [],

    async getEth1ProposalData() {
      requireSynced(chain);
      const { head, clock, states } = chain;
      const slot = Math.max(head.slot, clock.currentSlot);
      const state = await states.canonicalAtSlot(slot);
      if (!state) throw notFound(`The state at slot ${slot} is not in this node's history.`);
      // A block would have to bring these deposits, and nobody here has them.
      const hasMissingDeposits = getEth1DepositCount(state) > 0;
      const vote = hasMissingDeposits ? ssz.phase0.Eth1Data.defaultValue() : state.eth1Data.toValue();
      return { vote: ssz.phase0.Eth1Data.toJson(vote), deposits: [], hasMissingDeposits };
    },
  };
}
