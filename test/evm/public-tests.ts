import type { ExecutedBlock, Withdrawal } from "../../src/evm/execution/block.ts";
import { BlockExecutor } from "../../src/evm/execution/block-executor.ts";
import { BlockHashes } from "../../src/evm/execution/block-hashes.ts";
import { BlockRun } from "../../src/evm/execution/block-run.ts";
import {
  type ChainRulesOptions,
  EXECUTION_FORKS,
  type ExecutionFork,
  updateFractionOf,
} from "../../src/evm/execution/forks.ts";
import { decodeHeader, encodeHeader } from "../../src/evm/execution/header.ts";
import { InvalidBlockError } from "../../src/evm/execution/invalid-block.ts";
import { ChainRules } from "../../src/evm/execution/rules.ts";
import { SystemContracts } from "../../src/evm/execution/system-contracts.ts";
import { decodeTransaction } from "../../src/evm/execution/transaction.ts";
import { createGenesisBlock, type GenesisAccount } from "../../src/evm/genesis.ts";
import { asBytes, asList, decode, encode, type RlpItem } from "../../src/evm/rlp.ts";
import { bytesOf, hexOf, sharedCrypto } from "../support/evm/evm.ts";

// Runs tests in the formats of ethereum/tests and execution-spec-tests.

type Accounts = Record<string, { balance: string; code: string; nonce: string; storage: Record<string, string> }>;

export interface BlockchainTest {
  network: string;
  pre: Accounts;
  genesisRLP: string;
  blocks: { rlp: string; expectException?: string; expectExceptionALL?: string }[];
  lastblockhash: string;
}

export interface StateTest {
  env: Record<string, string>;
  pre: Accounts;
  config?: { chainid?: string };
  post: Record<string, { hash: string; txbytes: string; expectException?: string }[]>;
}

const TRANSITION = /^(\w+)To(\w+)AtTime15k$/;
const TRANSITION_TIME = 15_000;
const DEPOSIT_CONTRACT = bytesOf("00000000219ab540356cbb839cbe05303d7705fa");

/** Rules of a network; undefined if it begins before the merge or is not known. */
export function rulesOf(network: string, chainId = 1): ChainRulesOptions | undefined {
  const [, from = network, to] = TRANSITION.exec(network) ?? [];
  const first = EXECUTION_FORKS.indexOf(from.toLowerCase() as ExecutionFork);
  const last = to === undefined ? first : EXECUTION_FORKS.indexOf(to.toLowerCase() as ExecutionFork);
  if (first < 0 || last < 0) return undefined;
  const forks = Object.fromEntries(
    EXECUTION_FORKS.slice(1, last + 1).map((name, index) => [name, index + 1 <= first ? 0 : TRANSITION_TIME]),
  ) as ChainRulesOptions["forks"];
  const blobs = [
    { timestamp: forks.cancun ?? Infinity, target: 3, max: 6, updateFraction: updateFractionOf(6) },
    { timestamp: forks.prague ?? Infinity, target: 6, max: 9, updateFraction: updateFractionOf(9) },
    { timestamp: forks.amsterdam ?? Infinity, target: 14, max: 21, updateFraction: updateFractionOf(21) },
  ];
  return { chainId, depositContract: DEPOSIT_CONTRACT, forks, blobs };
}

/** Returns what is wrong, or undefined. */
export async function runBlockchainTest(test: BlockchainTest): Promise<string | undefined> {
  const rules = new ChainRules(rulesOf(test.network)!, await sharedCrypto());
  const executor = new BlockExecutor(rules);
  const genesis = genesisOf(test, rules);
  if (hexOf(executor.reader.stateRoot(genesis.world)) !== hexOf(genesis.header.stateRoot)) return "genesis state root";
  const blocks = new Map<string, ExecutedBlock>([[hexOf(genesis.hash), genesis]]);
  let head = genesis;
  for (const [index, { rlp, expectException, expectExceptionALL }] of test.blocks.entries()) {
    const expected = expectException ?? expectExceptionALL;
    try {
      head = await verifyRlp(bytesOf(rlp), executor, blocks);
      blocks.set(hexOf(head.hash), head);
      if (expected !== undefined) return `block ${index} is accepted in spite of ${expected}`;
    } catch (error) {
      if (expected === undefined) return `block ${index}: ${(error as Error).message}`;
    }
  }
  return hexOf(head.hash) === test.lastblockhash.slice(2) ? undefined : "hash of the last block";
}

