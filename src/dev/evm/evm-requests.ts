import { createTx, type TypedTransaction } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import type { electra, phase0 } from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import { ControlError } from "../../api/dev-control.ts";
import { type DevAccount, devAccountKeys } from "../../evm/accounts.ts";
import type { EvmEngine } from "../../evm/engine/evm-engine.ts";
import { nextBaseFee } from "../../evm/execution/fees.ts";
import { CONSOLIDATION_REQUESTS_ADDRESS, WITHDRAWAL_REQUESTS_ADDRESS } from "../../evm/execution/system-contracts.ts";
import { effectiveTip } from "../../evm/execution/transaction.ts";
import { PoolError } from "../../evm/pool/pool-error.ts";
import { bytesToBigint } from "../../evm/rlp.ts";
import type { ExecutionRequestMaker } from "../control/execution-requests.ts";
import { decodeDepositCall, encodeDepositCall } from "./deposit-call.ts";

const GWEI = 10n ** 9n;
/** Enough for a deposit into an empty tree, and for any request. */
const GAS_LIMIT = 300_000n;
/** High enough to come before most transactions of others. */
const TIP = 100n * GWEI;
/** Covers the fee of the request contracts, which starts at 1 wei and grows with their queues. */
const REQUEST_FEE = GWEI;
/** Slot of `deposit_count` in the deposit contract. */
const DEPOSIT_COUNT_SLOT = 0x20;
/** Slot of the excess in both request contracts. */
const EXCESS_SLOT = 0;

interface Call {
  to: Uint8Array;
  data: Uint8Array;
  value: bigint;
}

/** Makes execution requests as on a network: by transactions of the funded accounts to the contracts. */
export class EvmRequests implements ExecutionRequestMaker {
  readonly #engine: EvmEngine;
  readonly #depositContract: Uint8Array;

  constructor(engine: EvmEngine, depositContract: Uint8Array) {
    this.#engine = engine;
    this.#depositContract = depositContract;
  }

  async addWithdrawal({ sourceAddress, validatorPubkey, amount }: electra.WithdrawalRequest): Promise<void> {
    const data = Buffer.alloc(56);
    data.set(validatorPubkey);
    data.writeBigUInt64BE(amount, validatorPubkey.length);
    await this.#request(WITHDRAWAL_REQUESTS_ADDRESS.bytes, sourceAddress, data);
  }

  async addConsolidation({ sourceAddress, sourcePubkey, targetPubkey }: electra.ConsolidationRequest): Promise<void> {
    const data = Buffer.concat([sourcePubkey, targetPubkey]);
    await this.#request(CONSOLIDATION_REQUESTS_ADDRESS.bytes, sourceAddress, data);
  }

  /** Returns the requests with the indices that the contract gives them unless later deposits pay a higher tip. */
  async addDeposits(deposits: readonly phase0.DepositData[]): Promise<electra.DepositRequest[]> {
    const count = Buffer.from(this.#storageOf(this.#depositContract, DEPOSIT_COUNT_SLOT));
    const first = bytesToBigint(count) + BigInt((await this.pendingDeposits()).length);
    for (const deposit of deposits) {
      const data = encodeDepositCall(deposit);
      await this.#sendFromAny({ to: this.#depositContract, data, value: BigInt(deposit.amount) * GWEI });
    }
    return deposits.map((deposit, n) => ({ ...deposit, index: first + BigInt(n) }));
  }

  /** Deposits of pooled transactions that can be included. */
  async pendingDeposits(): Promise<phase0.DepositData[]> {
    const calls = [...this.#pending()].filter((tx) => isCallOf(this.#depositContract, tx));
    return calls.flatMap(({ data, value }) => decodeDepositCall(data, value) ?? []);
  }

  /** Pooled transactions that can be included, in the order of inclusion. */
  *#pending(): Generator<TypedTransaction> {
    const { pool, head } = this.#engine;
    for (const { tx } of pool.pending(nextBaseFee(head.header))) yield tx;
  }

  /**
   * Returns a tip that lets a call of a contract come after the pooled ones. Of equal tips, the one that was pooled
   * first comes first.
   */
  #tipFor(contract: Uint8Array): bigint {
    const baseFee = nextBaseFee(this.#engine.head.header);
    let tip = TIP;
    let lowest = TIP;
    for (const tx of this.#pending()) {
      const each = effectiveTip(tx, baseFee);
      if (each < lowest) lowest = each;
      if (isCallOf(contract, tx)) tip = lowest;
    }
    return tip;
  }

  async #request(to: Uint8Array, source: Uint8Array, data: Uint8Array): Promise<void> {
    const account = devAccountKeys().find(({ address }) => byteArrayEquals(address, source));
    if (account === undefined) {
      throw ControlError.unsupported(
        `The withdrawal address ${toHex(source)} is not one of the funded accounts, so this chain cannot sign for it: ` +
          `send a transaction from it to the contract ${toHex(to)}.`,
      );
    }
    if (this.#storageOf(to, EXCESS_SLOT).length === 32) {
      throw ControlError.conflict(
        `The contract ${toHex(to)} takes requests once there is a block of electra: advance the chain by a slot first.`,
      );
    }
    await this.#refusing(() => this.#send(account, { to, data, value: REQUEST_FEE }));
  }

  /** Sends a transaction from an account that has enough, the last one first. */
  async #sendFromAny(call: Call): Promise<void> {
    const [first, ...others] = [...devAccountKeys()].reverse();
    await this.#refusing(async () => {
      for (const account of [first!, ...others]) {
        try {
          return await this.#send(account, call);
        } catch (error) {
          const isPoor = error instanceof PoolError && error.code === "insufficientFunds";
          if (!isPoor || account === others.at(-1)) throw error;
        }
      }
    });
  }

  async #send({ address, privateKey }: DevAccount, { to, data, value }: Call): Promise<void> {
    const { pool, rules, head } = this.#engine;
    const { common, chainId } = rules.at(head.header.timestamp);
    const tx = createTx(
      {
        type: 2,
        chainId,
        nonce: pool.nextNonce(address),
        to: new Address(to),
        data,
        value,
        gasLimit: GAS_LIMIT,
        maxFeePerGas: 2n * head.header.baseFeePerGas + TIP,
        maxPriorityFeePerGas: this.#tipFor(to),
      },
      { common },
    );
    await this.#engine.addTransaction(tx.sign(privateKey).serialize());
  }

  async #refusing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PoolError)) throw error;
      throw ControlError.conflict(`The transaction pool refuses the transaction: ${error.message}.`);
    }
  }

  #storageOf(address: Uint8Array, slot: number): Uint8Array {
    const { executor, head } = this.#engine;
    const key = new Uint8Array(32);
    key[31] = slot;
    return executor.reader.slot(executor.reader.account(head.world, address)?.storage, key);
  }
}

function isCallOf(contract: Uint8Array, { to }: TypedTransaction): boolean {
  return to !== undefined && byteArrayEquals(to.bytes, contract);
}
