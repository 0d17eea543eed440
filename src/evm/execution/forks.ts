import type { ChainConfig } from "@lodestar/config";

/** Execution layer forks since the merge, in order. */
export const EXECUTION_FORKS = ["paris", "shanghai", "cancun", "prague", "osaka", "amsterdam"] as const;
export type ExecutionFork = (typeof EXECUTION_FORKS)[number];

/** Blob limits starting at a given time (EIP-7840, EIP-7892). */
export interface BlobParameters {
  /** Unix seconds; 0 if active from genesis. */
  timestamp: number;
  target: number;
  max: number;
  updateFraction: bigint;
}

/** Parameters that define a chain's rules. */
export interface ChainRulesOptions {
  chainId: number;
  /** 20 bytes (EIP-6110). */
  depositContract: Uint8Array;
  /** Start of each fork in Unix seconds. Forks that are absent never start. Paris is active from genesis. */
  forks: Partial<Record<Exclude<ExecutionFork, "paris">, number>>;
  /** Ordered by time. The first entry must start no later than Cancun. */
  blobs: readonly BlobParameters[];
  /** Start and length of the slots, in Unix seconds. By default, every block has the next slot number. */
  slots?: { genesisTime: number; seconds: number };
}

type ConsensusConfig = Pick<
  ChainConfig,
  | "CAPELLA_FORK_EPOCH"
  | "DENEB_FORK_EPOCH"
  | "ELECTRA_FORK_EPOCH"
  | "FULU_FORK_EPOCH"
  | "GLOAS_FORK_EPOCH"
  | "SECONDS_PER_SLOT"
  | "MAX_BLOBS_PER_BLOCK"
  | "MAX_BLOBS_PER_BLOCK_ELECTRA"
  | "BLOB_SCHEDULE"
  | "DEPOSIT_CONTRACT_ADDRESS"
>;

/** ln(1.125), the average price change caused by a block with the maximum number of blobs or with none (EIP-7691). */
const PRICE_STEP = Math.log(1.125);
export const GAS_PER_BLOB: bigint = 2n ** 17n;

/** Derives the execution rules from the consensus configuration. */
export function rulesFromConsensus(
  config: ConsensusConfig,
  { chainId, genesisTime, slotsPerEpoch }: { chainId: number; genesisTime: number; slotsPerEpoch: number },
): ChainRulesOptions {
  const timeOf = (epoch: number) => (epoch === 0 ? 0 : genesisTime + epoch * slotsPerEpoch * config.SECONDS_PER_SLOT);
  const starts = {
    shanghai: config.CAPELLA_FORK_EPOCH,
    cancun: config.DENEB_FORK_EPOCH,
    prague: config.ELECTRA_FORK_EPOCH,
    osaka: config.FULU_FORK_EPOCH,
    amsterdam: config.GLOAS_FORK_EPOCH,
  };
  const limits: [epoch: number, max: number, target: number][] = [
    [config.DENEB_FORK_EPOCH, config.MAX_BLOBS_PER_BLOCK, Math.floor(config.MAX_BLOBS_PER_BLOCK / 2)],
    [
      config.ELECTRA_FORK_EPOCH,
      config.MAX_BLOBS_PER_BLOCK_ELECTRA,
      Math.floor((config.MAX_BLOBS_PER_BLOCK_ELECTRA * 2) / 3),
    ],
    ...config.BLOB_SCHEDULE.map(({ EPOCH, MAX_BLOBS_PER_BLOCK: max }): [number, number, number] => [
      Math.max(EPOCH, config.FULU_FORK_EPOCH),
      max,
      Math.floor((max * 2) / 3),
    ]),
  ];
  return {
    chainId,
    slots: { genesisTime, seconds: config.SECONDS_PER_SLOT },
    depositContract: config.DEPOSIT_CONTRACT_ADDRESS,
    forks: Object.fromEntries(
      Object.entries(starts)
        .filter(([, epoch]) => Number.isFinite(epoch))
        .map(([fork, epoch]) => [fork, timeOf(epoch)]),
    ),
    blobs: limits
      .filter(([epoch]) => Number.isFinite(epoch))
      .sort(([one], [other]) => one - other)
      .map(([epoch, max, target]) => ({
        timestamp: timeOf(epoch),
        target,
        max,
        updateFraction: updateFractionOf(max),
      })),
  };
}

/**
 * Returns the update fraction for a given maximum number of blobs. Matches the constants of all forks so far: 3,338,477
 * for 6 blobs, 5,007,716 for 9, 8,346,193 for 15.
 */
export function updateFractionOf(max: number): bigint {
  return BigInt(Math.round((max * Number(GAS_PER_BLOB)) / 2 / PRICE_STEP));
}

/** Returns the times at which the rules change, in ascending order. Rules that are active from genesis start at 0. */
export function changesOf({ forks, blobs }: ChainRulesOptions): number[] {
  const times = [0, ...Object.values(forks), ...blobs.map(({ timestamp }) => timestamp)];
  return [...new Set(times)].filter(Number.isFinite).sort((one, other) => one - other);
}

export function forkAt({ forks }: ChainRulesOptions, timestamp: number): ExecutionFork {
  return EXECUTION_FORKS.findLast(
    (fork) => fork === "paris" || (forks[fork] ?? Number.POSITIVE_INFINITY) <= timestamp,
  )!;
}

export function blobParametersAt({ blobs }: ChainRulesOptions, timestamp: number): BlobParameters | undefined {
  return blobs.findLast((parameters) => parameters.timestamp <= timestamp);
}
