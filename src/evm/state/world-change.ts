import { deleteValue, differences, getValue, putValue } from "./trie.ts";
import { type AccountRecord, NO_ACCOUNT, type World } from "./world.ts";

/** A single change between two worlds. Slots belong to the preceding account. Keys are hashes. */
export type WorldChange =
  | readonly [kind: "account", key: Uint8Array, fields: ChangedAccount]
  | readonly [kind: "slot", key: Uint8Array, value: Uint8Array | undefined]
  | readonly [kind: "deleted", key: Uint8Array];

interface ChangedAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Absent if unchanged. */
  readonly code?: Pick<AccountRecord, "code" | "codeHash">;
}

/** Yields the changes that turn one world into another. The changes are structured-cloneable. */
export function* worldChanges(before: World, after: World): Generator<WorldChange> {
  for (const [key, old = NO_ACCOUNT, account] of differences(before, after)) {
    if (account === undefined) {
      yield ["deleted", key];
      continue;
    }
    const { nonce, balance, code, codeHash } = account;
    const isSameCode = Buffer.compare(codeHash, old.codeHash) === 0;
    yield ["account", key, { nonce, balance, ...(!isSameCode && { code: { code, codeHash } }) }];
    for (const [slot, , value] of differences(old.storage, account.storage)) yield ["slot", slot, value];
  }
}

/** A copy of another world, updated by applying the other world's changes. */
export class FollowingWorld {
  #world: World;
  /** The account whose slots are being changed. */
  #open: { key: Uint8Array; account: AccountRecord } | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  apply(change: WorldChange): void {
    if (change[0] === "slot") {
      const { account } = this.#open!;
      const [, slot, value] = change;
      const { storage } = account;
      const changed = value === undefined ? deleteValue(storage, slot) : putValue(storage, slot, value);
      this.#open!.account = { ...account, storage: changed };
      return;
    }
    this.#close();
    const [, key] = change;
    if (change[0] === "deleted") {
      this.#world = deleteValue(this.#world, key);
      return;
    }
    const { nonce, balance, code } = change[2];
    this.#open = { key, account: { ...(getValue(this.#world, key) ?? NO_ACCOUNT), nonce, balance, ...code } };
  }

  /** Returns the world with all changes applied so far. */
  seal(): World {
    this.#close();
    return this.#world;
  }

  #close(): void {
    if (this.#open) this.#world = putValue(this.#world, this.#open.key, this.#open.account);
    this.#open = undefined;
  }
}
