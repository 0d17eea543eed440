import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import { createFeeMarket1559Tx } from "@ethereumjs/tx";
import { HDNodeWallet, Mnemonic } from "ethers";
import { TEST_MNEMONIC } from "../../src/evm/accounts.ts";
import { createEvmCrypto } from "../../src/evm/crypto.ts";
import type { ExecutedBlock } from "../../src/evm/execution/block.ts";
import { BlockExecutor } from "../../src/evm/execution/block-executor.ts";
import { updateFractionOf } from "../../src/evm/execution/forks.ts";
import { ChainRules } from "../../src/evm/execution/rules.ts";
import { createGenesis, DEFAULT_CHAIN_ID, type GenesisAccount } from "../../src/evm/genesis.ts";
import { TransactionPool } from "../../src/evm/pool/transaction-pool.ts";

const SLOT_SECONDS = 12;
const GENESIS_TIME = 1_700_000_000;
const DEPOSIT_CONTRACT = new Uint8Array(20).fill(0x42);
const GWEI = 10n ** 9n;

type TransactionFields = Parameters<typeof createFeeMarket1559Tx>[0];
type Sign = (hash: Uint8Array, sender: number) => { signature: Uint8Array; recoveryId: number };

/** Chain with its pool, in memory. */
export class BenchChain {
  readonly executor: BlockExecutor;
  readonly pool: TransactionPool;
  head: ExecutedBlock;
  readonly #rules: ChainRules;
  readonly #sign: Sign;
  readonly #nonces = new Array<bigint>(10).fill(0n);

  /** With further accounts at genesis. */
  static async open(
    accounts: readonly GenesisAccount[] = [],
    fork: "osaka" | "amsterdam" = "osaka",
  ): Promise<BenchChain> {
    const options = {
      chainId: DEFAULT_CHAIN_ID,
      depositContract: DEPOSIT_CONTRACT,
      forks: { shanghai: 0, cancun: 0, prague: 0, osaka: 0, ...(fork === "amsterdam" && { amsterdam: 0 }) },
      blobs: [{ timestamp: 0, target: 6, max: 9, updateFraction: updateFractionOf(9) }],
    };
    const rules = new ChainRules(options, await createEvmCrypto());
    const secp256k1 = await instantiateSecp256k1();
    const parent = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(TEST_MNEMONIC), "m/44'/60'/0'/0");
    const keys = Array.from({ length: 10 }, (_, index) =>
      Buffer.from(parent.deriveChild(index).privateKey.slice(2), "hex"),
    );
    return new BenchChain(rules, accounts, (hash, sender) => {
      const signed = secp256k1.signMessageHashRecoverableCompact(keys[sender]!, hash);
      if (typeof signed === "string") throw new Error(signed);
      return signed;
    });
  }

  private constructor(rules: ChainRules, accounts: readonly GenesisAccount[], sign: Sign) {
    this.#rules = rules;
    this.#sign = sign;
    this.executor = new BlockExecutor(rules);
    this.head = createGenesis(rules, { timestamp: GENESIS_TIME, depositContract: DEPOSIT_CONTRACT, accounts });
    const kzg = { verify: async () => true };
    this.pool = new TransactionPool({ rules, kzg }, this.head, GENESIS_TIME + SLOT_SECONDS);
  }

  attributes(parent: ExecutedBlock) {
    const { number, timestamp } = parent.header;
    return {
      timestamp: Number(timestamp) + SLOT_SECONDS,
      prevRandao: new Uint8Array(32).fill(Number(number % 251n)),
      feeRecipient: new Uint8Array(20).fill(0x22),
      parentBeaconBlockRoot: new Uint8Array(32).fill(Number(number % 241n) + 1),
      withdrawals: [],
    };
  }

  /** Builds a block from the pool on the head. */
  async build(): Promise<ExecutedBlock> {
    const attributes = this.attributes(this.head);
    const { baseFeePerGas } = this.executor.environmentOf(this.head, attributes);
    const block = await this.executor.build(this.head, attributes, this.pool.pending(baseFeePerGas));
    this.head = block;
    this.pool.setHead(block, attributes.timestamp + SLOT_SECONDS);
    return block;
  }

  /** Signs a transaction of a funded account. The accounts take turns. */
  sign(index: number, fields: TransactionFields): Uint8Array {
    const sender = index % this.#nonces.length;
    const data = {
      maxFeePerGas: 100n * GWEI,
      maxPriorityFeePerGas: GWEI,
      ...fields,
      chainId: DEFAULT_CHAIN_ID,
      nonce: this.#nonces[sender]!++,
    };
    const { common } = this.#rules.at(GENESIS_TIME);
    const unsigned = createFeeMarket1559Tx(data, { common });
    const { signature, recoveryId } = this.#sign(unsigned.getHashedMessageToSign(), sender);
    return unsigned.addSignature(BigInt(recoveryId), signature.subarray(0, 32), signature.subarray(32)).serialize();
  }
}
