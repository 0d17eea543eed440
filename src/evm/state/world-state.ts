import type { AccountFields, StateManagerInterface } from "@ethereumjs/common";
import { Account, type Address } from "@ethereumjs/util";
import { KeyHashes, keyOf } from "./key-hashes.ts";
import { deleteValue, getValue, type Keccak, putValue } from "./trie.ts";
import {
  type AccountRecord,
  MAX_BALANCE,
  NO_ACCOUNT,
  NO_CODE,
  NO_CODE_HASH,
  type World,
  WorldReader,
} from "./world.ts";

/**
 * State manager that runs an EVM on a world. Records all changes since the world was opened, with an undo log for
 * checkpoints. Slots are 32 bytes long; their values have no leading zeros.
 */
export class WorldState implements StateManagerInterface {
  readonly reader: WorldReader;
  readonly #keccak: Keccak;
  readonly #hashes: KeyHashes;
  #world: World = undefined;
  /** Changed accounts by address; null if deleted. */
  #accounts = new Map<string, AccountRecord | null>();
  /** Changed slots by address. */
  #slots = new Map<string, Map<string, Uint8Array>>();
  /** Code set since the world was opened, by hash. */
  #codes = new Map<string, Uint8Array>();
  #undo: (() => void)[] = [];
  #checkpoints: number[] = [];
  #changes = 0;
  #originals = new Map<string, Uint8Array>();
  /** Sender whose code is hidden from the next read of its account. */
  #senderWithCode: string | undefined;
  #hidesCode = false;

  constructor(keccak: Keccak, hashes: KeyHashes = new KeyHashes(keccak)) {
    this.reader = new WorldReader(keccak);
    this.#keccak = keccak;
    this.#hashes = hashes;
  }

  /**
   * Slot values at the start of a transaction. The EVM reads a slot before its first write. It clears this cache after
   * each transaction but not after system calls, so `open` and `clearOriginals` clear it as well.
   */
  readonly originalStorageCache = {
    get: async (address: Address, slot: Uint8Array): Promise<Uint8Array> => this.originalStorageAt(address, slot),
    clear: (): void => this.clearOriginals(),
  };

  /** Number of changes so far, including reverted ones. */
  get changes(): number {
    return this.#changes;
  }

  get openCheckpoints(): number {
    return this.#checkpoints.length;
  }

