import { Tree, toGindex } from "@chainsafe/persistent-merkle-tree";
import { type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { ForkSeq, MIN_ACTIVATION_BALANCE, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type BeaconStateBellatrix,
  type CachedBeaconStateFulu,
  computeProposerIndices,
  createCachedBeaconState,
  createEmptyEpochCacheImmutableData,
  createPubkeyCache,
  getConsolidationChurnLimit,
  initializeBeaconStateFromEth1,
  isValidGenesisState,
  processSlots,
  ZERO_HASH,
} from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_BLOCK_HASH } from "../execution/dev-payload.ts";
import { devChainConfig } from "./chain-config.ts";
import { DEV_FORKS, type DevFork } from "./forks.ts";
import { createDevGenesis } from "./genesis.ts";
import { genesisDeposits } from "./genesis-deposits.ts";
import { InteropKeys } from "./interop-keys.ts";

const genesisTime = 1_700_000_000;
const validatorCount = 64;
const configStartingWith = (fork: DevFork) =>
  devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 6, genesisTime });

/** The slow way of the specification: every deposit with its proof, every signature checked. */
function rootByDeposits(
  chainConfig: ChainConfig,
  executionHeader: BeaconStateBellatrix["latestExecutionPayloadHeader"],
) {
  const forkConfig = createChainForkConfig(chainConfig);
  const rootList = ssz.phase0.DepositDataRootList.defaultViewDU();
  const deposits = genesisDeposits(chainConfig, new InteropKeys(validatorCount)).map((data, index): phase0.Deposit => {
    rootList.push(ssz.phase0.DepositData.hashTreeRoot(data));
    rootList.commit();
    return { data, proof: new Tree(rootList.node).getSingleProof(toGindex(rootList.type.depth, BigInt(index))) };
  });
  const state = initializeBeaconStateFromEth1(
    forkConfig,
    createEmptyEpochCacheImmutableData(chainConfig, { genesisValidatorsRoot: ZERO_HASH }),
    DEV_GENESIS_BLOCK_HASH,
    genesisTime,
    deposits,
    rootList,
    executionHeader as never,
  );
  if (forkConfig.getForkSeq(0) >= ForkSeq.fulu) {
    const config = createBeaconConfig(chainConfig, state.genesisValidatorsRoot);
    const cached = createCachedBeaconState(state.type.getViewDU(state.node) as BeaconStateAllForks, {
      config,
      pubkeyCache: createPubkeyCache(),
    });
    const lookahead = [0, 1].flatMap((epoch) =>
      computeProposerIndices(ForkSeq.fulu, cached, cached.epochCtx.getShufflingAtEpoch(epoch), epoch),
    );
    (cached as CachedBeaconStateFulu).proposerLookahead = ssz.fulu.ProposerLookahead.toViewDU(lookahead);
    return toRootHex(cached.hashTreeRoot());
  }
  return toRootHex(state.hashTreeRoot());
}

describe("createDevGenesis", () => {
  it.each(DEV_FORKS)("equals the state that deposits lead to in %s", (fork) => {
    const chainConfig = configStartingWith(fork);
    const { state } = createDevGenesis({ chainConfig, validatorCount, genesisTime });
    const header = "latestExecutionPayloadHeader" in state ? state.latestExecutionPayloadHeader : undefined;
    expect(toRootHex(state.hashTreeRoot())).toBe(rootByDeposits(chainConfig, header as never));
    expect(isValidGenesisState(createChainForkConfig(chainConfig), state)).toBe(true);
  });

  it("gives the configuration and the caches that belong to the state", () => {
    const { state, config, pubkeyCache, keys } = createDevGenesis({
      chainConfig: configStartingWith("fulu"),
      validatorCount,
      genesisTime,
    });
    expect(state.genesisTime).toBe(genesisTime);
    expect(config.genesisValidatorsRoot).toEqual(state.genesisValidatorsRoot);
    expect(pubkeyCache.size).toBe(validatorCount);
    expect(pubkeyCache.getIndex(keys.publicKey(5)!)).toBe(5);
    expect(state.epochCtx.getBeaconProposers()).toEqual(
      (state as CachedBeaconStateFulu).proposerLookahead.getAll().slice(0, SLOTS_PER_EPOCH),
    );
  });

  it("starts a chain that can pass through every fork", () => {
    const forks = DEV_FORKS.map((fork, epoch) => ({ fork, epoch }));
    const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime });
    const { state, config } = createDevGenesis({ chainConfig, validatorCount, genesisTime });
    const later = processSlots(state, DEV_FORKS.length * SLOTS_PER_EPOCH);
    expect(later.fork.currentVersion).toEqual(config.FULU_FORK_VERSION);
  });

  it("leaves the first deposit to the deposit contract when there is one", () => {
    const chainConfig = configStartingWith("phase0");
    const { state } = createDevGenesis({ chainConfig, validatorCount, genesisTime, depositsElsewhere: true });
    expect(state.validators.length).toBe(validatorCount);
    expect(state.eth1DepositIndex).toBe(0);
    // What get_deposit_root of a new contract gives.
    const root = "0xd70a234731285c6804c2a4f56711ddb8c82c99740f207854891028af34e27e5e";
    expect(ssz.phase0.Eth1Data.toJson(state.eth1Data.toValue())).toMatchObject({
      deposit_root: root,
      deposit_count: "0",
    });
  });

  it("starts a chain on which validators can be consolidated", () => {
    const { state } = createDevGenesis({ chainConfig: configStartingWith("electra"), validatorCount, genesisTime });
    expect(getConsolidationChurnLimit(ForkSeq.electra, state.epochCtx)).toBeGreaterThan(MIN_ACTIVATION_BALANCE);
  });

  it("works with a single validator", () => {
    const { state } = createDevGenesis({ chainConfig: configStartingWith("fulu"), validatorCount: 1, genesisTime });
    expect(state.epochCtx.getBeaconProposer(0)).toBe(0);
  });

  it("refuses a chain without validators", () => {
    const chainConfig = configStartingWith("phase0");
    expect(() => createDevGenesis({ chainConfig, validatorCount: 0, genesisTime })).toThrow(/at least 1/);
  });
});
