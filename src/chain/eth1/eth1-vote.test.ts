import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  processSlots,
} from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { DevFork } from "../../dev/forks.ts";
import { createDevGenesis } from "../../dev/genesis.ts";
import type { Eth1Block } from "../../execution/eth1/deposit-chain.ts";
import { eth1Vote, isBridgeRetired } from "./eth1-vote.ts";

const GENESIS_TIME = 10_000;
const FOLLOW_SECONDS = 40;
const PERIOD_SLOTS = 32;
const SLOT_SECONDS = 2;

function stateOf(fork: DevFork = "phase0"): CachedBeaconStateAllForks {
  const chainConfig = devChainConfig({
    forks: fork === "phase0" ? [] : [{ fork, epoch: 0 }],
    slotSeconds: SLOT_SECONDS,
    genesisTime: GENESIS_TIME,
    deposits: { contract: `0x${"42".repeat(20)}`, chainId: 1, followDistance: FOLLOW_SECONDS / SLOT_SECONDS },
  });
  const depositsElsewhere = true;
  return createDevGenesis({ chainConfig, validatorCount: 16, genesisTime: GENESIS_TIME, depositsElsewhere }).state;
}

/** A block from the given number of seconds before the first period. */
function block(secondsBefore: number, depositCount = 0): Eth1Block {
  return {
    number: 1000 - secondsBefore,
    hash: new Uint8Array(32).fill(secondsBefore),
    timestamp: GENESIS_TIME - secondsBefore,
    depositsBefore: depositCount,
    depositCount,
    depositRoot: new Uint8Array(32).fill(depositCount),
  };
}

const voteFor = ({ hash, depositCount, depositRoot }: Eth1Block): phase0.Eth1Data => ({
  blockHash: hash,
  depositCount: BigInt(depositCount),
  depositRoot,
});

function withVotes(state: CachedBeaconStateAllForks, ...blocks: Eth1Block[]): CachedBeaconStateAllForks {
  state.eth1DataVotes = ssz.phase0.Eth1DataVotes.toViewDU(blocks.map(voteFor));
  return state;
}

describe("eth1Vote", () => {
  it("keeps the agreed eth1 data without a candidate", () => {
    const state = stateOf();
    const agreed = state.eth1Data.toValue();
    expect(eth1Vote(state, [])).toEqual(agreed);
    expect(eth1Vote(state, [block(2 * FOLLOW_SECONDS + 1), block(FOLLOW_SECONDS - 1)])).toEqual(agreed);
    // A vote for a non-candidate does not count.
    expect(eth1Vote(withVotes(state, block(5)), [block(5)])).toEqual(agreed);
  });

  it("picks the newest candidate without votes", () => {
    const [oldest, newest] = [block(2 * FOLLOW_SECONDS), block(FOLLOW_SECONDS)];
    expect(eth1Vote(stateOf(), [oldest, newest, block(FOLLOW_SECONDS - 1)])).toEqual(voteFor(newest));
    expect(eth1Vote(stateOf(), [oldest])).toEqual(voteFor(oldest));
  });

  it("follows the majority, on a tie the first", () => {
    const [a, b, c] = [block(60), block(50), block(41)];
    const state = stateOf();
    expect(eth1Vote(withVotes(state, b), [a, b, c])).toEqual(voteFor(b));
    expect(eth1Vote(withVotes(state, b, a, a), [a, b, c])).toEqual(voteFor(a));
    expect(eth1Vote(withVotes(state, b, a, a, b), [a, b, c])).toEqual(voteFor(b));
    // Votes for unknown blocks are not candidates.
    expect(eth1Vote(withVotes(state, a, a, b), [b, c])).toEqual(voteFor(b));
    const otherRoot = { ...a, depositRoot: new Uint8Array(32).fill(9) };
    expect(eth1Vote(withVotes(state, otherRoot), [a, b, c])).toEqual(voteFor(c));
  });

  it("never goes back to fewer deposits", () => {
    const state = stateOf();
    state.eth1Data = ssz.phase0.Eth1Data.toViewDU(voteFor(block(70, 5)));
    expect(eth1Vote(state, [block(60, 5), block(50, 4)])).toEqual(voteFor(block(60, 5)));
    expect(eth1Vote(withVotes(state, block(50, 4)), [block(50, 4)])).toEqual(state.eth1Data.toValue());
  });

  it("uses the start of the voting period throughout the period", () => {
    const candidate = block(FOLLOW_SECONDS - PERIOD_SLOTS * SLOT_SECONDS);
    const last = processSlots(stateOf(), PERIOD_SLOTS - 1);
    expect(eth1Vote(last, [candidate])).toEqual(last.eth1Data.toValue());
    for (const slot of [PERIOD_SLOTS, 2 * PERIOD_SLOTS - 1]) {
      expect(eth1Vote(processSlots(last, slot), [candidate])).toEqual(voteFor(candidate));
    }
  });

  it("is fixed once deposits come through execution payloads", () => {
    const candidate = block(50, 3);
    const electra = stateOf("electra") as CachedBeaconStateElectra;
    expect(isBridgeRetired(electra)).toBe(false);
    expect(eth1Vote(electra, [candidate])).toEqual(voteFor(candidate));
    electra.depositRequestsStartIndex = BigInt(electra.eth1DepositIndex);
    expect(isBridgeRetired(electra)).toBe(true);
    expect(eth1Vote(electra, [candidate])).toEqual(electra.eth1Data.toValue());
    const fulu = stateOf("fulu");
    expect(eth1Vote(fulu, [candidate])).toEqual(fulu.eth1Data.toValue());
  });
});
