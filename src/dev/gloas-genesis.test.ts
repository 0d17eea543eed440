import { createChainForkConfig } from "@lodestar/config";
import { BUILDER_INDEX_FLAG, PTC_SIZE, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateFulu, type CachedBeaconStateGloas, processSlots } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { genesisBlock, latestBlockHeader } from "../chain/anchor/anchor.ts";
import { DEV_GENESIS_BLOCK_HASH } from "../execution/dev-payload.ts";
import { builderKeys } from "./builder-keys.ts";
import { devChainConfig } from "./chain-config.ts";
import type { DevFork } from "./forks.ts";
import { createDevGenesis } from "./genesis.ts";
import type { GenesisBuilders } from "./genesis-parameters.ts";
import { InteropKeys } from "./interop-keys.ts";

const genesisTime = 1_700_000_000;
const validatorCount = 64;

function genesisIn(fork: DevFork, builders?: GenesisBuilders) {
  const chainConfig = devChainConfig({ forks: [{ fork, epoch: 0 }], slotSeconds: 6, genesisTime });
  return createDevGenesis({ chainConfig, validatorCount, genesisTime, builders });
}

describe("a gloas genesis", () => {
  it("requires an active validator for each slot of an epoch", () => {
    const chainConfig = devChainConfig({ forks: [{ fork: "gloas", epoch: 0 }], slotSeconds: 6, genesisTime });
    expect(() => createDevGenesis({ chainConfig, validatorCount: 7, genesisTime })).toThrow(
      "Gloas requires at least 8 active validators, one per slot of an epoch, but the chain would start with 7.",
    );
  });

  it("is that of fulu, with the changes of gloas/fork.md and an execution chain that starts with block 0", () => {
    const { state, config } = genesisIn("gloas", { count: 2, balance: 100e9 });
    const { latestExecutionPayloadHeader, ...fulu } = (genesisIn("fulu").state as CachedBeaconStateFulu).toValue();
    const keys = builderKeys(2);
    const { BeaconState, BeaconBlockBody, ExecutionRequests, Validators } = ssz.gloas;
    const emptyState = BeaconState.defaultValue();
    const bid = {
      ...emptyState.latestExecutionPayloadBid,
      parentBlockHash: DEV_GENESIS_BLOCK_HASH,
      gasLimit: 30_000_000n,
      executionRequestsRoot: ExecutionRequests.hashTreeRoot(ExecutionRequests.defaultValue()),
    };
    const body = BeaconBlockBody.defaultValue();
    body.signedExecutionPayloadBid.message = bid;
    const value = {
      ...emptyState,
      ...fulu,
      fork: { previousVersion: config.GLOAS_FORK_VERSION, currentVersion: config.GLOAS_FORK_VERSION, epoch: 0 },
      genesisValidatorsRoot: Validators.hashTreeRoot(fulu.validators),
      latestBlockHeader: { ...fulu.latestBlockHeader, bodyRoot: BeaconBlockBody.hashTreeRoot(body) },
      latestBlockHash: latestExecutionPayloadHeader.blockHash,
      latestExecutionPayloadBid: bid,
      ptcWindow: (state as CachedBeaconStateGloas).ptcWindow.toValue(),
      builders: [0, 1].map((index) => ({
        pubkey: keys.publicKey(index)!,
        version: 0,
        executionAddress: (state as CachedBeaconStateGloas).builders.get(index).executionAddress,
        balance: 100e9,
        depositEpoch: 0,
        withdrawableEpoch: Number.POSITIVE_INFINITY,
      })),
    };
    for (let slot = 0; slot < value.executionPayloadAvailability.bitLen; slot++) {
      value.executionPayloadAvailability.set(slot, true);
    }
    expect(toRootHex(state.hashTreeRoot())).toBe(toRootHex(BeaconState.hashTreeRoot(value)));
    expect(config.genesisValidatorsRoot).toEqual(value.genesisValidatorsRoot);
  });

  it("assigns payload timeliness committees for this epoch and the next", () => {
    const state = genesisIn("gloas").state as CachedBeaconStateGloas;
    for (const slot of [0, 1, 2 * SLOTS_PER_EPOCH - 1]) {
      const committee = state.epochCtx.getPayloadTimelinessCommittee(slot);
      const attesters = state.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH]!;
      const members = new Set(attesters.flatMap((indices) => [...indices]));
      expect(committee).toHaveLength(PTC_SIZE);
      expect(committee.every((index: number) => members.has(index))).toBe(true);
    }
  });

  it("has a block with the header of the state", () => {
    const { state, config } = genesisIn("gloas");
    const { message } = genesisBlock(config, state);
    const header = ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state));
    expect(ssz.gloas.BeaconBlock.hashTreeRoot(message as never)).toEqual(header);
  });

  it("can be continued over epochs, and reached from earlier forks", () => {
    const { state } = genesisIn("gloas", { count: 1, balance: 1e9 });
    expect(processSlots(state, 3 * SLOTS_PER_EPOCH).slot).toBe(3 * SLOTS_PER_EPOCH);
    const forks = [
      { fork: "electra" as const, epoch: 1 },
      { fork: "fulu" as const, epoch: 2 },
      { fork: "gloas" as const, epoch: 3 },
    ];
    const chainConfig = devChainConfig({ forks, slotSeconds: 6, genesisTime });
    const later = processSlots(
      createDevGenesis({ chainConfig, validatorCount, genesisTime }).state,
      4 * SLOTS_PER_EPOCH,
    );
    expect(createChainForkConfig(chainConfig).getForkName(later.slot)).toBe("gloas");
    expect(later.type).toBe(ssz.gloas.BeaconState);
    expect((later as CachedBeaconStateGloas).latestBlockHash).toEqual(DEV_GENESIS_BLOCK_HASH);
  });

  it("gives builders keys that no validator has", () => {
    const validators = new InteropKeys(64);
    const builders = builderKeys(3);
    const all = [
      ...validators.indices.map((i) => validators.publicKey(i)),
      ...[0, 1, 2].map((i) => builders.publicKey(i)),
    ];
    expect(new Set(all.map((pubkey) => Buffer.from(pubkey!).toString("hex"))).size).toBe(67);
    expect(builders.publicKey(1)).toEqual(new InteropKeys(1, BUILDER_INDEX_FLAG + 1).publicKey(0));
  });

  it("refuses builders in earlier forks and balances that they cannot have", () => {
    expect(() => genesisIn("fulu", { count: 1, balance: 1e9 })).toThrow(/require gloas, but the chain starts in fulu/);
    expect(() => genesisIn("gloas", { count: 1, balance: 1 })).toThrow(/Builders start with 1 to 1000000 ETH/);
  });
});
