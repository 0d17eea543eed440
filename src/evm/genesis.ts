import { createHash } from "node:crypto";
import { FUNDED_ADDRESSES } from "./accounts.ts";
import {
  BEACON_ROOTS_CODE,
  BUILDER_DEPOSITS_CODE,
  BUILDER_EXITS_CODE,
  CONSOLIDATION_REQUESTS_CODE,
  DEPOSIT_CONTRACT_CODE,
  DETERMINISTIC_DEPLOYER_CODE,
  HISTORY_STORAGE_CODE,
  MULTICALL3_CODE,
  WITHDRAWAL_REQUESTS_CODE,
} from "./contract-code.ts";
import type { ExecutedBlock } from "./execution/block.ts";
import { BlockHashes } from "./execution/block-hashes.ts";
import type { ExecutionFork } from "./execution/forks.ts";
import { encodeHeader, type Header } from "./execution/header.ts";
import { EMPTY_BLOOM } from "./execution/receipt.ts";
import { RLP_EMPTY_LIST } from "./rlp.ts";
import { EMPTY_TRIE_ROOT, type Keccak, putValue } from "./state/trie.ts";
import { NO_ACCOUNT, NO_CODE, NO_CODE_HASH, type Storage, type World, WorldReader } from "./state/world.ts";
import {
  BEACON_ROOTS,
  BUILDER_DEPOSITS,
  BUILDER_EXITS,
  CONSOLIDATION_REQUESTS,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from "./system-addresses.ts";

export const DEFAULT_CHAIN_ID = 31_337;
export const MULTICALL3_ADDRESS = "0xca11bde05977b3631167028862be2a173976ca11";
export const DETERMINISTIC_DEPLOYER_ADDRESS = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

const FUNDS = 10_000n * 10n ** 18n;
const GAS_LIMIT = 30_000_000n;
const BASE_FEE_PER_GAS = 10n ** 9n;
/** Since EIP-161, contracts start with nonce 1. */
const CONTRACT_NONCE = 1n;
/** Slot of the first node in the deposit contract's `zero_hashes`. Element 0, a leaf, is zero. */
const ZERO_HASHES_SLOT = 0x21;
const DEPOSIT_TREE_DEPTH = 32;
/** Excess of a request contract before its first system call. */
const EXCESS_INHIBITOR = new Uint8Array(32).fill(0xff);
/** EIP-7685. */
const NO_REQUESTS_HASH = new Uint8Array(createHash("sha256").digest());

/** State of an account at genesis. */
export interface GenesisAccount {
  address: Uint8Array;
  nonce?: bigint;
  balance?: bigint;
  code?: Uint8Array;
  /** Slots and values, 32 bytes each. */
  storage?: readonly (readonly [slot: Uint8Array, value: Uint8Array])[];
}

/** The chain rules that determine block 0. Loading this module does not load the EVM libraries. */
export interface GenesisRules {
  readonly crypto: { readonly keccak: Keccak };
  at(timestamp: number): { isSince(fork: ExecutionFork): boolean };
  /** Times at which the rules change. */
  readonly changes: readonly number[];
}

export interface GenesisOptions {
  /** Unix seconds. */
  timestamp: number;
  /** Taken from the consensus configuration. */
  depositContract: Uint8Array;
  gasLimit?: bigint;
  baseFeePerGas?: bigint;
  extraData?: Uint8Array;
  prevRandao?: Uint8Array;
  /** Created in addition to the funded accounts and the contracts. */
  accounts?: readonly GenesisAccount[];
}

/** Creates block 0 of a dev chain: funded test accounts, the deposit contract, system contracts and tools. */
export function createGenesis(rules: GenesisRules, options: GenesisOptions): ExecutedBlock {
  const start = rules.at(options.timestamp);
  const accounts = [
    ...devAccounts(options.depositContract, !start.isSince("prague")),
    ...(rules.changes.some((time) => rules.at(time).isSince("amsterdam"))
      ? builderContracts(!start.isSince("amsterdam"))
      : []),
  ];
  return createGenesisBlock(rules, options, [...accounts, ...(options.accounts ?? [])]);
}

/** Creates block 0 with only the given accounts. */
export function createGenesisBlock(
  rules: GenesisRules,
  options: Omit<GenesisOptions, "accounts" | "depositContract">,
  accounts: readonly GenesisAccount[],
): ExecutedBlock {
  const { keccak } = rules.crypto;
  const world = worldOf(keccak, accounts);
  const fork = rules.at(options.timestamp);
  const header: Header = {
    parentHash: new Uint8Array(32),
    feeRecipient: new Uint8Array(20),
    stateRoot: new WorldReader(keccak).stateRoot(world),
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
    ...(fork.isSince("prague") && { requestsHash: NO_REQUESTS_HASH }),
    ...(fork.isSince("amsterdam") && { blockAccessListHash: keccak(RLP_EMPTY_LIST), slotNumber: 0n }),
  };
  const hash = keccak(encodeHeader(header));
  return {
    hash,
    header,
    transactions: [],
    ...(fork.isSince("shanghai") && { withdrawals: [] }),
    ...(fork.isSince("prague") && { requests: [] }),
    ...(fork.isSince("amsterdam") && { blockAccessList: RLP_EMPTY_LIST }),
    receipts: [],
    world,
    blockHashes: BlockHashes.of(0n, [hash]),
    value: 0n,
  };
}

/**
 * Returns the genesis accounts of a dev chain. The request contracts are inhibited until the first Prague block, unless
 * the chain starts in Prague.
 */
export function devAccounts(depositContract: Uint8Array, isInhibited: boolean): GenesisAccount[] {
  const queue = emptyQueue(isInhibited);
  return [
    ...FUNDED_ADDRESSES.map((address) => ({ address: bytesOf(address), balance: FUNDS })),
    contract(depositContract, DEPOSIT_CONTRACT_CODE, zeroHashes()),
    contract(BEACON_ROOTS, BEACON_ROOTS_CODE),
    contract(HISTORY_STORAGE, HISTORY_STORAGE_CODE),
    contract(WITHDRAWAL_REQUESTS, WITHDRAWAL_REQUESTS_CODE, queue),
    contract(CONSOLIDATION_REQUESTS, CONSOLIDATION_REQUESTS_CODE, queue),
    contract(bytesOf(MULTICALL3_ADDRESS), MULTICALL3_CODE),
    contract(bytesOf(DETERMINISTIC_DEPLOYER_ADDRESS), DETERMINISTIC_DEPLOYER_CODE),
  ];
}

/**
 * Returns the request contracts of builders (EIP-8282). They are inhibited until the first Amsterdam block, unless the
 * chain starts in Amsterdam.
 */
export function builderContracts(isInhibited: boolean): GenesisAccount[] {
  const queue = emptyQueue(isInhibited);
  return [contract(BUILDER_DEPOSITS, BUILDER_DEPOSITS_CODE, queue), contract(BUILDER_EXITS, BUILDER_EXITS_CODE, queue)];
}

function contract(address: Uint8Array, code: Uint8Array, storage?: GenesisAccount["storage"]): GenesisAccount {
  return { address, nonce: CONTRACT_NONCE, code, ...(storage && { storage }) };
}

/** Returns the storage of a request contract without requests. */
function emptyQueue(isInhibited: boolean): GenesisAccount["storage"] {
  return isInhibited ? [[slotOf(0), EXCESS_INHIBITOR]] : undefined;
}

function worldOf(keccak: Keccak, accounts: readonly GenesisAccount[]): World {
  let world: World;
  for (const { address, nonce = 0n, balance = 0n, code = NO_CODE, storage: slots = [] } of accounts) {
    const codeHash = code.length === 0 ? NO_CODE_HASH : keccak(code);
    let storage: Storage;
    for (const [slot, value] of slots) {
      const first = value.findIndex((byte) => byte !== 0);
      if (first >= 0) storage = putValue(storage, keccak(slot), value.slice(first));
    }
    world = putValue(world, keccak(address), { ...NO_ACCOUNT, nonce, balance, code, codeHash, storage });
  }
  return world;
}

/** Returns the storage written by the deposit contract's constructor: the roots of empty subtrees of each depth. */
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
