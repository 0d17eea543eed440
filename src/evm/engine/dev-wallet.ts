import { createTx, type TypedTransaction } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import type { RootHex } from "@lodestar/types";
import { devAccountKeys } from "../accounts.ts";
import { isDepositLog } from "../execution/deposit-events.ts";
import { toHex } from "../execution/payload.ts";
import { effectiveTip } from "../execution/transaction.ts";
import { impersonate } from "../overrides/impersonation.ts";
import type { EvmEngine } from "./evm-engine.ts";
import type { ReceiptedBlock } from "./storage/block-archive.ts";

/** High enough for inclusion ahead of most other transactions. */
const TIP = 100n * 10n ** 9n;

/** A contract call to be sent as a transaction. */
export interface ContractCall {
  to: Uint8Array;
  data: Uint8Array;
  value: bigint;
  /** Gas for the execution, without that for new state (EIP-8037). */
  gasLimit: bigint;
}

/** A log emitted by the deposit contract, with its data in hex. */
interface DepositLogEntry {
  blockNumber: number;
  blockHash: RootHex;
  data: string;
}

/** Gas for eight new slots, since Amsterdam (EIP-8037). */
const STATE_GAS = 8n * 64n * 1530n;

/** Sends transactions from funded and impersonated accounts, and reads the state needed to prepare them. */
export class DevWallet {
  readonly #engine: EvmEngine;

  constructor(engine: EvmEngine) {
    this.#engine = engine;
  }

  /**
   * Adds a transaction with the next nonce to the pool. If the account is not one of the funded ones, impersonates it
   * and raises its balance to cover the transaction. Throws a `PoolError` if the transaction is rejected.
   */
  async send(from: Uint8Array, { to, data, value, gasLimit }: ContractCall): Promise<void> {
    const account = devAccountKeys().find(({ address }) => toHex(address) === toHex(from));
    const { pool, rules, head } = this.#engine;
    const { common, chainId } = rules.at(head.header.timestamp);
    const hasStateGas = rules.at(this.#engine.nextTimestamp(head)).isSince("amsterdam");
    const gas = hasStateGas ? gasLimit + STATE_GAS : gasLimit;
    const fields = {
      type: 2,
      chainId,
      nonce: pool.nextNonce(from),
      to: new Address(to),
      data,
      value,
      gasLimit: gas,
      maxFeePerGas: 2n * this.#engine.nextBaseFee(head) + TIP,
      maxPriorityFeePerGas: this.#tipFor(to),
    };
    const tx = createTx(fields, { common });
    if (account) {
      await this.#engine.addTransaction(tx.sign(account.privateKey).serialize(), { sender: new Address(from) });
      return;
    }
    await this.#fund(from, value + gas * fields.maxFeePerGas);
    await this.#engine.addTransaction(impersonate(tx, from).serialize(), { isTrusted: true });
  }

  /** Raises an account's balance to cover the maximum cost of its pooled transactions plus a new one. */
  async #fund(address: Uint8Array, cost: bigint): Promise<void> {
    const { executor, head, pool } = this.#engine;
    const { balance = 0n } = executor.reader.account(this.#engine.overridden(head).world, address) ?? {};
    const { pending = [], queued = [] } = pool.content().get(toHex(address)) ?? {};
    const needed = [...pending, ...queued].reduce((sum, pooled) => sum + pooled.cost, cost);
    if (balance < needed) await this.#engine.override({ address, balance: needed });
  }

  /** Returns a storage value at the head, with leading zeros stripped. */
  storageAt(address: Uint8Array, slot: number): Uint8Array {
    const { executor, head } = this.#engine;
    const key = new Uint8Array(32);
    key[31] = slot;
    return executor.reader.slot(executor.reader.account(head.world, address)?.storage, key);
  }

  /** Returns the executable pooled calls to a contract, in order of inclusion. */
  pendingCalls(contract: Uint8Array): Pick<ContractCall, "data" | "value">[] {
    const calls = [...this.#pending()].filter((tx) => isCallOf(contract, tx));
    return calls.map(({ data, value }) => ({ data, value }));
  }

  /**
   * Returns the logs emitted by a deposit contract in the blocks after number `after`, up to and including the given
   * block. Undefined if one of these blocks is neither in memory nor archived.
   */
  async depositLogs(contract: Uint8Array, blockHash: RootHex, after: number): Promise<DepositLogEntry[] | undefined> {
    const { blocks, archive } = this.#engine;
    const find = async (hash: RootHex): Promise<ReceiptedBlock | undefined> =>
      blocks.get(hash) ?? (await archive?.byHash(hash));
    const found: DepositLogEntry[][] = [];
    let block = await find(blockHash);
    while (block !== undefined && block.header.number > after) {
      const [blockNumber, hash] = [Number(block.header.number), toHex(block.hash)];
      const logs = block.receipts.flatMap((receipt) => receipt.logs).filter((log) => isDepositLog(log, contract));
      found.push(logs.map(({ data }) => ({ blockNumber, blockHash: hash, data: toHex(data) })));
      block = await find(toHex(block.header.parentHash));
    }
    return block && found.reverse().flat();
  }

  /** Yields the executable transactions in the pool, in order of inclusion. */
  *#pending(): Generator<TypedTransaction> {
    for (const { tx } of this.#engine.executable()) yield tx;
  }

  /**
   * Returns a tip that places a contract call behind the pooled calls to the same contract. Transactions with equal
   * tips are ordered by arrival.
   */
  #tipFor(contract: Uint8Array): bigint {
    const baseFee = this.#engine.nextBaseFee(this.#engine.head);
    let tip = TIP;
    let lowest = TIP;
    for (const tx of this.#pending()) {
      const each = effectiveTip(tx, baseFee);
      if (each < lowest) lowest = each;
      if (isCallOf(contract, tx)) tip = lowest;
    }
    return tip;
  }
}

function isCallOf(contract: Uint8Array, { to }: TypedTransaction): boolean {
  return to !== undefined && toHex(to.bytes) === toHex(contract);
}
