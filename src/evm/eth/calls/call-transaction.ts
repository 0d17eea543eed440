import { createTx, type TypedTransaction, type TypedTxData } from "@ethereumjs/tx";
import { Address, bigIntToHex, bytesToHex } from "@ethereumjs/util";
import type { ForkRules } from "../../execution/rules.ts";
import { EthError } from "../eth-error.ts";
import type { TransactionRequest } from "../transaction-request.ts";
import type { CallRequest } from "./call-request.ts";
import { refusalOf } from "./refusal.ts";

/** EIP-7825 limit. Does not apply to calls, which get their gas limit after the check. */
export const MAX_TRANSACTION_GAS: bigint = 2n ** 24n;

export const NO_ADDRESS: Uint8Array = new Uint8Array(20);

interface CallDefaults {
  gas: bigint;
  nonce: bigint;
}

/** Creates the unsigned transaction for a call. Throws an `EthError` if its fields are mutually exclusive. */
export function callTransaction(
  request: CallRequest,
  { gas, nonce }: CallDefaults,
  rules: ForkRules,
): TypedTransaction {
  const { from = NO_ADDRESS, to, value = 0n, data = new Uint8Array(0), accessList, gasPrice } = request;
  const { maxFeePerGas, maxPriorityFeePerGas = 0n, maxFeePerBlobGas = 0n } = request;
  const type = transactionType(request);
  checkFields(request, rules);
  const fees =
    type < 2
      ? { gasPrice: gasPrice ?? 0n }
      : { maxFeePerGas: maxFeePerGas ?? gasPrice ?? maxPriorityFeePerGas, maxPriorityFeePerGas };
  const fields = {
    type,
    nonce,
    value,
    data,
    gasLimit: lower(gas, MAX_TRANSACTION_GAS),
    ...(to && { to: new Address(to) }),
    ...(type > 0 && { chainId: rules.chainId }),
    ...fees,
    ...(accessList && { accessList: accessList.map(({ address, storageKeys }) => [address, storageKeys]) }),
    ...(type === 3 && { blobVersionedHashes: request.blobVersionedHashes!.map(bytesToHex), maxFeePerBlobGas }),
    ...(type === 4 && {
      authorizationList: request.authorizationList!.map(({ chainId, address, nonce: authNonce, yParity, r, s }) => ({
        chainId: bigIntToHex(chainId),
        address: bytesToHex(address),
        nonce: bigIntToHex(authNonce),
        yParity: bigIntToHex(yParity),
        r: bigIntToHex(r),
        s: bigIntToHex(s),
      })),
    }),
  };
  let tx: TypedTransaction;
  try {
    tx = createTx(fields as TypedTxData, { common: rules.common, freeze: false });
  } catch (error) {
    throw new EthError(refusalOf(error).message);
  }
  const sender = new Address(from);
  return Object.assign(tx, { gasLimit: gas, getSenderAddress: () => sender });
}

/** Throws an `EthError` if fields are mutually exclusive or the chain id is wrong. */
export function checkFields(request: TransactionRequest, { chainId: own }: ForkRules): void {
  const { chainId = own, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request;
  if (chainId !== own) throw new EthError(`chainId does not match node's (have=${chainId}, want=${own})`);
  if (gasPrice !== undefined && (maxFeePerGas ?? maxPriorityFeePerGas) !== undefined) {
    throw new EthError("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified");
  }
  if (maxFeePerGas !== undefined && (maxPriorityFeePerGas ?? 0n) > maxFeePerGas) {
    const details = `maxPriorityFeePerGas: ${maxPriorityFeePerGas}, maxFeePerGas: ${maxFeePerGas}`;
    throw new EthError(`max priority fee per gas higher than max fee per gas: ${details}`);
  }
}

export function lower(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}

export function higher(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

function transactionType(request: CallRequest): number {
  const { authorizationList, blobVersionedHashes, maxFeePerGas, maxPriorityFeePerGas, accessList } = request;
  if (authorizationList !== undefined) return 4;
  if (blobVersionedHashes !== undefined) return 3;
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return 2;
  return accessList === undefined ? 0 : 1;
}
