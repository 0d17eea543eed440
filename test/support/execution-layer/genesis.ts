import type { GethGenesis } from "@ethereumjs/common";
import { CONTRACTS, DEPOSIT_CONTRACT } from "./contracts.ts";
import type { ForkTimes } from "./forks.ts";
import { FUNDED_ADDRESSES } from "./transactions.ts";
import { toQuantity, ZERO_HASH } from "./wire.ts";

const ETHER = 10n ** 18n;
/** Forks before the merge, all active at genesis. */
const EARLY_FORKS = [
  ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg", "istanbul"],
  ["berlin", "london", "mergeFork", "mergeNetsplit"],
].flat();

export interface ExecutionGenesisOptions {
  /** Unix seconds. */
  timestamp: number;
  forks: ForkTimes;
  chainId?: number;
}

/** Creates a genesis file in geth's format: post-merge from the first block, with the contracts and funded accounts. */
export function executionGenesis({ timestamp, forks, chainId = 4_242_001 }: ExecutionGenesisOptions): GethGenesis {
  const contracts = CONTRACTS.map(({ address, ...account }) => [address, { balance: "0x0", ...account }]);
  const accounts = FUNDED_ADDRESSES.map((address) => [address, { balance: toQuantity(1_000_000n * ETHER) }]);
  const config = {
    chainId,
    ...Object.fromEntries(EARLY_FORKS.map((name) => [`${name}Block`, 0])),
    terminalTotalDifficulty: 0,
    terminalTotalDifficultyPassed: true,
    ...Object.fromEntries(Object.entries(forks).map(([fork, time]) => [`${fork}Time`, time])),
    depositContractAddress: DEPOSIT_CONTRACT,
    blobSchedule: {
      cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
      prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
      ...(forks.osaka === undefined ? {} : { osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 } }),
    },
  };
  return {
    config,
    nonce: "0x0",
    timestamp: toQuantity(timestamp),
    extraData: "0x",
    gasLimit: toQuantity(36_000_000),
    difficulty: "0x0",
    mixHash: ZERO_HASH,
    coinbase: `0x${"00".repeat(20)}`,
    baseFeePerGas: toQuantity(10 ** 9),
    alloc: Object.fromEntries([...contracts, ...accounts]),
  };
}
