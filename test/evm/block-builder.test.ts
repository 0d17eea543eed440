import { createBlock, type Block as ReferenceBlock } from "@ethereumjs/block";
import { type Common, createCommonFromGethGenesis, type GethGenesis } from "@ethereumjs/common";
import { MerkleStateManager } from "@ethereumjs/statemanager";
import { createTxFromRLP } from "@ethereumjs/tx";
import { Account, Address, bytesToHex } from "@ethereumjs/util";
import { buildBlock, createVM, type VM } from "@ethereumjs/vm";
import { describe, expect, it } from "vitest";
import type { ExecutedBlock } from "../../src/evm/execution/block.ts";
import type { BlockAttributes } from "../../src/evm/execution/block-executor.ts";
import { EXECUTION_FORKS, type ExecutionFork } from "../../src/evm/execution/forks.ts";
import { toPayload } from "../../src/evm/execution/payload.ts";
import { versionedHashesOf } from "../../src/evm/execution/transaction.ts";
import { DEFAULT_CHAIN_ID, devAccounts } from "../../src/evm/genesis.ts";
import { addressOf, DEPOSIT_CONTRACT, hexOf, optionsOf, sharedCrypto, TestChain } from "../support/evm/evm.ts";
import { SCENARIO_ACCOUNTS, scenarioTransactions } from "../support/evm/execution/scenario.ts";

const EARLY_FORKS = [
  ["homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg", "istanbul", "berlin"],
  ["london", "mergeNetsplit"],
].flat();
const BLOBS = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 };

/** The same chain by BlockBuilder of @ethereumjs/vm. */
class ReferenceChain {
  readonly #vm: VM;
  readonly #common: Common;
  readonly #blocks: ReferenceBlock[];

  static async open(fork: ExecutionFork, genesis: ExecutedBlock): Promise<ReferenceChain> {
    const later = EXECUTION_FORKS.slice(1, EXECUTION_FORKS.indexOf(fork) + 1);
    const config = {
      chainId: DEFAULT_CHAIN_ID,
      ...Object.fromEntries(EARLY_FORKS.map((name) => [`${name}Block`, 0])),
      terminalTotalDifficulty: 0,
      terminalTotalDifficultyPassed: true,
      ...Object.fromEntries(later.map((name) => [`${name}Time`, 0])),
      depositContractAddress: bytesToHex(DEPOSIT_CONTRACT),
      blobSchedule: {
        cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
        prague: BLOBS,
        ...(fork === "osaka" && { osaka: BLOBS }),
      },
    };
    const file = {
      config,
      nonce: "0x0",
      timestamp: "0x0",
      extraData: "0x",
      gasLimit: "0x1",
      difficulty: "0x0",
      mixHash: `0x${"00".repeat(32)}`,
      coinbase: `0x${"00".repeat(20)}`,
      alloc: {},
    } as unknown as GethGenesis;
    const { custom } = await sharedCrypto();
    const common = createCommonFromGethGenesis(file, { chain: "reference", customCrypto: custom });
    common.setHardfork(fork);
    const stateManager = new MerkleStateManager({ common });
    for (const { address, nonce, balance, code, storage = [] } of [
      ...devAccounts(DEPOSIT_CONTRACT, !common.gteHardfork("prague")),
      ...SCENARIO_ACCOUNTS,
    ]) {
      const at = new Address(address);
      await stateManager.putAccount(at, new Account(nonce, balance));
      if (code) await stateManager.putCode(at, code);
      for (const [slot, value] of storage) await stateManager.putStorage(at, slot, value);
    }
    const { header } = genesis;
    const data = {
      ...header,
      coinbase: new Address(header.feeRecipient),
      mixHash: header.prevRandao,
      transactionsTrie: header.transactionsRoot,
      receiptTrie: header.receiptsRoot,
      stateRoot: await stateManager.getStateRoot(),
    };
    const block = createBlock({ header: data, withdrawals: genesis.withdrawals && [] }, { common });
    const blocks = [block];
    const blockchain = {
      getBlock: async (number: unknown) => blocks[Number(number)]!,
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    const vm = await createVM({ common, stateManager, blockchain });
    return new ReferenceChain(vm, common, blocks);
  }

  private constructor(vm: VM, common: Common, blocks: ReferenceBlock[]) {
    this.#vm = vm;
    this.#common = common;
    this.#blocks = blocks;
  }

  get head(): ReferenceBlock {
    return this.#blocks.at(-1)!;
  }

  async build(attributes: BlockAttributes, raws: readonly Uint8Array[]): Promise<ReferenceBlock> {
    const { timestamp, prevRandao, feeRecipient, parentBeaconBlockRoot, withdrawals = [] } = attributes;
    const common = this.#common;
    const builder = await buildBlock(this.#vm, {
      parentBlock: this.head,
      headerData: {
        timestamp,
        mixHash: prevRandao,
        coinbase: feeRecipient as `0x${string}` | Uint8Array,
        gasLimit: this.head.header.gasLimit,
        baseFeePerGas: this.head.header.calcNextBaseFee(),
        ...(common.isActivatedEIP(4788) && { parentBeaconBlockRoot }),
      },
      ...(common.isActivatedEIP(4895) && {
        withdrawals: withdrawals.map((withdrawal) => ({ ...withdrawal, address: bytesToHex(withdrawal.address) })),
      }),
      blockOpts: { putBlockIntoBlockchain: false },
    });
    for (const raw of raws) await builder.addTransaction(createTxFromRLP(raw, { common }), { allowNoBlobs: true });
    const { block } = await builder.build();
    this.#blocks.push(block);
    return block;
  }
}

describe("blocks equal those of BlockBuilder", () => {
  // The library's rules of Amsterdam differ from the specification's: official blocks prove ours (amsterdam.test.ts).
  it.each(EXECUTION_FORKS.filter((fork) => fork !== "amsterdam"))("%s", async (fork) => {
    const chain = await TestChain.open(optionsOf(fork), SCENARIO_ACCOUNTS);
    const reference = await ReferenceChain.open(fork, chain.genesis);
    expect(hexOf(chain.genesis.hash)).toBe(hexOf(reference.head.hash()));
    for (let round = 0; round < 4; round++) {
      const transactions = round % 2 === 0 ? scenarioTransactions(chain, fork, round) : [];
      const withdrawals = [{ index: round, validatorIndex: 3, address: addressOf(round + 500), amount: 7n }];
      const parent = chain.head;
      const attributes = chain.attributes({ withdrawals });
      const expected = await reference.build(
        attributes,
        transactions.map(({ raw }) => raw),
      );
      const block = await chain.build(transactions, { withdrawals });
      expect(block.transactions.length).toBe(transactions.length);
      expect(hexOf(block.header.receiptsRoot)).toBe(hexOf(expected.header.receiptTrie));
      expect(hexOf(block.header.stateRoot)).toBe(hexOf(expected.header.stateRoot));
      expect(hexOf(block.hash)).toBe(hexOf(expected.hash()));
      const verified = await chain.executor.verify(parent, toPayload(block), {
        parentBeaconBlockRoot: block.header.parentBeaconBlockRoot,
        requests: block.requests,
        ...(block.header.excessBlobGas !== undefined && { versionedHashes: versionedHashesOf(block.transactions) }),
      });
      expect(hexOf(verified.hash)).toBe(hexOf(block.hash));
      expect(verified.receipts).toEqual(block.receipts);
    }
  });
});
