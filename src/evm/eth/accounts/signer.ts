import { createTx, type TypedTransaction, type TypedTxData } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import { type DevAccount, devAccountKeys } from "../../accounts.ts";
import type { EvmEngine } from "../../engine/evm-engine.ts";
import type { ForkRules } from "../../execution/rules.ts";
import { impersonate } from "../../overrides/impersonation.ts";
import { fromLibraryError } from "../../pool/validation.ts";
import { numberToBytes } from "../../rlp.ts";
import { checkFields } from "../calls/call-transaction.ts";
import { TRANSFER_GAS } from "../calls/estimate-gas.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data } from "../json/hex.ts";
import type { Authorization, TransactionRequest } from "../transaction-request.ts";

const INVALID_PARAMS = -32602;
const DEFAULT_TIP = 10n ** 9n;
/** Lower addresses may be precompiles, which have no code. */
const MIN_ADDRESS_WITHOUT_PRECOMPILE = 0x10000n;

type FilledRequest = TransactionRequest & { gas: bigint };

/** Estimates the gas used by a transaction in the next block. If the transaction fails, throws its error. */
export type GasEstimator = (request: TransactionRequest) => Promise<bigint>;

/** Signs with the funded accounts, and fills in transactions from impersonated accounts. */
export class AccountSigner {
  readonly #chain: EthChain<EvmEngine>;
  readonly #estimateGas: GasEstimator;

  constructor(chain: EthChain<EvmEngine>, estimateGas: GasEstimator) {
    this.#chain = chain;
    this.#estimateGas = estimateGas;
  }

  get addresses(): string[] {
    return devAccountKeys().map(({ address }) => data(address));
  }

  /** Signs a hash. Returns r, s and v (27 or 28). */
  sign(address: Uint8Array, hash: Uint8Array): Uint8Array {
    return this.#chain.engine.rules.crypto.sign(hash, this.#accountOf(address).privateKey);
  }

  /**
   * Estimates the gas used by a transaction that has no gas limit. If the transaction fails, throws its error. Uses the
   * pending block, because the transaction may depend on other transactions in the pool. Plain transfers are not
   * executed.
   */
  async withGas(request: TransactionRequest): Promise<FilledRequest> {
    const { gas } = request;
    if (gas !== undefined) return { ...request, gas };
    this.#check(request);
    return { ...request, gas: this.#isTransfer(request) ? TRANSFER_GAS : await this.#estimateGas(request) };
  }

  /**
   * Returns true for an affordable transfer to an account without code, unless pooled transactions could change either
   * fact.
   */
  #isTransfer({ from, to, value = 0n, data: input, accessList, authorizationList, ...fees }: TransactionRequest) {
    const { engine, latest } = this.#chain;
    // Since then, the gas depends on the recipient (EIP-2780, EIP-8037).
    if (engine.rules.at(engine.nextTimestamp(latest)).isSince("amsterdam")) return false;
    if (to === undefined || (input?.length ?? 0) > 0 || accessList !== undefined || authorizationList !== undefined)
      return false;
    if (engine.pool.size > 0 || BigInt(data(to)) < MIN_ADDRESS_WITHOUT_PRECOMPILE) return false;
    const { world } = engine.overridden(latest);
    const { reader } = engine.executor;
    if ((reader.account(world, to)?.code.length ?? 0) > 0) return false;
    const gasPrice = fees.gasPrice ?? fees.maxFeePerGas ?? this.#defaultFeeCap(fees.maxPriorityFeePerGas);
    return (reader.account(world, from!)?.balance ?? 0n) >= value + TRANSFER_GAS * gasPrice;
  }

