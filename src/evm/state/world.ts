import { encodeBytes, encodeList, encodeNumber } from "../rlp.ts";
import { getValue, type Keccak, proofOf, rootHash, type TrieCodec, type TrieNode } from "./trie.ts";

/** Immutable state of an account. */
export interface AccountRecord {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Uint8Array;
  readonly code: Uint8Array;
  readonly storage: Storage;
}

/** Values without leading zeros, by slot hash. Zero slots are absent. */
export type Storage = TrieNode<Uint8Array> | undefined;

/** State of all accounts after a block, by address hash. Kept in memory as long as it is referenced. */
export type World = TrieNode<AccountRecord> | undefined;

export const MAX_BALANCE: bigint = 2n ** 256n - 1n;
export const NO_CODE: Uint8Array = new Uint8Array(0);
/** Keccak-256 of empty input. */
export const NO_CODE_HASH: Uint8Array = new Uint8Array(
  Buffer.from("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470", "hex"),
);
export const NO_ACCOUNT: AccountRecord = {
  nonce: 0n,
  balance: 0n,
  codeHash: NO_CODE_HASH,
  code: NO_CODE,
  storage: undefined,
};

/** Merkle proof of an account and some of its slots (EIP-1186). */
export interface AccountProof {
  account: AccountRecord | undefined;
  storageRoot: Uint8Array;
  accountProof: Uint8Array[];
  storageProof: { slot: Uint8Array; value: Uint8Array; proof: Uint8Array[] }[];
}

/** Reads and hashes worlds. */
export class WorldReader {
  readonly #keccak: Keccak;
  readonly #storageCodec: TrieCodec<Uint8Array>;
  readonly #accountCodec: TrieCodec<AccountRecord>;

  constructor(keccak: Keccak) {
    this.#keccak = keccak;
    this.#storageCodec = { encode: encodeBytes, keccak };
    this.#accountCodec = {
      encode: ({ nonce, balance, storage, codeHash }) =>
        encodeList([
          encodeNumber(nonce),
          encodeNumber(balance),
          encodeBytes(this.storageRoot(storage)),
          encodeBytes(codeHash),
        ]),
      keccak,
    };
  }

  stateRoot(world: World): Uint8Array {
    return rootHash(world, this.#accountCodec);
  }

  storageRoot(storage: Storage): Uint8Array {
    return rootHash(storage, this.#storageCodec);
  }

  account(world: World, address: Uint8Array): AccountRecord | undefined {
    return getValue(world, this.#keccak(address));
  }

  /** Returns a slot's value without leading zeros. */
  slot(storage: Storage, slot: Uint8Array): Uint8Array {
    return getValue(storage, this.#keccak(slot)) ?? NO_CODE;
  }

  proof(world: World, address: Uint8Array, slots: readonly Uint8Array[]): AccountProof {
    const key = this.#keccak(address);
    const account = getValue(world, key);
    return {
      account,
      storageRoot: this.storageRoot(account?.storage),
      accountProof: proofOf(world, key, this.#accountCodec),
      storageProof: slots.map((slot) => ({
        slot,
        value: this.slot(account?.storage, slot),
        proof: proofOf(account?.storage, this.#keccak(slot), this.#storageCodec),
      })),
    };
  }
}
