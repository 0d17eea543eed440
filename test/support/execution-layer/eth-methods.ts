import type { TypedTransaction } from "@ethereumjs/tx";
import { bytesToHex, createAddressFromString, hexToBytes } from "@ethereumjs/util";
import { z } from "zod";
import { type ExecutedBlock, lineage } from "./evm.ts";
import type { ExecutionChain } from "./execution-chain.ts";
import { JsonRpcError } from "./json-rpc-error.ts";
import { type Methods, read } from "./methods.ts";
import { address, data, type Hex, hash, quantity, toQuantity } from "./wire.ts";

const TAGS = ["earliest", "latest", "pending", "safe", "finalized"] as const;
const blockNumber = z.union([quantity, z.enum(TAGS)]);
const oneOrMore = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.array(schema)]);
const logFilter = z.strictObject({
  address: oneOrMore(address).nullish(),
  fromBlock: blockNumber.nullish(),
  toBlock: blockNumber.nullish(),
  blockHash: hash.nullish(),
  topics: z.array(oneOrMore(hash).nullable()).nullish(),
});
const callRequest = z.looseObject({
  from: address.nullish(),
  to: address,
  data: data.nullish(),
  input: data.nullish(),
  value: quantity.nullish(),
});
const CALL_GAS = 30_000_000n;

const lowerCase = (value: string | string[]) => [value].flat().map((one) => one.toLowerCase());

function transactionObject(transaction: TypedTransaction, place: object) {
  return {
    ...transaction.toJSON(),
    hash: bytesToHex(transaction.hash()),
    from: transaction.getSenderAddress().toString(),
    ...place,
  };
}

function placeOf({ hash, block }: ExecutedBlock, index: number) {
  return { blockHash: hash, blockNumber: toQuantity(block.header.number), transactionIndex: toQuantity(index) };
}

function blockObject(executed: ExecutedBlock, withTransactions: boolean) {
  const { block, hash } = executed;
  const { uncleHash, coinbase, transactionsTrie, receiptTrie, ...header } = block.header.toJSON();
  return {
    ...header,
    hash,
    sha3Uncles: uncleHash,
    miner: coinbase,
    transactionsRoot: transactionsTrie,
    receiptsRoot: receiptTrie,
    totalDifficulty: "0x0",
    size: toQuantity(block.serialize().length),
    uncles: [],
    transactions: block.transactions.map((transaction, index) =>
      withTransactions ? transactionObject(transaction, placeOf(executed, index)) : bytesToHex(transaction.hash()),
    ),
    withdrawals: block.withdrawals?.map((withdrawal) => withdrawal.toJSON()),
  };
}

/** Logs of each transaction of a block. Log indices count per block. */
function logsOf(executed: ExecutedBlock) {
  let logIndex = 0;
  return executed.receipts.map((receipt, index) =>
    receipt.logs.map(([from, topics, bytes]) => ({
      address: bytesToHex(from),
      topics: topics.map((topic) => bytesToHex(topic)),
      data: bytesToHex(bytes),
      ...placeOf(executed, index),
      transactionHash: bytesToHex(executed.block.transactions[index]!.hash()),
      logIndex: toQuantity(logIndex++),
      removed: false,
    })),
  );
}

function receiptObject(executed: ExecutedBlock, index: number) {
  const transaction = executed.block.transactions[index]!;
  const receipt = executed.receipts[index]!;
  const before = index === 0 ? 0n : executed.receipts[index - 1]!.cumulativeBlockGasUsed;
  return {
    transactionHash: bytesToHex(transaction.hash()),
    ...placeOf(executed, index),
    from: transaction.getSenderAddress().toString(),
    to: transaction.to?.toString() ?? null,
    cumulativeGasUsed: toQuantity(receipt.cumulativeBlockGasUsed),
    gasUsed: toQuantity(receipt.cumulativeBlockGasUsed - before),
    contractAddress: null,
    logs: logsOf(executed)[index],
    logsBloom: bytesToHex(receipt.bitvector),
    status: "status" in receipt ? toQuantity(receipt.status) : undefined,
    type: toQuantity(transaction.type),
  };
}

