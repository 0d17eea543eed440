import type { CachedBeaconStateAllForks, CachedBeaconStateElectra } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { DevFork } from "../../dev/forks.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import { type DepositChain, DepositsUnavailableError, type Eth1Block } from "../../execution/eth1/deposit-chain.ts";
import { Eth1Proposals } from "./eth1-proposals.ts";

const GENESIS_TIME = 10_000;
/** One vote short of a majority in a period of 32 slots. */
const VOTES_BEFORE_DECISION = 16;
const BLOCK: Eth1Block = {
  number: 7,
  hash: new Uint8Array(32).fill(7),
  timestamp: GENESIS_TIME - 60,
  depositsBefore: 0,
  depositCount: 20,
  depositRoot: new Uint8Array(32).fill(20),
};
const VOTE: phase0.Eth1Data = { blockHash: BLOCK.hash, depositCount: 20n, depositRoot: BLOCK.depositRoot };

function stateOf(fork: DevFork, votes: number): CachedBeaconStateAllForks {
  const chainConfig = devChainConfig({
    forks: fork === "phase0" ? [] : [{ fork, epoch: 0 }],
    slotSeconds: 2,
    genesisTime: GENESIS_TIME,
    deposits: { contract: `0x${"42".repeat(20)}`, chainId: 1, followDistance: 20 },
  });
  const genesis = { chainConfig, validatorCount: 16, genesisTime: GENESIS_TIME, depositsElsewhere: true };
  const { state } = createDevGenesis(genesis);
  state.eth1DataVotes = ssz.phase0.Eth1DataVotes.toViewDU(Array(votes).fill(VOTE));
  return state;
}

/** A deposit chain with one block. The deposits it returns contain the arguments of the request. */
const DEPOSITS = {
  blocks: [BLOCK],
  newest: BLOCK,
  provenDeposits: async (eth1Data: phase0.Eth1Data, from: number, count: number) => [{ eth1Data, from, count }],
} as unknown as DepositChain;
const proposals = new Eth1Proposals(DEPOSITS);

describe("Eth1Proposals", () => {
  it("includes no deposits that are not agreed on yet", async () => {
    const state = stateOf("phase0", VOTES_BEFORE_DECISION - 1);
    expect(await proposals.forBlock(state)).toEqual({ eth1Data: VOTE, deposits: [] });
  });

  it("includes deposits that its own vote makes agreed on, up to the limit", async () => {
    const { eth1Data, deposits } = await proposals.forBlock(stateOf("phase0", VOTES_BEFORE_DECISION));
    expect(eth1Data).toEqual(VOTE);
    expect(deposits).toEqual([{ eth1Data: VOTE, from: 0, count: 16 }]);
  });

  it("proves against the agreed eth1 data if its vote is not decisive", async () => {
    const agreed = { ...VOTE, depositCount: 5n };
    const state = stateOf("phase0", 3);
    state.eth1Data = ssz.phase0.Eth1Data.toViewDU(agreed);
    state.eth1DepositIndex = 2;
    expect((await proposals.forBlock(state)).deposits).toEqual([{ eth1Data: agreed, from: 2, count: 3 }]);
  });

  it("stops in Electra at the first deposit request", async () => {
    const state = stateOf("electra", VOTES_BEFORE_DECISION) as CachedBeaconStateElectra;
    state.eth1DepositIndex = 4;
    state.depositRequestsStartIndex = 6n;
    expect((await proposals.forBlock(state)).deposits).toEqual([{ eth1Data: VOTE, from: 4, count: 2 }]);
  });

  it("includes none from Fulu on", async () => {
    const state = stateOf("fulu", 0);
    state.eth1Data = ssz.phase0.Eth1Data.toViewDU(VOTE);
    expect(await proposals.forBlock(state)).toEqual({ eth1Data: VOTE, deposits: [] });
  });

  it("reports missing deposits without a deposit chain", async () => {
    const nothing = new Eth1Proposals({ blocks: [], newest: undefined } as unknown as DepositChain);
    const state = stateOf("phase0", 0);
    expect(await nothing.forBlock(state)).toEqual({ eth1Data: state.eth1Data.toValue(), deposits: [] });
    state.eth1Data = ssz.phase0.Eth1Data.toViewDU(VOTE);
    await expect(nothing.forBlock(state)).rejects.toThrow(DepositsUnavailableError);
  });
});
