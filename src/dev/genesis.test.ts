import { Tree, toGindex } from "@chainsafe/persistent-merkle-tree";
import { type ChainConfig, createBeaconConfig, createChainForkConfig } from "@lodestar/config";
import { ForkSeq, MIN_ACTIVATION_BALANCE, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type BeaconStateAllForks,
  type BeaconStateBellatrix,
  type CachedBeaconStateElectra,
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
import { toHex, toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { variants } from "../../test/support/suite/tier.ts";
import { DEV_GENESIS_BLOCK_HASH } from "../execution/dev-payload.ts";
import { devChainConfig } from "./chain-config.ts";
import { DEV_FORKS, type DevFork } from "./forks.ts";
import { createDevGenesis } from "./genesis.ts";
import { genesisDeposits } from "./genesis-deposits.ts";
import type { GenesisParameters } from "./genesis-parameters.ts";
import { InteropKeys } from "./interop-keys.ts";

const genesisTime = 1_700_000_000;
const validatorCount = 64;
const address = `0x${"ab".repeat(20)}`;
const configStartingWith = (fork: DevFork) =>
  devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 6, genesisTime });

/** Builds the genesis state as specified, verifying the proof and signature of every deposit. */
function rootByDeposits(
  chainConfig: ChainConfig,
  executionHeader: BeaconStateBellatrix["latestExecutionPayloadHeader"],
  parameters?: GenesisParameters,
) {
  const forkConfig = createChainForkConfig(chainConfig);
  const rootList = ssz.phase0.DepositDataRootList.defaultViewDU();
  const depositData = genesisDeposits(chainConfig, new InteropKeys(validatorCount), parameters);
  const deposits = depositData.map((data, index): phase0.Deposit => {
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
  const forks = variants<DevFork>({
    fast: ["phase0", "electra", "fulu"],
    full: ["altair", "bellatrix", "capella", "deneb"],
  });

  it.each(forks)("equals the specified genesis state in %s", (fork) => {
    const chainConfig = configStartingWith(fork);
    const { state } = createDevGenesis({ chainConfig, validatorCount, genesisTime });
    const header = "latestExecutionPayloadHeader" in state ? state.latestExecutionPayloadHeader : undefined;
    expect(toRootHex(state.hashTreeRoot())).toBe(rootByDeposits(chainConfig, header as never));
    expect(isValidGenesisState(createChainForkConfig(chainConfig), state)).toBe(true);
  });

  /**
   * Before Electra, Lodestar applies the 2048 ETH limit to 0x02 credentials, contrary to the specification of those
   * forks.
   */
  it.each(forks)("equals it in %s with other credentials and balances", (fork) => {
    const isElectra = DEV_FORKS.indexOf(fork) >= DEV_FORKS.indexOf("electra");
    const parameters: GenesisParameters = {
      withdrawals: [
        { range: { first: 0, last: 15 }, value: { prefix: "0x01", address } },
        { range: { first: 16, last: 31 }, value: { prefix: isElectra ? "0x02" : "0x01" } },
      ],
      balances: [
        { range: { first: 8, last: 11 }, value: 31_999_999_999 },
        { range: { first: 12, last: 19 }, value: 2_048_500_000_000 },
        { range: { first: 20, last: 20 }, value: 1_000_000_000 },
        { range: { first: 21, last: 24 }, value: 100_700_000_000 },
      ],
    };
    const chainConfig = configStartingWith(fork);
    const { state } = createDevGenesis({ chainConfig, validatorCount, genesisTime, ...parameters });
    const header = "latestExecutionPayloadHeader" in state ? state.latestExecutionPayloadHeader : undefined;
    expect(toRootHex(state.hashTreeRoot())).toBe(rootByDeposits(chainConfig, header as never, parameters));
    expect(isValidGenesisState(createChainForkConfig(chainConfig), state)).toBe(true);
  });

  it("caps 0x02 validators at 2048 ETH from electra on, and activates none below 32 ETH", () => {
    const withdrawals: GenesisParameters["withdrawals"] = [
      { range: { first: 0, last: 0 }, value: { prefix: "0x02", address } },
      { value: { prefix: "0x01" } },
    ];
    const balances: GenesisParameters["balances"] = [
      { range: { first: 0, last: 1 }, value: 3000e9 },
      { range: { first: 2, last: 2 }, value: 31.5e9 },
    ];
    const validatorsIn = (fork: DevFork) => {
      const options = { chainConfig: configStartingWith(fork), validatorCount, genesisTime, withdrawals, balances };
      const { state } = createDevGenesis(options);
      expect([0, 1, 2, 3].map((index) => state.balances.get(index))).toEqual([3000e9, 3000e9, 31.5e9, 32e9]);
      return [0, 1, 2, 3].map((index) => state.validators.get(index));
    };
    const inElectra = validatorsIn("electra");
    expect(inElectra.map(({ effectiveBalance }) => effectiveBalance)).toEqual([2048e9, 32e9, 31e9, 32e9]);
    expect(inElectra.map(({ activationEpoch }) => activationEpoch)).toEqual([0, 0, Infinity, 0]);
    expect(toHex(inElectra[0]!.withdrawalCredentials)).toBe(`0x02${"00".repeat(11)}${address.slice(2)}`);
    const derived = inElectra.slice(1).map(({ withdrawalCredentials }) => toHex(withdrawalCredentials));
    expect(new Set(derived).size).toBe(3);
    for (const credentials of derived) expect(credentials).toMatch(/^0x010{22}[0-9a-f]{40}$/);
    // Up to Deneb, MAX_EFFECTIVE_BALANCE applies to every validator.
    expect(validatorsIn("deneb").map(({ effectiveBalance }) => effectiveBalance)).toEqual([32e9, 32e9, 31e9, 32e9]);
  });

  it("queues the excess balance of early 0x02 validators at the electra fork", () => {
    const forks = [
      { fork: "deneb", epoch: 0 },
      { fork: "electra", epoch: 1 },
    ] as const;
    const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime });
    const early = { range: { first: 3, last: 3 } };
    const { state } = createDevGenesis({
      chainConfig,
      validatorCount,
      genesisTime,
      withdrawals: [{ ...early, value: { prefix: "0x02" } }],
      balances: [{ ...early, value: 40e9 }],
    });
    const { pendingDeposits } = processSlots(state, SLOTS_PER_EPOCH) as CachedBeaconStateElectra;
    expect(pendingDeposits.getAllReadonly().map(({ amount }) => amount > 7e9)).toEqual([true]);
  });

  it.each([
    ["validators beyond the last", { balances: [{ range: { first: 60, last: 64 }, value: 32e9 }] }, /0 to 63/],
    [
      "ranges that overlap",
      {
        balances: [
          { range: { first: 0, last: 4 }, value: 32e9 },
          { range: { first: 4, last: 5 }, value: 16e9 },
        ],
      },
      /balances of validator 4 are given twice/,
    ],
    ["two defaults", { withdrawals: [{ value: { prefix: "0x01" } }, { value: { prefix: "0x02" } }] }, /given twice/],
    ["a balance below the minimum deposit", { balances: [{ value: 5e8 }] }, /Invalid balance of 0\.5 ETH/],
    ["a chain without active validators", { balances: [{ value: 31e9 }] }, /without an active validator/],
  ] satisfies [string, GenesisParameters, RegExp][])("rejects %s", (_what, parameters, complaint) => {
    const options = { chainConfig: configStartingWith("fulu"), validatorCount, genesisTime, ...parameters };
    expect(() => createDevGenesis(options)).toThrow(complaint);
  });

  it("returns the configuration and caches of the state", () => {
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

  it("creates a state that can be advanced through every fork", () => {
    const forks = DEV_FORKS.map((fork, epoch) => ({ fork, epoch }));
    const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime });
    const { state, config } = createDevGenesis({ chainConfig, validatorCount, genesisTime });
    const later = processSlots(state, DEV_FORKS.length * SLOTS_PER_EPOCH);
    expect(later.fork.currentVersion).toEqual(config.GLOAS_FORK_VERSION);
  });

  it("starts at deposit index 0 with a deposit contract", () => {
    const chainConfig = configStartingWith("phase0");
    const { state } = createDevGenesis({ chainConfig, validatorCount, genesisTime, depositsElsewhere: true });
    expect(state.validators.length).toBe(validatorCount);
    expect(state.eth1DepositIndex).toBe(0);
    // The result of get_deposit_root on a new contract.
    const root = "0xd70a234731285c6804c2a4f56711ddb8c82c99740f207854891028af34e27e5e";
    expect(ssz.phase0.Eth1Data.toJson(state.eth1Data.toValue())).toMatchObject({
      deposit_root: root,
      deposit_count: "0",
    });
  });

  it("leaves churn for consolidations", () => {
    const { state } = createDevGenesis({ chainConfig: configStartingWith("electra"), validatorCount, genesisTime });
    expect(getConsolidationChurnLimit(ForkSeq.electra, state.epochCtx)).toBeGreaterThan(MIN_ACTIVATION_BALANCE);
  });

  it("works with a single validator", () => {
    const { state } = createDevGenesis({ chainConfig: configStartingWith("fulu"), validatorCount: 1, genesisTime });
    expect(state.epochCtx.getBeaconProposer(0)).toBe(0);
  });

  it("rejects a chain without validators", () => {
    const chainConfig = configStartingWith("phase0");
    expect(() => createDevGenesis({ chainConfig, validatorCount: 0, genesisTime })).toThrow(/at least 1/);
  });
});
