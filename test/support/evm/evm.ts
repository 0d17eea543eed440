import { createTx, type TypedTransaction, type TypedTxData } from "@ethereumjs/tx";
import { HDNodeWallet, Mnemonic } from "ethers";
import { TEST_MNEMONIC } from "../../../src/evm/accounts.ts";
import { createEvmCrypto, type EvmCrypto } from "../../../src/evm/crypto.ts";
import type { ExecutedBlock } from "../../../src/evm/execution/block.ts";
import { type BlockAttributes, BlockExecutor } from "../../../src/evm/execution/block-executor.ts";
import {
  type ChainRulesOptions,
  EXECUTION_FORKS,
  type ExecutionFork,
  updateFractionOf,
} from "../../../src/evm/execution/forks.ts";
import { ChainRules } from "../../../src/evm/execution/rules.ts";
import { decodeTransaction, type Transaction } from "../../../src/evm/execution/transaction.ts";
import { createGenesis, DEFAULT_CHAIN_ID, type GenesisAccount } from "../../../src/evm/genesis.ts";

export const GENESIS_TIME = 1_000_000;
export const SLOT_SECONDS = 12;
export const DEPOSIT_CONTRACT: Uint8Array = new Uint8Array(20).fill(0x42);
export const GWEI = 10n ** 9n;

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
export const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.replace(/^0x/, ""), "hex"));
export const addressOf = (index: number): Uint8Array => bytesOf((0x1000 + index).toString(16).padStart(40, "0"));

let crypto: Promise<EvmCrypto> | undefined;
export const sharedCrypto = (): Promise<EvmCrypto> => {
  crypto ??= createEvmCrypto();
  return crypto;
};

let keys: Uint8Array[] | undefined;
/** Private keys of the funded accounts. */
export function fundedKeys(): readonly Uint8Array[] {
  if (keys === undefined) {
    const account = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(TEST_MNEMONIC), "m/44'/60'/0'/0");
    keys = Array.from({ length: 10 }, (_, index) => bytesOf(account.deriveChild(index).privateKey));
  }
  return keys;
}

/** Rules of a chain with the fork from genesis on, and mainnet's blob parameters. */
export function optionsOf(fork: ExecutionFork, starts: ChainRulesOptions["forks"] = {}): ChainRulesOptions {
  const later = EXECUTION_FORKS.slice(1, EXECUTION_FORKS.indexOf(fork) + 1);
  const forks = { ...Object.fromEntries(later.map((name) => [name, 0])), ...starts };
  const blobs = [
    { timestamp: forks.cancun ?? Infinity, target: 3, max: 6, updateFraction: updateFractionOf(6) },
    { timestamp: forks.prague ?? Infinity, target: 6, max: 9, updateFraction: updateFractionOf(9) },
  ];
  return { chainId: DEFAULT_CHAIN_ID, depositContract: DEPOSIT_CONTRACT, forks, blobs };
}

/** Fields of any type of transaction. */
type Fields = Omit<TypedTxData, "chainId" | "nonce"> & { type?: number; nonce?: bigint } & Record<string, unknown>;

/** A chain in memory whose blocks come one slot apart. */
export class TestChain {
  readonly executor: BlockExecutor;
  readonly rules: ChainRules;
  readonly genesis: ExecutedBlock;
  head: ExecutedBlock;
  readonly #nonces = new Map<number, bigint>();

  static async open(options: ChainRulesOptions, accounts: readonly GenesisAccount[] = []): Promise<TestChain> {
    return new TestChain(new ChainRules(options, await sharedCrypto()), accounts);
  }

  private constructor(rules: ChainRules, accounts: readonly GenesisAccount[]) {
    this.rules = rules;
    this.executor = new BlockExecutor(rules);
    this.genesis = createGenesis(rules, { timestamp: GENESIS_TIME, depositContract: DEPOSIT_CONTRACT, accounts });
    this.head = this.genesis;
  }

  attributes(overrides: Partial<BlockAttributes> = {}, parent: ExecutedBlock = this.head): BlockAttributes {
    const number = Number(parent.header.number) + 1;
    return {
      timestamp: Number(parent.header.timestamp) + SLOT_SECONDS,
      prevRandao: new Uint8Array(32).fill(number % 256),
      feeRecipient: new Uint8Array(20).fill(0x22),
      withdrawals: [],
      parentBeaconBlockRoot: new Uint8Array(32).fill((number % 255) + 1),
      ...overrides,
    };
  }

  /** Builds the next block and makes it the head. */
  async build(
    transactions: readonly Transaction[] = [],
    overrides: Partial<BlockAttributes> = {},
  ): Promise<ExecutedBlock> {
    this.head = await this.executor.build(this.head, this.attributes(overrides), transactions);
    return this.head;
  }

  /** Signs a transaction of a funded account, with its next nonce if none is given. */
  sign(account: number, fields: Fields): Transaction {
    const rules = this.rules.at(this.head.header.timestamp + BigInt(SLOT_SECONDS));
    return decodeTransaction(this.signRaw(account, fields), rules);
  }

  signRaw(account: number, fields: Fields): Uint8Array {
    const nonce = fields.nonce ?? this.#nonces.get(account) ?? 0n;
    if (fields.nonce === undefined) this.#nonces.set(account, nonce + 1n);
    const { type = 2 } = fields;
    const rules = this.rules.at(this.head.header.timestamp + BigInt(SLOT_SECONDS));
    const gasLimit = rules.isSince("amsterdam") ? 2_000_000n : 300_000n;
    const fees = type >= 2 ? { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: 2n * GWEI } : { gasPrice: 20n * GWEI };
    const data = { gasLimit, ...fees, chainId: DEFAULT_CHAIN_ID, ...fields, type, nonce } as TypedTxData;
    const unsigned: TypedTransaction = createTx(data, { common: rules.common });
    return unsigned.sign(fundedKeys()[account]!).serialize();
  }
}
