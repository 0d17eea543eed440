import { createChainForkConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { devChainConfig } from "./chain-config.ts";
import { CONSENSUS_FORKS, type DevFork, type ScheduledFork } from "./forks.ts";

const configWith = (forks: ScheduledFork[]) => devChainConfig({ forks, slotSeconds: 3, genesisTime: 1_700_000_000 });

describe("devChainConfig", () => {
  it("names the network, its preset and its times", () => {
    const config = configWith([]);
    expect(config.CONFIG_NAME).toBe("fanal-dev");
    expect(config.PRESET_BASE).toBe("minimal");
    expect(config.SECONDS_PER_SLOT).toBe(3);
    expect(config.SLOT_DURATION_MS).toBe(3000);
    expect(config.MIN_GENESIS_TIME).toBe(1_700_000_000);
    expect(config.GENESIS_DELAY).toBe(0);
    expect(config.TERMINAL_TOTAL_DIFFICULTY).toBe(0n);
  });

  it("uses the given deposit contract", () => {
    const deposits = { contract: `0x${"12".repeat(20)}`, chainId: 31337, followDistance: 7 };
    const config = devChainConfig({ forks: [], slotSeconds: 3, genesisTime: 1_700_000_000, deposits });
    expect(toHex(config.DEPOSIT_CONTRACT_ADDRESS)).toBe(deposits.contract);
    expect(config).toMatchObject({ DEPOSIT_CHAIN_ID: 31337, DEPOSIT_NETWORK_ID: 31337 });
    // One deposit chain block per slot.
    expect(config).toMatchObject({ ETH1_FOLLOW_DISTANCE: 7, SECONDS_PER_ETH1_BLOCK: 3 });
  });

  it.each(CONSENSUS_FORKS)("runs %s from genesis when only that fork is listed", (fork) => {
    const forkConfig = createChainForkConfig(configWith([{ fork, epoch: 0 }]));
    expect(forkConfig.getForkName(0)).toBe(fork);
    expect(forkConfig.getForkName(1_000_000)).toBe(fork);
  });

  it("activates one fork per epoch if scheduled so", () => {
    const forkConfig = createChainForkConfig(configWith(CONSENSUS_FORKS.map((fork, epoch) => ({ fork, epoch }))));
    expect(CONSENSUS_FORKS.map((_, epoch) => forkConfig.getForkInfoAtEpoch(epoch).name)).toEqual(CONSENSUS_FORKS);
    expect(forkConfig.getForkInfoAtEpoch(1_000_000).name).toBe(ForkName.gloas);
  });

  it("starts in the fork before the first listed one", () => {
    const forkConfig = createChainForkConfig(configWith([{ fork: "electra", epoch: 2 }]));
    expect(forkConfig.getForkInfoAtEpoch(1).name).toBe("deneb");
    expect(forkConfig.getForkInfoAtEpoch(2).name).toBe("electra");
  });

  it("has a unique version for every fork", () => {
    const { forks } = createChainForkConfig(configWith([]));
    const versions = Object.values(forks).map(({ version }) => toHex(version));
    expect(new Set(versions).size).toBe(versions.length);
  });

  it("allows Electra's number of blobs in Fulu", () => {
    const config = configWith([{ fork: "fulu", epoch: 0 }]);
    expect(createChainForkConfig(config).getMaxBlobsPerBlock(500_000)).toBe(config.MAX_BLOBS_PER_BLOCK_ELECTRA);
  });

  it.each<[string, ScheduledFork[], RegExp]>([
    ["an unknown fork", [{ fork: "heze" as DevFork, epoch: 0 }], /Unknown fork "heze"\. A dev chain supports phase0,/],
    ["a negative epoch", [{ fork: "altair", epoch: -1 }], /Invalid epoch -1 of the fork altair/],
    [
      "a fork listed twice",
      [
        { fork: "altair", epoch: 0 },
        { fork: "altair", epoch: 1 },
      ],
      /altair is scheduled twice/,
    ],
    ["a late phase0", [{ fork: "phase0", epoch: 1 }], /Invalid epoch 1 of the fork phase0/],
    [
      "forks out of order",
      [
        { fork: "altair", epoch: 3 },
        { fork: "bellatrix", epoch: 2 },
      ],
      /Invalid epoch \d of the fork bellatrix/,
    ],
    [
      "two forks at one epoch",
      [
        { fork: "altair", epoch: 2 },
        { fork: "bellatrix", epoch: 2 },
      ],
      /needs a later epoch/,
    ],
    [
      "a gap after genesis",
      [
        { fork: "altair", epoch: 2 },
        { fork: "capella", epoch: 4 },
      ],
      /Invalid epoch \d of the fork bellatrix/,
    ],
  ])("rejects %s", (_, forks, message) => {
    expect(() => configWith(forks)).toThrow(message);
  });

  it("rejects fractional slot times", () => {
    expect(() => devChainConfig({ forks: [], slotSeconds: 0.5, genesisTime: 0 })).toThrow(/whole number of seconds/);
  });
});
