import { getEth1DepositCount } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { notFound } from "../../failure.ts";
import { defineMethod, get } from "../definition.ts";
import { requireSynced } from "../preconditions.ts";
import { boolean, list, object, shape } from "../schemas.ts";

const getEth1Chain = defineMethod({
  number: 59,
  name: "getEth1Chain",
  summary: "The blocks of the deposit chain that are candidates for votes, oldest first.",
  result: {
    name: "eth1_blocks",
    schema: list(
      object({
        number: shape("Uint64"),
        timestamp: shape("Uint64"),
        deposits: list(shape("DepositData")),
        voteData: shape("Eth1Data"),
      }),
    ),
  },
  failures: [],
  rest: [get("/fanal/v1/eth1/chain"), get("/nimbus/v1/eth1/chain")],
  cost: "cheap",
  access: "read",
  example: {},
  // The node is connected to no deposit chain.
  handler: () => [],
});

const getEth1ProposalData = defineMethod({
  number: 60,
  name: "getEth1ProposalData",
  summary: "The vote on the deposit chain and the deposits of a block of the current slot.",
  result: {
    name: "proposal_data",
    schema: object({ vote: shape("Eth1Data"), deposits: list(shape("Deposit")), hasMissingDeposits: boolean }),
  },
  failures: ["not-found", "unavailable"],
  rest: [get("/fanal/v1/eth1/proposal_data"), get("/nimbus/v1/eth1/proposal_data")],
  cost: "heavy",
  access: "read",
  example: {},
  async handler({ chain }) {
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
});

export const eth1Methods = [getEth1Chain, getEth1ProposalData] as const;
