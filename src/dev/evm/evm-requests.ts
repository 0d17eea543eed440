import type { electra, gloas, phase0, RootHex } from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import { ControlError } from "../../api/dev-control.ts";
import { FUNDED_ADDRESSES } from "../../evm/accounts.ts";
import type { ContractCall, DevWallet } from "../../evm/engine/dev-wallet.ts";
import { PoolError } from "../../evm/pool/pool-error.ts";
import { bytesToBigint } from "../../evm/rlp.ts";
import {
  BUILDER_DEPOSITS,
  BUILDER_EXITS,
  CONSOLIDATION_REQUESTS,
  WITHDRAWAL_REQUESTS,
} from "../../evm/system-addresses.ts";
import { type LoggedDeposit, parseDepositLog } from "../../execution/eth1/deposit-log.ts";
import type { Remote } from "../../threads/remote.ts";
import type { ExecutionRequestSink } from "../control/execution-requests.ts";
import { decodeDepositCall, encodeDepositCall } from "./deposit-call.ts";

const GWEI = 10n ** 9n;
/** Enough for a deposit into an empty tree, and for any request. */
const GAS_LIMIT = 300_000n;
/** Covers the fee charged by the request contracts, which starts at 1 wei and grows with their queues. */
const REQUEST_FEE = GWEI;
/** Storage slot of `deposit_count` in the deposit contract. */
const DEPOSIT_COUNT_SLOT = 0x20;
/** Storage slot of the excess in all request contracts. */
const EXCESS_SLOT = 0;
const ACCOUNTS = FUNDED_ADDRESSES.map((address) => new Uint8Array(Buffer.from(address.slice(2), "hex")));

type Call = Omit<ContractCall, "gasLimit">;

interface EvmRequestsParts {
  wallet: Remote<DevWallet>;
  depositContract: Uint8Array;
  /** False if other nodes have to verify the transactions. */
  canImpersonate: boolean;
}

/** Sends execution requests to the system contracts as transactions from funded or impersonated accounts. */
export class EvmRequests implements ExecutionRequestSink {
  readonly #wallet: Remote<DevWallet>;
  readonly #depositContract: Uint8Array;
  readonly #canImpersonate: boolean;

  constructor({ wallet, depositContract, canImpersonate }: EvmRequestsParts) {
    this.#wallet = wallet;
    this.#depositContract = depositContract;
    this.#canImpersonate = canImpersonate;
  }

  async addWithdrawal({ sourceAddress, validatorPubkey, amount }: electra.WithdrawalRequest): Promise<void> {
    const data = Buffer.alloc(56);
    data.set(validatorPubkey);
    data.writeBigUInt64BE(amount, validatorPubkey.length);
    await this.#request(WITHDRAWAL_REQUESTS, sourceAddress, data);
  }

  async addConsolidation({ sourceAddress, sourcePubkey, targetPubkey }: electra.ConsolidationRequest): Promise<void> {
    const data = Buffer.concat([sourcePubkey, targetPubkey]);
    await this.#request(CONSOLIDATION_REQUESTS, sourceAddress, data);
  }

  /** Calldata of EIP-8282: public key, withdrawal credentials, amount and signature. */
  async addBuilderDeposit(request: gloas.BuilderDepositRequest): Promise<void> {
    const { pubkey, withdrawalCredentials, amount, signature } = request;
    await this.#requireOpen(BUILDER_DEPOSITS, "gloas");
    const gwei = Buffer.alloc(8);
    gwei.writeBigUInt64BE(BigInt(amount));
    const data = Buffer.concat([pubkey, withdrawalCredentials, gwei, signature]);
    await this.#sendFromAny({ to: BUILDER_DEPOSITS, data, value: BigInt(amount) * GWEI + REQUEST_FEE });
  }

  async addBuilderExit({ sourceAddress, pubkey }: gloas.BuilderExitRequest): Promise<void> {
    await this.#request(BUILDER_EXITS, sourceAddress, pubkey, "gloas");
  }

  /**
   * Returns the requests with their expected indices. The actual indices may differ if later deposits with a higher tip
   * are included first.
   */
  async addDeposits(deposits: readonly phase0.DepositData[]): Promise<electra.DepositRequest[]> {
    const count = await this.#wallet.storageAt(this.#depositContract, DEPOSIT_COUNT_SLOT);
    const first = bytesToBigint(count) + BigInt((await this.pendingDeposits()).length);
    for (const deposit of deposits) {
      const data = encodeDepositCall(deposit);
      await this.#sendFromAny({ to: this.#depositContract, data, value: BigInt(deposit.amount) * GWEI });
    }
    return deposits.map((deposit, n) => ({ ...deposit, index: first + BigInt(n) }));
  }

  /** Returns the deposits in pooled transactions that the next block can include. */
  async pendingDeposits(): Promise<phase0.DepositData[]> {
    const calls = await this.#wallet.pendingCalls(this.#depositContract);
    return calls.flatMap(({ data, value }) => decodeDepositCall(data, value) ?? []);
  }

  /**
   * Returns the deposits in the blocks after number `after`, up to a block. Returns undefined if any of these blocks is
   * unknown.
   */
  async depositsUpTo(blockHash: RootHex, after: number): Promise<LoggedDeposit[] | undefined> {
    return (await this.#wallet.depositLogs(this.#depositContract, blockHash, after))?.map(parseDepositLog);
  }

  async #request(to: Uint8Array, source: Uint8Array, data: Uint8Array, since = "electra"): Promise<void> {
    if (!this.#canImpersonate && !ACCOUNTS.some((address) => byteArrayEquals(address, source))) {
      throw ControlError.unsupported(
        `The withdrawal address ${toHex(source)} is not one of the funded accounts, and other nodes would not accept an ` +
          `unsigned transaction (--p2p). Send one from it to the contract ${toHex(to)}.`,
      );
    }
    await this.#requireOpen(to, since);
    await this.#convertingPoolErrors(() => this.#send(source, { to, data, value: REQUEST_FEE }));
  }

  async #requireOpen(contract: Uint8Array, since: string): Promise<void> {
    if ((await this.#wallet.storageAt(contract, EXCESS_SLOT)).length < 32) return;
    throw ControlError.conflict(
      `The contract ${toHex(contract)} takes requests once there is a block of ${since}: ` +
        "advance the chain by a slot first.",
    );
  }

  /** Sends a transaction from the last funded account with a sufficient balance. */
  async #sendFromAny(call: Call): Promise<void> {
    const accounts = ACCOUNTS.toReversed();
    await this.#convertingPoolErrors(async () => {
      for (const account of accounts) {
        try {
          return await this.#send(account, call);
        } catch (error) {
          const isPoor = error instanceof PoolError && error.code === "insufficientFunds";
          if (!isPoor || account === accounts.at(-1)) throw error;
        }
      }
    });
  }

  #send(from: Uint8Array, call: Call): Promise<void> {
    return this.#wallet.send(from, { ...call, gasLimit: GAS_LIMIT });
  }

  async #convertingPoolErrors(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PoolError)) throw error;
      throw ControlError.conflict(`The transaction pool refuses the transaction: ${error.message}.`);
    }
  }
}