/** eth_* methods that consensus clients and tests use. */
export function ethMethods(chain: ExecutionChain): Methods {
  const find = (value: unknown): ExecutedBlock | undefined => {
    const id = read(blockNumber, value ?? "latest", "block");
    if (id === "latest" || id === "pending") return chain.head;
    if (id === "safe" || id === "finalized") return chain[id];
    const number = id === "earliest" ? 0n : BigInt(id);
    return lineage(chain.head).find(({ block }) => block.header.number === number);
  };
  const stateAt = async (value: unknown) => {
    const found = find(value);
    if (!found) throw new JsonRpcError(-32000, "no such block");
    const { number, timestamp } = found.block.header;
    return { found, vm: await chain.evm.vmOn(found, chain.evm.rulesAt(number, timestamp)) };
  };
  const accountAt = async (who: unknown, block: unknown) => {
    const owner = createAddressFromString(read(address, who, "address"));
    const { vm } = await stateAt(block);
    return { account: await vm.stateManager.getAccount(owner), code: await vm.stateManager.getCode(owner) };
  };

  /** Oldest first. */
  const blocksOf = ({ blockHash, fromBlock, toBlock }: z.infer<typeof logFilter>): ExecutedBlock[] => {
    if (blockHash) {
      const found = chain.block(blockHash);
      if (!found) throw new JsonRpcError(-32000, "no such block");
      return [found];
    }
    const first = find(fromBlock)?.block.header.number;
    const last = find(toBlock)?.block.header.number ?? chain.head.block.header.number;
    const isAsked = ({ block: { header } }: ExecutedBlock) =>
      first !== undefined && header.number >= first && header.number <= last;
    return lineage(chain.head).filter(isAsked).reverse();
  };

  return {
    eth_chainId: () => toQuantity(chain.evm.chainId),
    eth_blockNumber: () => toQuantity(chain.head.block.header.number),
    eth_syncing: () => false,
    eth_getBlockByNumber: ([id, withTransactions]) => {
      const found = find(id);
      return found ? blockObject(found, withTransactions === true) : null;
    },
    eth_getBlockByHash: ([id, withTransactions]) => {
      const found = chain.block(read(hash, id, "hash"));
      return found ? blockObject(found, withTransactions === true) : null;
    },
    eth_getLogs: ([value]) => {
      const filter = read(logFilter, value, "filter");
      const addresses = filter.address ? lowerCase(filter.address) : undefined;
      const topics = filter.topics?.map((topic) => (topic === null ? undefined : lowerCase(topic))) ?? [];
      return blocksOf(filter)
        .flatMap((executed) => logsOf(executed).flat())
        .filter((log) => addresses?.includes(log.address) ?? true)
        .filter((log) => topics.every((wanted, index) => wanted?.includes(log.topics[index] ?? "") ?? true));
    },
    eth_sendRawTransaction: ([raw]) => chain.addTransaction(read(data, raw, "transaction")),
    eth_getTransactionReceipt: ([id]) => {
      const wanted = read(hash, id, "hash");
      for (const executed of lineage(chain.head)) {
        const index = executed.block.transactions.findIndex((transaction) => bytesToHex(transaction.hash()) === wanted);
        if (index >= 0) return receiptObject(executed, index);
      }
      return null;
    },
    eth_call: async ([request, id]) => {
      const { from, to, data: bytes, input, value } = read(callRequest, request, "transaction");
      const { found, vm } = await stateAt(id);
      const { execResult } = await vm.evm.runCall({
        caller: from ? createAddressFromString(from) : undefined,
        to: createAddressFromString(to),
        data: hexToBytes(input ?? bytes ?? "0x"),
        value: BigInt(value ?? 0),
        gasLimit: CALL_GAS,
        block: found.block,
      });
      if (execResult.exceptionError) throw new JsonRpcError(-32000, execResult.exceptionError.error);
      return bytesToHex(execResult.returnValue);
    },
    eth_getBalance: async ([who, block]) => toQuantity((await accountAt(who, block)).account?.balance ?? 0n),
    eth_getTransactionCount: async ([who, block]) => toQuantity((await accountAt(who, block)).account?.nonce ?? 0n),
    eth_getCode: async ([who, block]): Promise<Hex> => bytesToHex((await accountAt(who, block)).code),
  };
}
