import { ssz } from "@lodestar/types";
import { isBridgeRetired } from "../../../chain/eth1/eth1-vote.ts";
import { notFound } from "../../../errors/failure.ts";
import { DepositsUnavailableError } from "../../../execution/eth1/deposit-chain.ts";
import { DepositTreeSnapshotType } from "../../../execution/eth1/deposit-snapshot.ts";
import { defineEncoded, defineMethod, get } from "../../definition.ts";
import { requireSynced } from "../../preconditions.ts";
import { boolean, list, object, shape } from "../../schemas.ts";

const { Eth1Data, Deposit, DepositData } = ssz.phase0;

const getEth1Chain = defineMethod({
  number: 59,
  name: "getEth1Chain",
  summary: "Candidate blocks of the deposit chain for eth1 votes, oldest first.",
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
  cost: "heavy",
  access: "read",
  example: {},
  async handler({ chain }) {
    if (isBridgeRetired(chain.headState)) return [];
    const blocks = await chain.eth1.deposits.blocksWithDeposits();
    return blocks.map(({ block: { number, timestamp, depositRoot, depositCount, hash }, deposits }) => ({
      number: String(number),
      timestamp: String(timestamp),
      deposits: deposits.map((data) => DepositData.toJson(data)),
      voteData: Eth1Data.toJson({ depositRoot, depositCount: BigInt(depositCount), blockHash: hash }),
    }));
  },
});

const getEth1ProposalData = defineMethod({
  number: 60,
  name: "getEth1ProposalData",
  summary: "The eth1 vote and the deposits for a block of the current slot.",
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
    if (!state) throw notFound(`The node has no state of slot ${slot}.`);
    try {
      const { eth1Data, deposits } = await chain.eth1.forBlock(state);
      const depositsJson = deposits.map((deposit) => Deposit.toJson(deposit));
      return { vote: Eth1Data.toJson(eth1Data), deposits: depositsJson, hasMissingDeposits: false };
    } catch (error) {
      if (!(error instanceof DepositsUnavailableError)) throw error;
      return { vote: Eth1Data.toJson(Eth1Data.defaultValue()), deposits: [], hasMissingDeposits: true };
    }
  },
});

const getDepositSnapshot = defineEncoded({
  name: "get_v1_beacon_deposit_snapshot",
  summary: "Snapshot of the finalized deposit tree (EIP-4881).",
  result: {
    name: "deposit_snapshot",
    schema: object({
      finalized: list(shape("Root")),
      deposit_root: shape("Root"),
      deposit_count: shape("Uint64"),
      execution_block_hash: shape("Root"),
      execution_block_height: shape("Uint64"),
    }),
  },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/deposit_snapshot", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  example: {},
  codec: ({ beacon }) => ({ data: DepositTreeSnapshotType, meta: beacon.getGenesis.resp.meta }),
  async handler({ chain }) {
    const data = chain.eth1.deposits.snapshot;
    if (data) return { data };
    throw notFound(
      "No deposit snapshot: no block of a deposit chain has been finalized by the beacon chain. Follow a deposit chain with " +
        "--eth1; a dev chain has one after the first dev_deposit before electra.",
    );
  },
});

export const eth1Methods = [getEth1Chain, getEth1ProposalData] as const;
export const depositSnapshotMethods = [getDepositSnapshot] as const;