/** Runs every transaction of a test by itself, in the forks that the engine has. */
export async function runStateTest(test: StateTest): Promise<{ count: number; fault: string | undefined }> {
  let count = 0;
  for (const [network, cases] of Object.entries(test.post)) {
    const options = rulesOf(network, Number(test.config?.chainid ?? 1));
    if (options === undefined) continue;
    for (const [index, expected] of cases.entries()) {
      count++;
      const root = await stateRootAfter(test, new ChainRules(options, await sharedCrypto()), expected);
      if (root !== expected.hash.slice(2)) return { count, fault: `${network} ${index}: state root ${root}` };
    }
  }
  return { count, fault: undefined };
}

async function stateRootAfter(
  { env, pre }: StateTest,
  chain: ChainRules,
  { txbytes, expectException }: { txbytes: string; expectException?: string },
): Promise<string> {
  const number = (name: string, fallback = 0n) => (env[name] === undefined ? fallback : BigInt(env[name]));
  const rules = chain.at(number("currentTimestamp"));
  const genesis = createGenesisBlock(chain, { timestamp: 0 }, accountsOf(pre));
  const header = {
    parentHash: genesis.hash,
    feeRecipient: bytesOf(env.currentCoinbase!),
    number: number("currentNumber", 1n),
    gasLimit: number("currentGasLimit"),
    timestamp: number("currentTimestamp"),
    prevRandao: word(env.currentRandom ?? env.currentDifficulty ?? "0x0"),
    baseFeePerGas: number("currentBaseFee", 7n),
    excessBlobGas: number("currentExcessBlobGas"),
  };
  return rules.withMachine(async (machine) => {
    const run = await BlockRun.start(machine, rules, new SystemContracts(chain.crypto.keccak), genesis, header);
    try {
      await run.apply(decodeTransaction(bytesOf(txbytes), rules));
    } catch (error) {
      if (expectException === undefined) return `invalid transaction: ${(error as Error).message}`;
    }
    return hexOf(machine.state.reader.stateRoot(machine.state.seal()));
  });
}

function genesisOf({ genesisRLP, pre }: BlockchainTest, rules: ChainRules): ExecutedBlock {
  const [headerItem] = asList(decode(bytesOf(genesisRLP)));
  const header = decodeHeader(headerItem!);
  const { world } = createGenesisBlock(rules, { timestamp: Number(header.timestamp) }, accountsOf(pre));
  const hash = rules.crypto.keccak(encode(headerItem!));
  const blockHashes = BlockHashes.of(header.number, [hash]);
  return { hash, header, transactions: [], receipts: [], world, blockHashes, value: 0n };
}

async function verifyRlp(
  rlp: Uint8Array,
  executor: BlockExecutor,
  blocks: ReadonlyMap<string, ExecutedBlock>,
): Promise<ExecutedBlock> {
  const [headerItem, transactionItems, ommers, withdrawalItems] = asList(decode(rlp));
  const header = decodeHeader(headerItem!);
  if (hexOf(encodeHeader(header)) !== hexOf(encode(headerItem!))) {
    throw new InvalidBlockError("blockHash", "header has fields that a payload does not have");
  }
  if (asList(ommers).length > 0) throw new InvalidBlockError("ommers", "not allowed");
  const parent = blocks.get(hexOf(header.parentHash));
  if (parent === undefined) throw new InvalidBlockError("parentHash", "unknown block");
  const withdrawals = withdrawalItems === undefined ? undefined : asList(withdrawalItems).map(withdrawalOf);
  const transactions = asList(transactionItems).map((item) => (Array.isArray(item) ? encode(item) : asBytes(item)));
  const rules = executor.rules.at(header.timestamp);
  return executor.execute(parent, {
    hash: executor.rules.crypto.keccak(encodeHeader(header)),
    header,
    transactions: transactions.map((raw) => decodeTransaction(raw, rules)),
    ...(withdrawals && { withdrawals }),
  });
}

function withdrawalOf(item: RlpItem): Withdrawal {
  const [index, validatorIndex, address, amount] = asList(item).map(asBytes);
  const numberOf = (bytes: Uint8Array | undefined) => BigInt(`0x${hexOf(bytes!) || "0"}`);
  if (address?.length !== 20) throw new InvalidBlockError("withdrawals", "address has the wrong size");
  // Bigints keep the precision of indexes that no beacon chain reaches.
  return {
    index: numberOf(index) as unknown as number,
    validatorIndex: numberOf(validatorIndex) as unknown as number,
    address,
    amount: numberOf(amount),
  };
}

function accountsOf(pre: Accounts): GenesisAccount[] {
  return Object.entries(pre).map(([address, { balance, code, nonce, storage }]) => ({
    address: bytesOf(address),
    balance: BigInt(balance),
    nonce: BigInt(nonce),
    code: bytesOf(code),
    storage: Object.entries(storage).map(([slot, value]) => [word(slot), word(value)] as const),
  }));
}

const word = (hex: string): Uint8Array => bytesOf(hex.slice(2).padStart(64, "0"));
