import { createHash } from "node:crypto";
import { Address } from "@ethereumjs/util";
import { FUNDED_ADDRESSES } from "./accounts.ts";
import {
  BEACON_ROOTS_CODE,
  CONSOLIDATION_REQUESTS_CODE,
  DEPOSIT_CONTRACT_CODE,
  DETERMINISTIC_DEPLOYER_CODE,
  HISTORY_STORAGE_CODE,
  MULTICALL3_CODE,
  WITHDRAWAL_REQUESTS_CODE,
} from "./contract-code.ts";
import type { ExecutedBlock } from "./execution/block.ts";
import { BlockHashes } from "./execution/block-hashes.ts";
import { encodeHeader, type Header } from "./execution/header.ts";
import { EMPTY_BLOOM } from "./execution/receipt.ts";
import type { ChainRules } from "./execution/rules.ts";
import {
  BEACON_ROOTS_ADDRESS,
  CONSOLIDATION_REQUESTS_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  hashOfRequests,
  WITHDRAWAL_REQUESTS_ADDRESS,
} from "./execution/system-contracts.ts";
import { EMPTY_TRIE_ROOT } from "./state/trie.ts";
import type { World } from "./state/world.ts";
import { WorldState } from "./state/world-state.ts";

export const DEFAULT_CHAIN_ID = 31_337;
export const MULTICALL3_ADDRESS = "0xca11bde05977b3631167028862be2a173976ca11";
export const DETERMINISTIC_DEPLOYER_ADDRESS = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

const FUNDS = 10_000n * 10n ** 18n;
const GAS_LIMIT = 30_000_000n;
const BASE_FEE_PER_GAS = 10n ** 9n;
/** Since EIP-161 contracts start with nonce 1. */
const CONTRACT_NONCE = 1n;
/** Slot of the first node of `zero_hashes` in the deposit contract. Its first element is zero. */
const ZERO_HASHES_SLOT = 0x21;
const DEPOSIT_TREE_DEPTH = 32;
/** Excess of a request contract before its first system call. */
const EXCESS_INHIBITOR = new Uint8Array(32).fill(0xff);

/** State of one account at genesis. */
export interface GenesisAccount {
  address: Uint8Array;
  nonce?: bigint;
  balance?: bigint;
  code?: Uint8Array;
  /** Slots of 32 bytes with their values. */
  storage?: readonly (readonly [slot: Uint8Array, value: Uint8Array])[];
}

export interface GenesisOptions {
  /** Unix seconds. */
  timestamp: number;
  /** Of the consensus chain's configuration. */
  depositContract: Uint8Array;
  gasLimit?: bigint;
  baseFeePerGas?: bigint;
  extraData?: Uint8Array;
  prevRandao?: Uint8Array;
  /** In addition to the funded accounts and the contracts. */
  accounts?: readonly GenesisAccount[];
}

/** Creates block 0 of a dev chain: funded test accounts, the deposit contract, system contracts and tools. */
export function createGenesis(rules: ChainRules, options: GenesisOptions): ExecutedBlock {
  const isInhibited = !rules.at(options.timestamp).isSince("prague");
  const accounts = devAccounts(options.depositContract, isInhibited);
  return createGenesisBlock(rules, options, [...accounts, ...(options.accounts ?? [])]);
}

/** Creates block 0 with the given accounts and no others. */
export function createGenesisBlock(
  rules: ChainRules,
  options: Omit<GenesisOptions, "accounts" | "depositContract">,
  accounts: readonly GenesisAccount[],
): ExecutedBlock {
  const { keccak } = rules.crypto;
  const state = new WorldState(keccak);
  const world = worldOf(state, accounts);
  const fork = rules.at(options.timestamp);
  const header: Header = {
    parentHash: new Uint8Array(32),
    feeRecipient: new Uint8Array(20),
    stateRoot: state.reader.stateRoot(world),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    number: 0n,
    gasLimit: options.gasLimit ?? GAS_LIMIT,
    gasUsed: 0n,
    timestamp: BigInt(options.timestamp),
    extraData: options.extraData ?? new Uint8Array(0),
    prevRandao: options.prevRandao ?? new Uint8Array(32),
    baseFeePerGas: options.baseFeePerGas ?? BASE_FEE_PER_GAS,
    ...(fork.isSince("shanghai") && { withdrawalsRoot: EMPTY_TRIE_ROOT }),
    ...(fork.isSince("cancun") && { blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: new Uint8Array(32) }),
    ...(fork.isSince("prague") && { requestsHash: hashOfRequests([]) }),
  };
  const hash = keccak(encodeHeader(header));
  return {
    hash,
    header,
    transactions: [],
    ...(fork.isSince("shanghai") && { withdrawals: [] }),
    ...(fork.isSince("prague") && { requests: [] }),
    receipts: [],
    world,
    blockHashes: BlockHashes.of(0n, [hash]),
    value: 0n,
  };
}

/** The request contracts are inhibited until the first block of Prague, unless the chain starts there. */
export function devAccounts(depositContract: Uint8Array, isInhibited: boolean): GenesisAccount[] {
  const contract = (address: Uint8Array, code: Uint8Array, storage?: GenesisAccount["storage"]): GenesisAccount => ({
    address,
    nonce: CONTRACT_NONCE,
    code,
    ...(storage && { storage }),
  });
  const queue = isInhibited ? ([[slotOf(0), EXCESS_INHIBITOR]] as const) : undefined;
  return [
    ...FUNDED_ADDRESSES.map((address) => ({ address: bytesOf(address), balance: FUNDS })),
    contract(depositContract, DEPOSIT_CONTRACT_CODE, zeroHashes()),
    contract(BEACON_ROOTS_ADDRESS.bytes, BEACON_ROOTS_CODE),
    contract(HISTORY_STORAGE_ADDRESS.bytes, HISTORY_STORAGE_CODE),
    contract(WITHDRAWAL_REQUESTS_ADDRESS.bytes, WITHDRAWAL_REQUESTS_CODE, queue),
    contract(CONSOLIDATION_REQUESTS_ADDRESS.bytes, CONSOLIDATION_REQUESTS_CODE, queue),
    contract(bytesOf(MULTICALL3_ADDRESS), MULTICALL3_CODE),
    contract(bytesOf(DETERMINISTIC_DEPLOYER_ADDRESS), DETERMINISTIC_DEPLOYER_CODE),
  ];
}

function worldOf(state: WorldState, accounts: readonly GenesisAccount[]): World {
  for (const { address, nonce = 0n, balance = 0n, code, storage = [] } of accounts) {
    state.setAccount(address, { nonce, balance, ...(code && { code }) });
    for (const [slot, value] of storage) state.setStorage(new Address(address), slot, value);
  }
  return state.seal();
}

/** What the constructor of the deposit contract writes: roots of empty subtrees of each depth. */
function zeroHashes(): [slot: Uint8Array, value: Uint8Array][] {
  let node = new Uint8Array(32);
  return Array.from({ length: DEPOSIT_TREE_DEPTH - 1 }, (_, depth) => {
    node = new Uint8Array(createHash("sha256").update(node).update(node).digest());
    return [slotOf(ZERO_HASHES_SLOT + depth + 1), node];
  });
}

function slotOf(index: number): Uint8Array {
  const slot = new Uint8Array(32);
  slot[31] = index;
  return slot;
}

const bytesOf = (address: string): Uint8Array => new Uint8Array(Buffer.from(address.slice(2), "hex"));
