import type { ExecutionFork } from "../../execution/forks.ts";
import type { ForkRules } from "../../execution/rules.ts";
import {
  BEACON_ROOTS,
  BUILDER_DEPOSITS,
  BUILDER_EXITS,
  CONSOLIDATION_REQUESTS,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from "../../system-addresses.ts";
import type { EthChain } from "../eth-chain.ts";
import { data, quantity } from "../json/hex.ts";
import type { Json } from "../json/transaction-json.ts";

/** EIP-7910 precompile names. */
const PRECOMPILES: readonly (readonly [since: ExecutionFork, first: number, names: readonly string[]])[] = [
  ["paris", 0x01, ["ECREC", "SHA256", "RIPEMD160", "ID", "MODEXP"]],
  ["paris", 0x06, ["BN254_ADD", "BN254_MUL", "BN254_PAIRING", "BLAKE2F"]],
  ["cancun", 0x0a, ["KZG_POINT_EVALUATION"]],
  ["prague", 0x0b, ["BLS12_G1ADD", "BLS12_G1MSM", "BLS12_G2ADD", "BLS12_G2MSM", "BLS12_PAIRING_CHECK"]],
  ["prague", 0x10, ["BLS12_MAP_FP_TO_G1", "BLS12_MAP_FP2_TO_G2"]],
  ["osaka", 0x100, ["P256VERIFY"]],
];
const CRC_POLYNOMIAL = 0xedb88320;

/** Methods that describe the fork schedule (EIP-7910). */
export function configMethods(chain: EthChain) {
  const { rules, blocks } = chain.engine;
  const genesisTime = Number(blocks.genesis.header.timestamp);
  const { changes } = rules;
  const configAt = (time: number | undefined): Json | null => {
    if (time === undefined) return null;
    const fork = rules.at(time);
    const { blobs } = fork;
    return {
      activationTime: time <= genesisTime ? 0 : time,
      blobSchedule: blobs
        ? { target: blobs.target, max: blobs.max, baseFeeUpdateFraction: Number(blobs.updateFraction) }
        : null,
      chainId: quantity(fork.chainId),
      forkId: forkId(
        blocks.genesis.hash,
        changes.filter((each) => each > genesisTime && each <= time),
      ),
      precompiles: precompilesOf(fork),
      systemContracts: systemContractsOf(fork),
    };
  };
  return {
    config: async () => {
      const now = chain.latest.header.timestamp;
      const next = changes.find((time) => time > now);
      return {
        current: configAt(changes.findLast((time) => time <= now)),
        next: configAt(next),
        last: next === undefined ? null : configAt(changes.at(-1)),
      };
    },
  };
}

function precompilesOf(rules: ForkRules): Record<string, string> {
  const active = PRECOMPILES.filter(([since]) => rules.isSince(since));
  const entries = active.flatMap(([, first, names]) =>
    names.map((name, index) => [name, `0x${(first + index).toString(16).padStart(40, "0")}`]),
  );
  return Object.fromEntries(entries);
}

function systemContractsOf(rules: ForkRules): Record<string, string> {
  return {
    ...(rules.isSince("cancun") && { BEACON_ROOTS_ADDRESS: data(BEACON_ROOTS) }),
    ...(rules.isSince("amsterdam") && {
      BUILDER_DEPOSIT_CONTRACT_ADDRESS: data(BUILDER_DEPOSITS),
      BUILDER_EXIT_CONTRACT_ADDRESS: data(BUILDER_EXITS),
    }),
    ...(rules.isSince("prague") && {
      CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS: data(CONSOLIDATION_REQUESTS),
      DEPOSIT_CONTRACT_ADDRESS: data(rules.depositContract),
      HISTORY_STORAGE_ADDRESS: data(HISTORY_STORAGE),
      WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS: data(WITHDRAWAL_REQUESTS),
    }),
  };
}

/** Computes EIP-6122's FORK_HASH: the CRC-32 of the genesis hash and all later fork times. */
function forkId(genesisHash: Uint8Array, times: readonly number[]): string {
  const encoded = times.map((time) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(time));
    return bytes;
  });
  return `0x${crc32(Buffer.concat([genesisHash, ...encoded]))
    .toString(16)
    .padStart(8, "0")}`;
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
  }
  return ~crc >>> 0;
}
