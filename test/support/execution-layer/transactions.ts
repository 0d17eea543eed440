import { type BlobsBundle, type phase0, ssz } from "@lodestar/types";
import { concat, Interface, id, Transaction, toBeHex, Wallet } from "ethers";
import { CONSOLIDATION_REQUESTS, DEPOSIT_CONTRACT, WITHDRAWAL_REQUESTS } from "./contracts.ts";
import type { Hex } from "./wire.ts";

const GWEI = 10n ** 9n;
const DEPOSIT = new Interface([
  "function deposit(bytes pubkey, bytes credentials, bytes signature, bytes32 root) payable",
]);
/** Sufficient for all contracts. */
const CONTRACT_GAS = 300_000n;

/** Accounts funded at genesis. */
const WALLETS = [0, 1, 2].map((number) => new Wallet(id(`execution layer account ${number}`)));
export const FUNDED_ADDRESSES = WALLETS.map((wallet) => wallet.address.toLowerCase() as Hex);

export interface SignedTransaction {
  /** Parameter of eth_sendRawTransaction. */
  raw: Hex;
  hash: Hex;
}

interface Call {
  to: string;
  value: bigint;
  data?: string;
  gasLimit?: bigint;
  bundle?: BlobsBundle;
}

/** Blob fields of a transaction: EIP-4844, or EIP-7594 with cell proofs. */
function blobFields({ blobs, commitments, proofs }: BlobsBundle) {
  const proofsOfBlob = proofs.length / blobs.length;
  return {
    maxFeePerBlobGas: GWEI,
    blobs: blobs.map((blob, index) => ({
      data: blob,
      commitment: commitments[index]!,
      proof: concat(proofs.slice(index * proofsOfBlob, (index + 1) * proofsOfBlob)),
    })),
    ...(proofsOfBlob > 1 && { blobWrapperVersion: 1 }),
  };
}

/** Signs transactions of a funded account with consecutive nonces. */
export class Sender {
  readonly address: Hex;
  readonly #wallet: Wallet;
  readonly #chainId: number;
  #nonce = 0;

  constructor(chainId: number, account: 0 | 1 | 2 = 0) {
    this.#chainId = chainId;
    this.#wallet = WALLETS[account]!;
    this.address = FUNDED_ADDRESSES[account]!;
  }

  transfer(to: string, wei: bigint): SignedTransaction {
    return this.#sign({ to, value: wei, gasLimit: 21_000n });
  }

  /** Blob transaction with one to six blobs. */
  blobs(bundle: BlobsBundle): SignedTransaction {
    return this.#sign({ to: this.address, value: 0n, gasLimit: 21_000n, bundle });
  }

  deposit(data: phase0.DepositData): SignedTransaction {
    const root = ssz.phase0.DepositData.hashTreeRoot(data);
    const call = DEPOSIT.encodeFunctionData("deposit", [data.pubkey, data.withdrawalCredentials, data.signature, root]);
    return this.#sign({ to: DEPOSIT_CONTRACT, value: BigInt(data.amount) * GWEI, data: call });
  }

  /** Withdrawal request (EIP-7002). An amount of zero requests a full exit. */
  requestWithdrawal(pubkey: Uint8Array, gwei: bigint): SignedTransaction {
    return this.#request(WITHDRAWAL_REQUESTS, concat([pubkey, toBeHex(gwei, 8)]));
  }

  /** Consolidation request (EIP-7251). */
  requestConsolidation(sourcePubkey: Uint8Array, targetPubkey: Uint8Array): SignedTransaction {
    return this.#request(CONSOLIDATION_REQUESTS, concat([sourcePubkey, targetPubkey]));
  }

  /** The request fee is 1 wei at low load. */
  #request(to: string, data: string): SignedTransaction {
    return this.#sign({ to, value: 1n, data });
  }

  #sign({ to, value, data = "0x", gasLimit = CONTRACT_GAS, bundle }: Call): SignedTransaction {
    const transaction = Transaction.from({
      type: bundle ? 3 : 2,
      chainId: this.#chainId,
      nonce: this.#nonce++,
      to,
      value,
      data,
      gasLimit,
      maxFeePerGas: 20n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
      ...(bundle && blobFields(bundle)),
    });
    transaction.signature = this.#wallet.signingKey.sign(transaction.unsignedHash);
    return { raw: transaction.serialized as Hex, hash: transaction.hash as Hex };
  }
}
