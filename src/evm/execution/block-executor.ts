import type { RunTxResult } from "@ethereumjs/vm";
import type { ExecutionPayload } from "@lodestar/types";
import { isImpersonated } from "../overrides/impersonation.ts";
import type { HeaderChange } from "../overrides/override.ts";
import { listRoot } from "../state/trie.ts";
import { WorldReader } from "../state/world.ts";
import { type Block, type ExecutedBlock, encodedBlockSize, encodeWithdrawal, type Withdrawal } from "./block.ts";
import { type BlockResult, BlockRun } from "./block-run.ts";
import type { CallBudget } from "./call-budget.ts";
import type { BlockEnvironment } from "./evm-block.ts";
import { EvmFaultError } from "./evm-fault.ts";
import { isGasLimitAllowed, nextBaseFee, nextExcessBlobGas, nextGasLimit } from "./fees.ts";
import { encodeHeader, type Header } from "./header.ts";
import { InvalidBlockError } from "./invalid-block.ts";
import { checkForkFields, fromPayload, headerOfPayload, type PayloadContext, reasonOf, toHex } from "./payload.ts";
import { encodeReceipt, unionOfBlooms } from "./receipt.ts";
import type { ChainRules, ForkRules, Machine } from "./rules.ts";
import { hashOfRequests, SystemContracts } from "./system-contracts.ts";
import { type Transaction, versionedHashesOf, withRules } from "./transaction.ts";

/** Block attributes chosen by the consensus layer. */
export interface BlockAttributes extends HeaderChange {
  timestamp: number;
  prevRandao: Uint8Array;
  feeRecipient: Uint8Array;
  /** Ignored before Shanghai. */
  withdrawals?: readonly Withdrawal[];
  /** Ignored before Cancun. */
  parentBeaconBlockRoot?: Uint8Array;
  extraData?: Uint8Array;
  /** Ignored before Amsterdam. Derived from the timestamp by default. */
  slotNumber?: number;
  /** Target gas limit; defaults to the parent's. */
  desiredGasLimit?: bigint;
}

/** Called for transactions that cannot be included in any block. */
export type FaultListener = (transaction: Transaction, fault: Error) => void;

interface SimulationOptions {
  budget: CallBudget;
  /** Replaces the blob base fee derived from the parent. */
  blobBaseFee?: bigint | undefined;
  withdrawals?: readonly Withdrawal[] | undefined;
}

const ZERO_HASH = new Uint8Array(32);
const NO_EXTRA_DATA = new Uint8Array(0);
/** Space reserved for the header, the withdrawals and list length prefixes. */
const SIZE_RESERVE = 16 * 1024;

/** Builds and verifies blocks on top of any executed parent. Keeps no blocks in memory. */
export class BlockExecutor {
  readonly rules: ChainRules;
  readonly reader: WorldReader;
  readonly #contracts: SystemContracts;

  constructor(rules: ChainRules) {
    this.rules = rules;
    this.reader = new WorldReader(rules.crypto.keccak);
    this.#contracts = new SystemContracts(rules.crypto.keccak);
  }

