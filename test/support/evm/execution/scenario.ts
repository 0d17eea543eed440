import { createHash } from "node:crypto";
import { Address, eoaCode7702SignAuthorization } from "@ethereumjs/util";
import { EXECUTION_FORKS, type ExecutionFork } from "../../../../src/evm/execution/forks.ts";
import {
  CONSOLIDATION_REQUESTS_ADDRESS,
  WITHDRAWAL_REQUESTS_ADDRESS,
} from "../../../../src/evm/execution/system-contracts.ts";
import type { Transaction } from "../../../../src/evm/execution/transaction.ts";
import { DEFAULT_CHAIN_ID, type GenesisAccount } from "../../../../src/evm/genesis.ts";
import { BUILDER_DEPOSITS, BUILDER_EXITS } from "../../../../src/evm/system-addresses.ts";
import { addressOf, bytesOf, DEPOSIT_CONTRACT, GWEI, type TestChain } from "../evm.ts";

const RECORDER = addressOf(0xaaaa);
const CANCUN_RECORDER = addressOf(0xbbbb);
/** Stores BLOCKHASH(number - 2) at number and PREVRANDAO at the time, and logs the number with BASEFEE as topic. */
const RECORDER_CODE = "60024303404355444255436000524860206000a100";
/** Stores BLOBBASEFEE at 7, BLOBHASH(0) at 8, and the sum of TLOAD(1) and 5, written to TSTORE(1), at 9. */
const CANCUN_RECORDER_CODE = "4a600755600049600855600560015c01600181905d60015c60095500";

export const SCENARIO_ACCOUNTS: readonly GenesisAccount[] = [
  { address: RECORDER, code: bytesOf(RECORDER_CODE), nonce: 1n },
  { address: CANCUN_RECORDER, code: bytesOf(CANCUN_RECORDER_CODE), nonce: 1n },
];

const to = (bytes: Uint8Array) => new Address(bytes);

/** Transactions that touch every part of block execution that the fork has. */
export function scenarioTransactions(chain: TestChain, fork: ExecutionFork, round: number): Transaction[] {
  const since = (name: ExecutionFork) => EXECUTION_FORKS.indexOf(fork) >= EXECUTION_FORKS.indexOf(name);
  /** Gas for a new account or contract (EIP-8037). */
  const stateGas = since("amsterdam") ? 1_000_000n : 0n;
  const transactions = [
    chain.sign(0, { to: to(addressOf(round)), value: 1n + BigInt(round), gasLimit: 21_000n + stateGas }),
    chain.sign(1, { type: 0, to: to(addressOf(1)), value: 5n, data: new Uint8Array(40).fill(1) }),
    // Writes a slot and deploys four bytes.
    chain.sign(2, { type: 1, data: bytesOf("60016007556004600060003960046000f3") }),
    // Writes a slot and destroys itself while it is created.
    chain.sign(2, { value: 5n, data: bytesOf("600160075533ff") }),
    // Reverts.
    chain.sign(3, { data: bytesOf("60006000fd") }),
    // Runs out of gas.
    chain.sign(3, { data: bytesOf("5b600056"), gasLimit: 60_000n }),
    chain.sign(4, {
      to: to(RECORDER),
      type: 1,
      accessList: [[RECORDER, [new Uint8Array(32)]]],
    }),
    chain.sign(5, {
      to: to(DEPOSIT_CONTRACT),
      data: depositCall(round),
      value: 32n * 10n ** 18n,
      gasLimit: 500_000n + stateGas,
    }),
    // SHA-256, identity and RIPEMD-160 precompiles.
    ...[2, 3, 4].map((index) =>
      chain.sign(6, { to: to(bytesOf(index.toString(16).padStart(40, "0"))), data: new Uint8Array(100).fill(7) }),
    ),
  ];
  if (since("cancun")) {
    const blobVersionedHashes = [`0x01${"ab".repeat(31)}`, `0x01${"cd".repeat(31)}`] as `0x${string}`[];
    transactions.push(chain.sign(7, { type: 3, to: to(CANCUN_RECORDER), blobVersionedHashes, maxFeePerBlobGas: GWEI }));
  }
  if (since("prague")) {
    transactions.push(
      chain.sign(8, { to: WITHDRAWAL_REQUESTS_ADDRESS, value: 1n, data: new Uint8Array(56).fill(0xab) }),
      chain.sign(8, { to: CONSOLIDATION_REQUESTS_ADDRESS, value: 1n, data: new Uint8Array(96).fill(0xcd) }),
      delegation(chain, round),
    );
  }
  if (since("amsterdam")) {
    transactions.push(
      chain.sign(8, { to: to(BUILDER_DEPOSITS), value: 2n * 10n ** 18n + 1n, data: builderDeposit(round) }),
      chain.sign(8, { to: to(BUILDER_EXITS), value: 1n, data: new Uint8Array(48).fill(round) }),
      // Returns the slot number, and is deployed with it.
      chain.sign(2, { data: bytesOf("4b60005260206000f3") }),
    );
  }
  return transactions;
}

/** Calldata of the deposit of a builder with 2 ETH (EIP-8282). */
function builderDeposit(seed: number): Uint8Array {
  const data = new Uint8Array(184).fill(seed);
  new DataView(data.buffer).setBigUint64(80, 2n * GWEI);
  return data;
}

/** Delegates a new account to the recorder and calls it (EIP-7702). */
function delegation(chain: TestChain, round: number): Transaction {
  const authority = new Uint8Array(32).fill(round + 1);
  const authorization = eoaCode7702SignAuthorization(
    [numberBytes(DEFAULT_CHAIN_ID), RECORDER, new Uint8Array(0)],
    authority,
  );
  return chain.sign(9, { type: 4, to: to(RECORDER), authorizationList: [authorization] });
}

const numberBytes = (value: number) =>
  bytesOf(value.toString(16).padStart(2 * Math.ceil(value.toString(16).length / 2), "0"));

/** Calldata of a deposit of 32 ETH with the right data root. The signature is not checked by the contract. */
export function depositCall(seed: number): Uint8Array {
  const pubkey = new Uint8Array(48).fill(seed);
  const credentials = new Uint8Array(32).fill(1);
  const signature = new Uint8Array(96).fill(seed + 1);
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(32n * GWEI);
  const root = depositDataRoot(pubkey, credentials, signature, amount);
  const word = (value: number) => bytesOf(value.toString(16).padStart(64, "0"));
  const padded = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
  const body = [pubkey, credentials, signature].map((bytes) => Buffer.concat([word(bytes.length), padded(bytes)]));
  const offsets = body.map((_, index) => 128 + body.slice(0, index).reduce((sum, part) => sum + part.length, 0));
  return new Uint8Array(Buffer.concat([bytesOf("22895118"), ...offsets.map(word), root, ...body]));
}

function depositDataRoot(...parts: readonly Uint8Array[]): Uint8Array {
  const [pubkey, credentials, signature, amount] = parts as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const zeros = (size: number) => new Uint8Array(size);
  const pubkeyRoot = sha256(pubkey, zeros(16));
  const signatureRoot = sha256(sha256(signature.subarray(0, 64)), sha256(signature.subarray(64), zeros(32)));
  return sha256(sha256(pubkeyRoot, credentials), sha256(amount, zeros(24), signatureRoot));
}

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}
