import { createHash } from "node:crypto";
import {
  type Block,
  createBlock,
  genRequestsRoot,
  genTransactionsTrieRoot,
  genWithdrawalsTrieRoot,
} from "@ethereumjs/block";
import { type Common, createCommonFromGethGenesis, type GethGenesis, parseGethGenesisState } from "@ethereumjs/common";
import { MerkleStateManager } from "@ethereumjs/statemanager";
import { createTxFromRLP, type TypedTransaction } from "@ethereumjs/tx";
import {
  bytesToHex,
  CLRequest,
  type CLRequestType,
  createWithdrawal,
  hexToBytes,
  KECCAK256_RLP,
  type KZG,
  SHA256_NULL,
} from "@ethereumjs/util";
import { buildBlock, createVM, runBlock, type TxReceipt, type VM } from "@ethereumjs/vm";
import type { ExecutionPayload, Hex, PayloadAttributes } from "./wire.ts";

/** Parameters of newPayload besides the payload. */
export interface PayloadContext {
  /** Since Cancun. */
  versionedHashes?: Hex[];
  /** Since Cancun. */
  parentBeaconBlockRoot?: Hex;
  /** Since Prague. */
  executionRequests?: Hex[];
}

/** Block with its execution results. */
export interface ExecutedBlock {
  hash: Hex;
  /** Undefined only for the genesis. */
  parent: ExecutedBlock | undefined;
  block: Block;
  receipts: TxReceipt[];
}

export interface BuiltBlock extends ExecutedBlock {
  /** Value for the fee recipient in wei. */
  value: bigint;
  /** Non-empty requests (EIP-7685). Undefined before Prague. */
  requests: Hex[] | undefined;
}

function computesNothing(): never {
  throw new Error("This execution layer computes no commitments.");
}

/** Stub: the libraries need a KZG object for blob transactions, but verify no proofs in blocks. */
const NO_KZG: KZG = {
  blobToKzgCommitment: computesNothing,
  computeBlobProof: computesNothing,
  verifyProof: computesNothing,
  verifyBlobProofBatch: computesNothing,
  computeCells: computesNothing,
  computeCellsAndProofs: computesNothing,
  recoverCellsAndProofs: computesNothing,
  verifyCellKzgProofBatch: computesNothing,
};

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());

function toRequest(request: Hex): CLRequest<CLRequestType> {
  const bytes = hexToBytes(request);
  return new CLRequest(bytes[0] as CLRequestType, bytes.subarray(1));
}

/** Yields the block and its ancestors, newest first. */
export function lineage(block: ExecutedBlock | undefined): ExecutedBlock[] {
  const blocks: ExecutedBlock[] = [];
  for (let ancestor = block; ancestor; ancestor = ancestor.parent) blocks.push(ancestor);
  return blocks;
}

/** Blockchain interface for BLOCKHASH. */
function ancestorsOf(parent: ExecutedBlock) {
  const blockchain = {
    async getBlock(number: number) {
      const found = lineage(parent).find(({ block }) => block.header.number === BigInt(number));
      if (!found) throw new Error(`There is no block ${number}.`);
      return found.block;
    },
    async putBlock() {},
    shallowCopy: () => blockchain,
  };
  return blockchain;
}

function checkHeader({ header }: Block, { header: parent }: Block, common: Common): void {
  const must = (isRight: boolean, field: string) => {
    if (!isRight) throw new Error(`The block's ${field} does not follow from its parent.`);
  };
  must(header.number === parent.number + 1n, "number");
  must(header.timestamp > parent.timestamp, "timestamp");
  must(header.baseFeePerGas === parent.calcNextBaseFee(), "base fee");
  header.validateGasLimit(parent);
  if (common.isActivatedEIP(4844)) {
    must(header.excessBlobGas === parent.calcNextExcessBlobGas(common), "excess of blob gas");
  }
}

/** Executes and builds blocks on any parent. All states are kept in memory. */
export class Evm {
  readonly genesis: ExecutedBlock;
  readonly #common: Common;
  readonly #states: MerkleStateManager;

  static async open(gethGenesis: GethGenesis): Promise<Evm> {
    const common = createCommonFromGethGenesis(gethGenesis, { chain: "test", customCrypto: { kzg: NO_KZG } });
    common.setHardforkBy({ blockNumber: 0n, timestamp: BigInt(gethGenesis.timestamp) });
    const states = new MerkleStateManager({ common });
    await states.generateCanonicalGenesis(parseGethGenesisState(gethGenesis));
    const hasWithdrawals = common.isActivatedEIP(4895);
    const header = {
      ...common.genesis(),
      number: 0,
      stateRoot: await states.getStateRoot(),
      withdrawalsRoot: hasWithdrawals ? KECCAK256_RLP : undefined,
      requestsHash: common.isActivatedEIP(7685) ? SHA256_NULL : undefined,
    };
    const block = createBlock({ header, withdrawals: hasWithdrawals ? [] : undefined }, { common });
    return new Evm({ hash: bytesToHex(block.hash()), parent: undefined, block, receipts: [] }, common, states);
  }