  #defaultFeeCap(tip = DEFAULT_TIP): bigint {
    return 2n * this.#chain.engine.nextBaseFee(this.#chain.latest) + tip;
  }

  /** Fills in and signs a transaction. Returns the network encoding. */
  signTransaction(request: FilledRequest): Uint8Array {
    const { privateKey } = this.#accountOf(this.#check(request));
    return this.#create(request, (tx) => tx.sign(privateKey));
  }

  /** Fills in a transaction from an impersonated account and adds a placeholder signature. */
  impersonateTransaction(request: FilledRequest): Uint8Array {
    const from = this.#check(request);
    return this.#create(request, (tx) => impersonate(tx, from));
  }

  /** Returns true if the account's key is unknown but the account is impersonated. */
  isImpersonated({ from }: TransactionRequest): boolean {
    return from !== undefined && !this.#find(from) && this.#chain.engine.overrides.isImpersonated(from);
  }

  #create(request: FilledRequest, sign: (tx: TypedTransaction) => TypedTransaction): Uint8Array {
    const rules = this.#nextRules;
    const completed = this.#complete(request, this.#check(request), rules.chainId);
    try {
      return sign(createTx(completed, { common: rules.common })).serialize();
    } catch (error) {
      throw fromLibraryError(error, rules);
    }
  }

  get #nextRules(): ForkRules {
    return this.#chain.engine.rules.at(this.#chain.nextTimestamp);
  }

  /** Returns the sender. Throws an `EthError` if fields are missing or mutually exclusive. */
  #check(request: TransactionRequest): Uint8Array {
    const { from } = request;
    if (from === undefined) throw new EthError('missing "from": name the account that signs', INVALID_PARAMS);
    if (!this.isImpersonated(request)) this.#accountOf(from);
    checkFields(request, this.#nextRules);
    if (request.blobVersionedHashes !== undefined || request.type === 3) {
      const message = "blob transactions have to be signed by the client and sent with their sidecar";
      throw new EthError(message, INVALID_PARAMS);
    }
    return from;
  }

  #complete(request: FilledRequest, from: Uint8Array, chainId: bigint): TypedTxData {
    const { to, gas, value = 0n, data: input = new Uint8Array(0), nonce, accessList = [] } = request;
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, authorizationList } = request;
    const type = request.type ?? typeOf(request);
    const tip = maxPriorityFeePerGas ?? smaller(DEFAULT_TIP, maxFeePerGas);
    const feeCap = maxFeePerGas ?? this.#defaultFeeCap(tip);
    return {
      type,
      chainId,
      nonce: nonce ?? this.#chain.engine.pool.nextNonce(from),
      gasLimit: gas,
      ...(to && { to: new Address(to) }),
      value,
      data: input,
      ...(type < 2
        ? { gasPrice: gasPrice ?? feeCap }
        : { maxFeePerGas: gasPrice ?? feeCap, maxPriorityFeePerGas: gasPrice ?? tip }),
      ...(type >= 1 && { accessList: accessList.map(({ address, storageKeys }) => [address, [...storageKeys]]) }),
      ...(type === 4 && { authorizationList: (authorizationList ?? []).map(authorizationBytes) }),
    } as unknown as TypedTxData;
  }

  #accountOf(address: Uint8Array): DevAccount {
    const account = this.#find(address);
    if (account !== undefined) return account;
    throw new EthError(
      `unknown account ${data(address)}: eth_accounts lists those with keys. anvil_impersonateAccount allows ` +
        "eth_sendTransaction from any other; eth_sendRawTransaction takes signed transactions",
    );
  }

  #find(address: Uint8Array): DevAccount | undefined {
    return devAccountKeys().find((known) => Buffer.compare(known.address, address) === 0);
  }
}

function typeOf({ gasPrice, accessList, authorizationList }: TransactionRequest): number {
  if (authorizationList !== undefined) return 4;
  if (gasPrice === undefined) return 2;
  return accessList === undefined ? 0 : 1;
}

function authorizationBytes({ chainId, address, nonce, yParity, r, s }: Authorization): Uint8Array[] {
  return [numberToBytes(chainId), address, ...[nonce, yParity, r, s].map(numberToBytes)];
}

const smaller = (value: bigint, limit: bigint | undefined): bigint =>
  limit !== undefined && limit < value ? limit : value;
