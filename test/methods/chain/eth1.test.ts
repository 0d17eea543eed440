import type { CachedBeaconStateAllForks, CachedBeaconStateElectra } from "@lodestar/state-transition";
import { type BeaconBlock, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { createApi } from "../../../src/api/api.ts";
import type { DevFork, ScheduledFork } from "../../../src/dev/forks.ts";
import { Caller } from "../../support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../support/api/fake-chain.ts";
import { openQuietDevChain } from "../../support/chain/dev-chain.ts";

const NO_REVEAL = Uint8Array.from({ length: 96 }, (_, i) => (i === 0 ? 0xc0 : 0));
const ZERO_VOTE = ssz.phase0.Eth1Data.toJson(ssz.phase0.Eth1Data.defaultValue());

/** A chain whose state at the current slot is changed by `edit`. */
function fakeWith(fork: DevFork, edit: (state: CachedBeaconStateAllForks) => void) {
  const forks: ScheduledFork[] = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
  const chain = createFakeChain(forks);
  const { canonicalAtSlot } = chain.states;
  chain.states.canonicalAtSlot = async (slot) => {
    const state = (await canonicalAtSlot(slot))!.clone();
    edit(state);
    return state;
  };
  const network = fakeNetwork(chain);
  return { chain, caller: new Caller(createApi({ chain: asBeaconChain(chain), network, setLogSpec: () => {} })) };
}

/** Makes the state expect one more deposit than it has seen. */
function expectDeposit(state: CachedBeaconStateAllForks): void {
  const eth1Data = state.eth1Data.toValue();
  state.eth1Data = ssz.phase0.Eth1Data.toViewDU({ ...eth1Data, depositCount: BigInt(state.eth1DepositIndex + 1) });
}

describe("getEth1ProposalData", () => {
  it.each<DevFork>(["phase0", "fulu"])("is what a block produced for the slot holds, in %s", async (fork) => {
    const forks: ScheduledFork[] = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    const { devChain } = await openQuietDevChain(3, { forks });
    await devChain.clock.advanceTo(6);
    const proposal = await new Caller(devChain.api).call("getEth1ProposalData");
    const { data } = (await devChain.api.validator.produceBlockV3({
      slot: devChain.clock.currentSlot,
      randaoReveal: NO_REVEAL,
      skipRandaoVerification: true,
    })) as { data: { block: BeaconBlock } };
    const { eth1Data, deposits } = data.block.body;
    expect(proposal).toEqual({
      vote: ssz.phase0.Eth1Data.toJson(eth1Data),
      deposits: deposits.map((deposit) => ssz.phase0.Deposit.toJson(deposit)),
      hasMissingDeposits: false,
    });
    expect(proposal.vote.deposit_count).toBe("16");
  });

  it.each<DevFork>(["phase0", "electra"])("has no vote where deposits are expected, in %s", async (fork) => {
    const { caller } = fakeWith(fork, expectDeposit);
    expect(await caller.call("getEth1ProposalData")).toEqual({
      vote: ZERO_VOTE,
      deposits: [],
      hasMissingDeposits: true,
    });
  });

  it("expects no deposits once execution requests have replaced them", async () => {
    const { caller } = fakeWith("electra", (state) => {
      expectDeposit(state);
      (state as CachedBeaconStateElectra).depositRequestsStartIndex = BigInt(state.eth1DepositIndex);
    });
    const proposal = await caller.call("getEth1ProposalData");
    expect(proposal.hasMissingDeposits).toBe(false);
    expect(proposal.vote).not.toEqual(ZERO_VOTE);
  });

  it("is unavailable while the node is syncing, and for a missing state", async () => {
    const { chain, caller } = fakeWith("phase0", () => {});
    chain.states.canonicalAtSlot = async () => null;
    expect(await caller.error("getEth1ProposalData")).toMatchObject({ code: -32001 });
    Object.assign(chain.status, { isSyncing: true, syncDistance: 99 });
    expect(await caller.error("getEth1ProposalData")).toMatchObject({ code: -32002 });
    // The deposit chain is unaffected.
    expect(await caller.call("getEth1Chain")).toEqual([]);
  });
});

describe("the eth1 methods", () => {
  it.each(["getEth1Chain", "getEth1ProposalData"])("%s takes no parameters", async (name) => {
    const { caller } = fakeWith("phase0", () => {});
    expect(await caller.error(name, [1])).toMatchObject({ code: -32602 });
    expect(await caller.error(name, { slot: 1 })).toMatchObject({ code: -32602 });
  });
});