  /** Switches to another world, dropping all changes. */
  open(world: World): void {
    this.#world = world;
    if (this.#accounts.size > 0) this.#accounts = new Map();
    if (this.#slots.size > 0) this.#slots = new Map();
    if (this.#codes.size > 0) this.#codes = new Map();
    this.#undo = [];
    this.#checkpoints = [];
    this.#senderWithCode = undefined;
    this.clearOriginals();
  }

  /**
   * Allows the next transaction to come from an account with code, which EIP-3607 forbids. Hides the code from the
   * account's first read, which is the EVM's sender check.
   */
  allowSenderWithCode(address: Uint8Array): void {
    this.#senderWithCode = keyOf(address);
    this.#hidesCode = true;
  }

  /** Reverts `allowSenderWithCode`. */
  forbidSenderWithCode(): void {
    this.#senderWithCode = undefined;
    this.#hidesCode = false;
  }

  /** Returns the world with all changes applied, and continues from that world. */
  seal(): World {
    for (const [key, slots] of this.#slots) {
      const account = this.accountOf(key);
      if (account === undefined) continue;
      let { storage } = account;
      for (const [slot, value] of slots) {
        const hash = this.#hashes.of(slot);
        storage = value.length > 0 ? putValue(storage, hash, value) : deleteValue(storage, hash);
      }
      this.#accounts.set(key, { ...account, storage });
    }
    let world = this.#world;
    for (const [key, account] of this.#accounts) {
      const hash = this.#hashes.of(key);
      world = account === null ? deleteValue(world, hash) : putValue(world, hash, account);
    }
    this.open(world);
    return world;
  }

  clearOriginals(): void {
    if (this.#originals.size > 0) this.#originals = new Map();
  }

  account(address: Uint8Array): AccountRecord | undefined {
    return this.accountOf(keyOf(address));
  }

  /** Returns the account with the given map key. */
  accountOf(key: string): AccountRecord | undefined {
    const changed = this.#accounts.get(key);
    if (changed !== undefined) return changed ?? undefined;
    return getValue(this.#world, this.#hashes.of(key));
  }

  storageAt(address: Address, slot: Uint8Array): Uint8Array {
    return this.slotOf(keyOf(address.bytes), keyOf(slot));
  }

  /** Returns the slot with the given map keys, without leading zeros. */
  slotOf(key: string, slot: string): Uint8Array {
    const changed = this.#slots.get(key)?.get(slot);
    if (changed !== undefined) return changed;
    const storage = this.accountOf(key)?.storage;
    return storage === undefined ? NO_CODE : (getValue(storage, this.#hashes.of(slot)) ?? NO_CODE);
  }

  /** Returns a view of another world, which this state's changes do not affect. */
  viewOf(world: World): Pick<WorldState, "accountOf" | "slotOf"> {
    const view = this.shallowCopy();
    view.open(world);
    return view;
  }

  /** Returns the value at the start of the transaction. */
  originalStorageAt(address: Address, slot: Uint8Array): Uint8Array {
    const key = keyOf(address.bytes) + keyOf(slot);
    let value = this.#originals.get(key);
    if (value === undefined) {
      value = this.storageAt(address, slot);
      this.#originals.set(key, value);
    }
    return value;
  }

  setStorage(address: Address, slot: Uint8Array, value: Uint8Array): void {
    const key = keyOf(address.bytes);
    let slots = this.#slots.get(key);
    if (slots === undefined) {
      slots = new Map();
      this.#slots.set(key, slots);
    }
    const slotKey = keyOf(slot);
    const previous = slots.get(slotKey);
    slots.set(slotKey, withoutLeadingZeros(value));
    this.#changes++;
    if (this.#checkpoints.length === 0) return;
    const changed = slots;
    this.#undo.push(() => (previous === undefined ? changed.delete(slotKey) : changed.set(slotKey, previous)));
  }

  /** Adds to an account's balance. Deletes the account if it is still empty (EIP-161). */
  credit(address: Uint8Array, wei: bigint): void {
    const key = keyOf(address);
    const account = this.accountOf(key);
    if (account === undefined && wei === 0n) return;
    const credited = { ...(account ?? NO_ACCOUNT), balance: (account?.balance ?? 0n) + wei };
    const isEmpty = credited.balance === 0n && credited.nonce === 0n && credited.code.length === 0;
    this.#set(key, isEmpty ? null : credited);
  }

  /** Increments an account's nonce. Creates the account if there is none. */
  incrementNonce(address: Uint8Array): void {
    const key = keyOf(address);
    const account = this.accountOf(key) ?? NO_ACCOUNT;
    this.#set(key, { ...account, nonce: account.nonce + 1n });
  }

  /** Creates or replaces an account. */
  setAccount(address: Uint8Array, fields: Partial<Omit<AccountRecord, "storage" | "codeHash">>): void {
    const { code = NO_CODE } = fields;
    const codeHash = code.length === 0 ? NO_CODE_HASH : this.#keccak(code);
    this.#set(keyOf(address), { ...NO_ACCOUNT, ...fields, code, codeHash });
  }

  /** Replaces parts of an account while keeping its storage. Deletes the account if it becomes empty. */
  updateAccount(address: Uint8Array, fields: Partial<Omit<AccountRecord, "storage" | "codeHash">>): void {
    const key = keyOf(address);
    const updated = { ...(this.accountOf(key) ?? NO_ACCOUNT), ...fields };
    const { balance, nonce, code, storage } = updated;
    const isEmpty = balance === 0n && nonce === 0n && code.length === 0 && storage === undefined;
    const codeHash = code.length === 0 ? NO_CODE_HASH : this.#keccak(code);
    this.#set(key, isEmpty && !this.#slots.has(key) ? null : { ...updated, codeHash });
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const key = keyOf(address.bytes);
    const found = this.accountOf(key);
    if (this.#hidesCode && key === this.#senderWithCode && found !== undefined) {
      this.#hidesCode = false;
      return new Account(found.nonce, found.balance, this.reader.storageRoot(found.storage), NO_CODE_HASH);
    }
    return found && new Account(found.nonce, found.balance, this.reader.storageRoot(found.storage), found.codeHash);
  }

  async putAccount(address: Address, account?: Account): Promise<void> {
    const key = keyOf(address.bytes);
    if (account === undefined) return this.deleteAccount(address);
    const { nonce, balance, codeHash } = account;
    const current = this.accountOf(key) ?? NO_ACCOUNT;
    const isHidden = key === this.#senderWithCode && Buffer.compare(codeHash, NO_CODE_HASH) === 0;
    const isSameCode = isHidden || codeHash === current.codeHash || Buffer.compare(codeHash, current.codeHash) === 0;
    const code = isSameCode ? current.code : this.#codeOf(codeHash);
    this.#set(key, {
      nonce,
      balance,
      codeHash: isSameCode ? current.codeHash : codeHash,
      code,
      storage: current.storage,
    });
  }

  async deleteAccount(address: Address): Promise<void> {
    const key = keyOf(address.bytes);
    this.#set(key, null);
    this.#dropSlots(key);
  }

  async modifyAccountFields(address: Address, { nonce, balance, codeHash }: AccountFields): Promise<void> {
    const key = keyOf(address.bytes);
    const current = this.accountOf(key) ?? NO_ACCOUNT;
    this.#set(key, {
      nonce: nonce ?? current.nonce,
      balance: balance ?? current.balance,
      codeHash: codeHash ?? current.codeHash,
      code: codeHash === undefined ? current.code : this.#codeOf(codeHash),
      storage: current.storage,
    });
  }

  async putCode(address: Address, code: Uint8Array): Promise<void> {
    const key = keyOf(address.bytes);
    const current = this.accountOf(key) ?? NO_ACCOUNT;
    const codeHash = code.length === 0 ? NO_CODE_HASH : this.#keccak(code);
    this.#codes.set(keyOf(codeHash), code);
    this.#set(key, { ...current, code, codeHash });
  }

  async getCode(address: Address): Promise<Uint8Array> {
    return this.accountOf(keyOf(address.bytes))?.code ?? NO_CODE;
  }

  async getCodeSize(address: Address): Promise<number> {
    return this.accountOf(keyOf(address.bytes))?.code.length ?? 0;
  }

  async getStorage(address: Address, slot: Uint8Array): Promise<Uint8Array> {
    return this.storageAt(address, slot);
  }

  async putStorage(address: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    this.setStorage(address, slot, value);
  }

  async clearStorage(address: Address): Promise<void> {
    const key = keyOf(address.bytes);
    const account = this.accountOf(key);
    if (account?.storage !== undefined) this.#set(key, { ...account, storage: undefined });
    this.#dropSlots(key);
  }

  async checkpoint(): Promise<void> {
    this.#checkpoints.push(this.#undo.length);
  }

  async commit(): Promise<void> {
    this.#checkpoints.pop();
    if (this.#checkpoints.length === 0) this.#undo = [];
  }

  async revert(): Promise<void> {
    this.revertTo(this.#checkpoints.length - 1);
  }

  /** Reverts the newest checkpoints until only the given number are open. */
  revertTo(openCheckpoints: number): void {
    const [length = this.#undo.length] = this.#checkpoints.splice(Math.max(openCheckpoints, 0));
    while (this.#undo.length > length) this.#undo.pop()!();
  }

  async getStateRoot(): Promise<Uint8Array> {
    return this.reader.stateRoot(this.seal());
  }

  async setStateRoot(): Promise<void> {
    throw new Error("A world is opened by reference, not by its root.");
  }

  async hasStateRoot(): Promise<boolean> {
    return false;
  }

  clearCaches(): void {}

  shallowCopy(): WorldState {
    const copy = new WorldState(this.#keccak, this.#hashes);
    copy.open(this.#world);
    return copy;
  }

  #codeOf(codeHash: Uint8Array): Uint8Array {
    const code = Buffer.compare(codeHash, NO_CODE_HASH) === 0 ? NO_CODE : this.#codes.get(keyOf(codeHash));
    if (code === undefined) throw new Error(`Unknown code hash 0x${Buffer.from(codeHash).toString("hex")}.`);
    return code;
  }

  /** Sets an account. Caps the balance at 2^256 - 1, which can only be exceeded if a balance was overridden. */
  #set(key: string, changed: AccountRecord | null): void {
    const account = changed && changed.balance > MAX_BALANCE ? { ...changed, balance: MAX_BALANCE } : changed;
    if (this.#checkpoints.length > 0) {
      const previous = this.#accounts.get(key);
      this.#undo.push(() => {
        if (previous === undefined) this.#accounts.delete(key);
        else this.#accounts.set(key, previous);
      });
    }
    this.#accounts.set(key, account);
    this.#changes++;
  }

  #dropSlots(key: string): void {
    const slots = this.#slots.get(key);
    if (slots === undefined) return;
    this.#slots.delete(key);
    this.#changes++;
    if (this.#checkpoints.length > 0) this.#undo.push(() => this.#slots.set(key, slots));
  }
}

function withoutLeadingZeros(value: Uint8Array): Uint8Array {
  let start = 0;
  while (start < value.length && value[start] === 0) start++;
  return start === 0 ? value : value.slice(start);
}
