import { createTx, type TypedTxData } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";
import { type DevAccount, devAccountKeys } from "../../accounts.ts";
import { nextBaseFee } from "../../execution/fees.ts";
import { numberToBytes } from "../../rlp.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data } from "../json/hex.ts";
import type { Authorization, TransactionRequest } from "../transaction-request.ts";

const INVALID_PARAMS = -32602;
/** EIP-7825. */
const MAX_TRANSACTION_GAS = 2n ** 24n;
const DEFAULT_TIP = 10n ** 9n;

/** Signs with the funded accounts. */
export class AccountSigner {
  readonly #chain: EthChain;

  constructor(chain: EthChain) {
    this.#chain = chain;
  }

  get addresses(): string[] {
    return devAccountKeys().map(({ address }) => data(address));
  }

  /** Signs a hash. Returns r, s and v (27 or 28). */
  sign(address: Uint8Array, hash: Uint8Array): Uint8Array {
    return this.#chain.engine.rules.crypto.sign(hash, this.#accountOf(address).privateKey);
  }

  /** Fills in a transaction and signs it, as it is sent. */
  signTransaction(request: TransactionRequest): Uint8Array {
    const { from } = request;
    if (from === undefined) throw new EthError('missing "from": name the account that signs', INVALID_PARAMS);
    const { privateKey } = this.#accountOf(from);
    const { engine } = this.#chain;
    const next = engine.rules.at(this.#chain.latest.header.timestamp + BigInt(engine.secondsPerSlot));
    if (request.chainId !== undefined && request.chainId !== next.chainId) {
      const message = `chainId does not match node's (have=${request.chainId}, want=${next.chainId})`;
      throw new EthError(message, INVALID_PARAMS);
    }
    const completed = this.#complete(request, from, next.chainId);
    try {
      return createTx(completed, { common: next.common }).sign(privateKey).serialize();
    } catch (error) {
      throw new EthError(error instanceof Error ? error.message : String(error));
    }
  }

  #complete(request: TransactionRequest, from: Uint8Array, chainId: bigint): TypedTxData {
    const { header } = this.#chain.latest;
    const { to, gas, value = 0n, data: input = new Uint8Array(0), nonce, accessList = [] } = request;
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, authorizationList } = request;
    if (gasPrice !== undefined && (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined)) {
      throw new EthError("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified", INVALID_PARAMS);
    }
    if (request.blobVersionedHashes !== undefined || request.type === 3) {
      const message = "blob transactions have to be signed by the client and sent with their sidecar";
      throw new EthError(message, INVALID_PARAMS);
    }
    const type = request.type ?? typeOf(request);
    const tip = maxPriorityFeePerGas ?? smaller(DEFAULT_TIP, maxFeePerGas);
    const feeCap = maxFeePerGas ?? 2n * nextBaseFee(header) + tip;
    return {
      type,
      chainId,
      nonce: nonce ?? this.#chain.engine.pool.nextNonce(from),
      gasLimit: gas ?? smaller(MAX_TRANSACTION_GAS, header.gasLimit),
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
    const account = devAccountKeys().find((known) => Buffer.compare(known.address, address) === 0);
    if (account === undefined) throw new EthError(`unknown account ${data(address)}`);
    return account;
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
