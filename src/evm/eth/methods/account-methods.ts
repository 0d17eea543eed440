import { Address } from "@ethereumjs/util";
import type { EvmEngine } from "../../engine/evm-engine.ts";
import { decodeTransaction } from "../../execution/transaction.ts";
import { AccountSigner, type GasEstimator } from "../accounts/signer.ts";
import { type TypedData, typedDataHash } from "../accounts/typed-data.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data } from "../json/hex.ts";
import { signedTransactionJson } from "../json/transaction-json.ts";
import type { TransactionRequest } from "../transaction-request.ts";

interface SignArgs {
  address: Uint8Array;
  message: Uint8Array;
}

interface TypedDataArgs {
  address: Uint8Array;
  typedData: TypedData;
}

interface TransactionArgs {
  transaction: TransactionRequest;
}

/** Methods that sign with the funded accounts. */
export function accountMethods(chain: EthChain<EvmEngine>, estimateGas: GasEstimator) {
  const { engine } = chain;
  const { keccak } = engine.rules.crypto;
  const signer = new AccountSigner(chain, estimateGas);
  return {
    accounts: async () => signer.addresses,
    coinbase: async () => data(chain.latest.header.feeRecipient),
    sha3: async ({ bytes }: { bytes: Uint8Array }) => data(keccak(bytes)),
    /** EIP-191: personal message. */
    sign: async ({ address, message }: SignArgs) => {
      const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${message.length}`);
      return data(signer.sign(address, keccak(Buffer.concat([prefix, message]))));
    },
    signTypedData: async ({ address, typedData }: TypedDataArgs) => {
      try {
        return data(signer.sign(address, typedDataHash(typedData, keccak)));
      } catch (error) {
        throw error instanceof TypeError ? new EthError(`invalid typed data: ${error.message}`, -32602) : error;
      }
    },
    signTransaction: async ({ transaction }: TransactionArgs) => {
      const raw = signer.signTransaction(await signer.withGas(transaction));
      const rules = engine.rules.at(chain.nextTimestamp);
      const signed = decodeTransaction(raw, rules);
      return { raw: data(raw), tx: { ...signedTransactionJson(signed), hash: data(signed.hash) } };
    },
    sendTransaction: async ({ transaction }: TransactionArgs) => {
      const filled = await signer.withGas(transaction);
      const pooled = signer.isImpersonated(filled)
        ? await engine.addTransaction(signer.impersonateTransaction(filled), { isTrusted: true })
        : await engine.addTransaction(signer.signTransaction(filled), { sender: new Address(filled.from!) });
      return data(pooled.transaction.hash);
    },
  };
}