  private constructor(genesis: ExecutedBlock, common: Common, states: MerkleStateManager) {
    this.genesis = genesis;
    this.#common = common;
    this.#states = states;
  }

  get chainId(): bigint {
    return this.#common.chainId();
  }

  /** Returns the rules of a block. */
  rulesAt(blockNumber: bigint, timestamp: bigint): Common {
    const common = this.#common.copy();
    common.setHardforkBy({ blockNumber, timestamp });
    return common;
  }

  /**
   * Converts a payload to a block without executing it. The hash may differ from that of the payload. Rejects malformed
   * payloads.
   */
  async blockOf(payload: ExecutionPayload, surroundings: PayloadContext): Promise<Block> {
    const { parentBeaconBlockRoot, executionRequests } = surroundings;
    const common = this.rulesAt(BigInt(payload.blockNumber), BigInt(payload.timestamp));
    const transactions = payload.transactions.map((raw) => createTxFromRLP(hexToBytes(raw), { common }));
    const withdrawals = payload.withdrawals?.map((withdrawal) => createWithdrawal(withdrawal));
    const header = {
      ...payload,
      number: payload.blockNumber,
      coinbase: payload.feeRecipient,
      mixHash: payload.prevRandao,
      receiptTrie: payload.receiptsRoot,
      transactionsTrie: await genTransactionsTrieRoot(transactions),
      withdrawalsRoot: withdrawals && (await genWithdrawalsTrieRoot(withdrawals)),
      parentBeaconBlockRoot,
      requestsHash: executionRequests && genRequestsRoot(executionRequests.map(toRequest), sha256),
    };
    return createBlock({ header, transactions, withdrawals }, { common });
  }

  /** Returns the payload with its block hash recomputed after changes. */
  async sealed(payload: ExecutionPayload, surroundings: PayloadContext): Promise<ExecutionPayload> {
    return { ...payload, blockHash: bytesToHex((await this.blockOf(payload, surroundings)).hash()) };
  }

  /** Executes a block. Rejects if it is invalid. */
  async execute(block: Block, parent: ExecutedBlock): Promise<ExecutedBlock> {
    checkHeader(block, parent.block, block.common);
    const vm = await this.vmOn(parent, block.common);
    const root = parent.block.header.stateRoot;
    const { receipts } = await runBlock(vm, { block, root, skipHeaderValidation: true });
    return { hash: bytesToHex(block.hash()), parent, block, receipts };
  }

  /** Builds a block with all executable transactions in order. */
  async build(
    parent: ExecutedBlock,
    attributes: PayloadAttributes,
    transactions: Iterable<TypedTransaction>,
  ): Promise<BuiltBlock> {
    const { header } = parent.block;
    const timestamp = BigInt(attributes.timestamp);
    const vm = await this.vmOn(parent, this.rulesAt(header.number + 1n, timestamp));
    const builder = await buildBlock(vm, {
      parentBlock: parent.block,
      headerData: {
        timestamp,
        mixHash: attributes.prevRandao,
        coinbase: attributes.suggestedFeeRecipient,
        gasLimit: header.gasLimit,
        baseFeePerGas: header.calcNextBaseFee(),
        parentBeaconBlockRoot: attributes.parentBeaconBlockRoot,
      },
      withdrawals: attributes.withdrawals,
      blockOpts: { putBlockIntoBlockchain: false, setHardfork: true },
    });
    for (const transaction of transactions) {
      try {
        await builder.addTransaction(transaction, { skipHardForkValidation: true, allowNoBlobs: true });
      } catch {
        // Stays in the pool for a later block.
      }
    }
    const { block, requests } = await builder.build();
    return {
      hash: bytesToHex(block.hash()),
      parent,
      block,
      receipts: builder.transactionReceipts,
      value: builder.minerValue,
      requests: requests?.map(({ bytes }) => bytesToHex(bytes)).filter((request) => request.length > "0x00".length),
    };
  }

  /** Returns an EVM on the state after a block. */
  async vmOn(parent: ExecutedBlock, common: Common): Promise<VM> {
    const stateManager = this.#states.shallowCopy();
    await stateManager.setStateRoot(parent.block.header.stateRoot);
    return createVM({ common: common.copy(), stateManager, blockchain: ancestorsOf(parent) });
  }
}