  /**
   * Builds a block from the given transactions, in order. If a transaction does not fit or is invalid, skips it and all
   * later transactions from its sender. Calls `onFault` for transactions that the EVM fails to execute.
   */
  async build(
    parent: ExecutedBlock,
    attributes: BlockAttributes,
    candidates: Iterable<Transaction> = [],
    onFault?: FaultListener,
  ): Promise<ExecutedBlock> {
    const rules = this.rules.at(attributes.timestamp);
    const environment = this.environmentOf(parent, attributes);
    const withdrawals = rules.isSince("shanghai") ? (attributes.withdrawals ?? []) : undefined;
    return rules.withMachine(async (machine) => {
      const run = await BlockRun.start(machine, rules, this.#contracts, parent, environment);
      await applyAll(run, rules, candidates, onFault);
      return this.#seal(run, parent, environment, rules, withdrawals, attributes.extraData);
    });
  }

  /** Executes a block that is not part of the chain, within a budget. `work` applies the block's transactions. */
  async simulate(
    parent: ExecutedBlock,
    environment: BlockEnvironment,
    { budget, blobBaseFee, withdrawals = [] }: SimulationOptions,
    work: (run: BlockRun, machine: Machine) => Promise<void>,
  ): Promise<ExecutedBlock> {
    const rules = this.rules.at(environment.timestamp);
    return rules.withLimitedMachine(budget, async (machine) => {
      const run = await BlockRun.start(machine, rules, this.#contracts, parent, environment, blobBaseFee);
      await work(run, machine);
      return this.#seal(run, parent, environment, rules, rules.isSince("shanghai") ? withdrawals : undefined);
    });
  }

  /**
   * Executes a payload on top of its parent. Throws an `InvalidBlockError` naming the incorrect field. `recorded` is
   * set for blocks with recorded overrides; only such blocks may contain impersonated transactions.
   */
  async verify(
    parent: ExecutedBlock,
    payload: ExecutionPayload,
    context: PayloadContext,
    recorded?: HeaderChange,
  ): Promise<ExecutedBlock> {
    const rules = this.rules.at(payload.timestamp);
    const block = fromPayload(payload, context, rules);
    if (recorded === undefined) rejectImpersonated(block.transactions);
    if (context.versionedHashes !== undefined || rules.isSince("cancun")) {
      compareVersionedHashes(context.versionedHashes ?? [], versionedHashesOf(block.transactions));
    }
    return this.execute(parent, block, recorded);
  }

  /**
   * Checks a payload against the executed block whose hash it claims. Throws an `InvalidBlockError` if the payload's
   * content has a different hash or its beacon block has different blobs.
   */
  verifySame(block: ExecutedBlock, payload: ExecutionPayload, context: PayloadContext): void {
    headerOfPayload(payload, context, this.rules.at(payload.timestamp));
    compareVersionedHashes(context.versionedHashes ?? [], versionedHashesOf(block.transactions));
  }

  /** Executes a block on top of its parent. Throws an `InvalidBlockError` naming the incorrect field. */
  async execute(parent: ExecutedBlock, block: Block, recorded?: HeaderChange): Promise<ExecutedBlock> {
    const { header, transactions, withdrawals } = block;
    const rules = this.rules.at(header.timestamp);
    const { requestsHash, blockAccessListHash } = header;
    checkForkFields({ ...header, withdrawals, requests: requestsHash, blockAccessList: blockAccessListHash }, rules);
    checkAgainstParent(header, parent, rules, recorded);
    if (encodedBlockSize(block) > rules.maxBlockSize) {
      throw new InvalidBlockError(
        "transactions",
        `block has ${encodedBlockSize(block)} bytes, at most ${rules.maxBlockSize} allowed`,
      );
    }
    return rules.withMachine(async (machine) => {
      const run = await BlockRun.start(machine, rules, this.#contracts, parent, header);
      for (const [index, transaction] of transactions.entries()) {
        try {
          await run.apply(withRules(transaction, rules));
        } catch (error) {
          throw new InvalidBlockError(`transactions[${index}]`, reasonOf(error));
        }
      }
      const result = await run.finish(withdrawals);
      compareHeaders(header, this.#headerOf(header, header.extraData, rules, result, withdrawals));
      return executed(block, parent, result);
    });
  }

  /**
   * Re-executes a block's transactions, up to `only` if set. Calls `work` for each transaction, or just for `only`,
   * passing the EVM and a function that executes the transaction.
   */
  async replay<T>(
    parent: ExecutedBlock,
    { header, transactions }: Block,
    { budget, only }: { budget: CallBudget; only?: number | undefined },
    work: (machine: Machine, transaction: Transaction, apply: () => Promise<RunTxResult>) => Promise<T>,
  ): Promise<T[]> {
    const rules = this.rules.at(header.timestamp);
    return rules.withLimitedMachine(budget, async (machine) => {
      const run = await BlockRun.start(machine, rules, this.#contracts, parent, header);
      const results: T[] = [];
      for (const [index, transaction] of transactions.slice(0, only === undefined ? undefined : only + 1).entries()) {
        const apply = () => run.apply(withRules(transaction, rules));
        if (only === undefined || only === index) results.push(await work(machine, transaction, apply));
        else await apply();
        await budget.checkpoint();
      }
      return results;
    });
  }

  /** Returns those header fields of the next block that do not depend on the block's content. */
  environmentOf({ hash, header: parent }: ExecutedBlock, attributes: BlockAttributes): BlockEnvironment {
    const { timestamp, prevRandao, feeRecipient, parentBeaconBlockRoot, desiredGasLimit } = attributes;
    const slotNumber =
      attributes.slotNumber ?? this.rules.slotAt(timestamp) ?? (parent.slotNumber ?? parent.number) + 1n;
    if (BigInt(timestamp) <= parent.timestamp) {
      throw new RangeError(`Timestamp ${timestamp} is not after that of the parent, ${parent.timestamp}.`);
    }
    const rules = this.rules.at(timestamp);
    return {
      parentHash: hash,
      feeRecipient,
      number: parent.number + 1n,
      gasLimit: attributes.gasLimit ?? nextGasLimit(parent.gasLimit, desiredGasLimit ?? parent.gasLimit),
      timestamp: BigInt(timestamp),
      prevRandao,
      baseFeePerGas: attributes.baseFeePerGas ?? nextBaseFee(parent),
      ...(rules.blobs && {
        excessBlobGas: nextExcessBlobGas(parent, rules.blobs, rules.isSince("osaka")),
        parentBeaconBlockRoot: parentBeaconBlockRoot ?? ZERO_HASH,
      }),
      ...(rules.isSince("amsterdam") && { slotNumber: BigInt(slotNumber) }),
    };
  }

  async #seal(
    run: BlockRun,
    parent: ExecutedBlock,
    environment: BlockEnvironment,
    rules: ForkRules,
    withdrawals: readonly Withdrawal[] | undefined,
    extraData: Uint8Array = NO_EXTRA_DATA,
  ): Promise<ExecutedBlock> {
    const result = await run.finish(withdrawals);
    const header = this.#headerOf(environment, extraData, rules, result, withdrawals);
    const hash = this.rules.crypto.keccak(encodeHeader(header));
    const block = executed({ hash, header, transactions: result.transactions, withdrawals }, parent, result);
    return { ...block, openWorld: result.openWorld };
  }

  #headerOf(
    environment: BlockEnvironment,
    extraData: Uint8Array,
    rules: ForkRules,
    { world, transactions, receipts, requests, blockAccessList, gasUsed, blobGasUsed }: BlockResult,
    withdrawals: readonly Withdrawal[] | undefined,
  ): Header {
    const { keccak } = this.rules.crypto;
    return {
      ...environment,
      extraData,
      stateRoot: this.reader.stateRoot(world),
      transactionsRoot: listRoot(
        transactions.map(({ raw }) => raw),
        keccak,
      ),
      receiptsRoot: listRoot(receipts.map(encodeReceipt), keccak),
      logsBloom: unionOfBlooms(receipts),
      gasUsed,
      ...(withdrawals && { withdrawalsRoot: listRoot(withdrawals.map(encodeWithdrawal), keccak) }),
      ...(rules.blobs && { blobGasUsed }),
      ...(requests && { requestsHash: hashOfRequests(requests) }),
      ...(blockAccessList && { blockAccessListHash: keccak(blockAccessList) }),
    };
  }
}

async function applyAll(
  run: BlockRun,
  rules: ForkRules,
  candidates: Iterable<Transaction>,
  onFault?: FaultListener,
): Promise<void> {
  const skipped = new Set<string>();
  let sizeLeft = rules.maxBlockSize - SIZE_RESERVE;
  for (const candidate of candidates) {
    if (run.gasLeft < rules.minTransactionGas) return;
    const sender = candidate.sender.toString();
    if (skipped.has(sender)) continue;
    try {
      if (candidate.raw.length > sizeLeft) throw new Error("transaction does not fit into the block");
      await run.apply(withRules(candidate, rules));
      sizeLeft -= candidate.raw.length + 4;
    } catch (error) {
      skipped.add(sender);
      if (error instanceof EvmFaultError) onFault?.(candidate, error);
    }
  }
}

function executed(
  { hash, header, transactions, withdrawals }: Omit<Block, "requests" | "blockAccessList">,
  parent: ExecutedBlock,
  { receipts, world, value, requests, blockAccessList }: BlockResult,
): ExecutedBlock {
  return {
    hash,
    header,
    transactions,
    ...(withdrawals && { withdrawals }),
    ...(requests && { requests }),
    ...(blockAccessList && { blockAccessList }),
    receipts,
    world,
    blockHashes: parent.blockHashes.append(hash),
    value,
  };
}

function checkAgainstParent(
  header: Header,
  { hash, header: parent }: ExecutedBlock,
  rules: ForkRules,
  { baseFeePerGas = nextBaseFee(parent), gasLimit }: HeaderChange = {},
): void {
  compare("parentHash", header.parentHash, hash);
  compare("blockNumber", header.number, parent.number + 1n);
  if (header.timestamp <= parent.timestamp) {
    throw new InvalidBlockError(
      "timestamp",
      `${header.timestamp} is not after that of the parent, ${parent.timestamp}`,
    );
  }
  if (header.gasLimit !== gasLimit && !isGasLimitAllowed(header.gasLimit, parent.gasLimit)) {
    throw new InvalidBlockError(
      "gasLimit",
      `${header.gasLimit} is too far from that of the parent, ${parent.gasLimit}`,
    );
  }
  if (header.gasUsed > header.gasLimit) {
    throw new InvalidBlockError("gasUsed", `${header.gasUsed} is above the gas limit, ${header.gasLimit}`);
  }
  compare("baseFeePerGas", header.baseFeePerGas, baseFeePerGas);
  if (rules.blobs === undefined) return;
  compare("excessBlobGas", header.excessBlobGas, nextExcessBlobGas(parent, rules.blobs, rules.isSince("osaka")));
}

function rejectImpersonated(transactions: readonly Transaction[]): void {
  const index = transactions.findIndex(({ tx }) => isImpersonated(tx));
  if (index >= 0) throw new InvalidBlockError(`transactions[${index}]`, "its signature is a placeholder");
}

/** Compares the header with the execution result. Checks causes before their effects. */
function compareHeaders(header: Header, expected: Header): void {
  compare("blobGasUsed", header.blobGasUsed, expected.blobGasUsed);
  compare("gasUsed", header.gasUsed, expected.gasUsed);
  compare("logsBloom", header.logsBloom, expected.logsBloom);
  compare("receiptsRoot", header.receiptsRoot, expected.receiptsRoot);
  compare("transactionsRoot", header.transactionsRoot, expected.transactionsRoot);
  compare("withdrawalsRoot", header.withdrawalsRoot, expected.withdrawalsRoot);
  compare("executionRequests", header.requestsHash, expected.requestsHash);
  compare("blockAccessList", header.blockAccessListHash, expected.blockAccessListHash);
  compare("stateRoot", header.stateRoot, expected.stateRoot);
}

type FieldValue = Uint8Array | bigint | undefined;

function compare(field: string, got: FieldValue, expected: FieldValue): void {
  const text = (value: FieldValue) => (value instanceof Uint8Array ? toHex(value) : String(value));
  if (text(got) !== text(expected)) throw new InvalidBlockError(field, `got ${text(got)}, expected ${text(expected)}`);
}

function compareVersionedHashes(got: readonly Uint8Array[], expected: readonly Uint8Array[]): void {
  const text = (hashes: readonly Uint8Array[]) => `[${hashes.map(toHex).join(", ")}]`;
  if (text(got) === text(expected)) return;
  throw new InvalidBlockError("versionedHashes", `got ${text(got)}, the transactions have ${text(expected)}`);
}
