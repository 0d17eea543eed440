import { MerkleStateManager } from "@ethereumjs/statemanager";
import { Account, createAddressFromString } from "@ethereumjs/util";
import { beforeEach, describe, expect, it } from "vitest";
import { createEvmCrypto, type EvmCrypto } from "../crypto.ts";
import { decodeWorld, encodeWorld } from "./world-codec.ts";
import { WorldState } from "./world-state.ts";

const address = (index: number) => createAddressFromString(`0x${(index + 1).toString(16).padStart(40, "0")}`);
const slot = (index: number) => new Uint8Array(32).fill(index);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("world state", () => {
  let crypto: EvmCrypto;
  let state: WorldState;

  beforeEach(async () => {
    crypto ??= await createEvmCrypto();
    state = new WorldState(crypto.keccak);
  });

  /** Applies the same changes to either state manager. */
  async function applyScenario(manager: WorldState | MerkleStateManager): Promise<void> {
    for (let index = 0; index < 20; index++) {
      await manager.putAccount(address(index), new Account(BigInt(index), 10n ** 18n * BigInt(index)));
    }
    for (let index = 0; index < 10; index++) {
      await manager.putCode(address(index), new Uint8Array(20 + index).fill(index + 1));
      for (let key = 0; key < 8; key++) await manager.putStorage(address(index), slot(key), Uint8Array.of(key + 1, 7));
    }
    await manager.checkpoint();
    await manager.deleteAccount(address(3));
    await manager.putStorage(address(4), slot(0), new Uint8Array(0));
    await manager.commit();
    await manager.checkpoint();
    await manager.putStorage(address(5), slot(1), Uint8Array.of(9));
    await manager.deleteAccount(address(6));
    await manager.clearStorage(address(7));
    await manager.revert();
    await manager.clearStorage(address(8));
    await manager.modifyAccountFields(address(9), { nonce: 77n });
  }

  it("has the state root of MerkleStateManager", async () => {
    const reference = new MerkleStateManager();
    await applyScenario(reference);
    await applyScenario(state);
    expect(hex(await state.getStateRoot())).toBe(hex(await reference.getStateRoot()));
  });

  it("reads the contents of a world, also after later changes", async () => {
    await applyScenario(state);
    const world = state.seal();
    const root = state.reader.stateRoot(world);
    await state.putStorage(address(1), slot(0), Uint8Array.of(99));
    await state.deleteAccount(address(2));
    const later = state.seal();
    expect(state.reader.stateRoot(later)).not.toEqual(root);
    state.open(world);
    expect(await state.getStorage(address(1), slot(0))).toEqual(Uint8Array.of(1, 7));
    expect((await state.getAccount(address(2)))?.nonce).toBe(2n);
    expect(await state.getCode(address(2))).toEqual(new Uint8Array(22).fill(3));
    expect(await state.getCodeSize(address(19))).toBe(0);
    expect(await state.getAccount(address(99))).toBeUndefined();
    expect(state.reader.stateRoot(world)).toEqual(root);
  });

  it("clears the storage of a sealed world, and restores it when that is reverted", async () => {
    await applyScenario(state);
    const world = state.seal();
    const before = state.account(address(0).bytes)!;
    await state.checkpoint();
    await state.clearStorage(address(0));
    expect(state.storageAt(address(0), slot(1))).toHaveLength(0);
    await state.revert();
    expect(state.storageAt(address(0), slot(1))).toEqual(Uint8Array.of(2, 7));
    expect(state.seal()).toBe(world);
    await state.clearStorage(address(0));
    state.seal();
    expect(state.account(address(0).bytes)).toEqual({ ...before, storage: undefined });
  });

  it("drops unsealed changes when a world is opened", async () => {
    await state.putAccount(address(0), new Account(1n, 5n));
    const world = state.seal();
    await state.putAccount(address(0), new Account(2n, 6n));
    state.open(world);
    expect((await state.getAccount(address(0)))?.balance).toBe(5n);
  });

  it("strips leading zeros of values and deletes zero", async () => {
    await state.putAccount(address(0), new Account(1n));
    await state.putStorage(address(0), slot(1), new Uint8Array([0, 0, 5]));
    expect(await state.getStorage(address(0), slot(1))).toEqual(Uint8Array.of(5));
    const before = state.seal();
    await state.putStorage(address(0), slot(1), new Uint8Array(32));
    const world = state.seal();
    expect(state.reader.account(before, address(0).bytes)?.storage).toBeDefined();
    expect(state.reader.account(world, address(0).bytes)?.storage).toBeUndefined();
  });

  it("keeps the original value of a slot until it is cleared", async () => {
    await state.putAccount(address(0), new Account(1n));
    await state.putStorage(address(0), slot(1), Uint8Array.of(5));
    expect(await state.originalStorageCache.get(address(0), slot(1))).toEqual(Uint8Array.of(5));
    await state.putStorage(address(0), slot(1), Uint8Array.of(6));
    expect(await state.originalStorageCache.get(address(0), slot(1))).toEqual(Uint8Array.of(5));
    state.originalStorageCache.clear();
    expect(await state.originalStorageCache.get(address(0), slot(1))).toEqual(Uint8Array.of(6));
  });

  it("does not create an account for a withdrawal of nothing, and deletes an empty one (EIP-161)", () => {
    state.credit(address(0).bytes, 0n);
    expect(state.account(address(0).bytes)).toBeUndefined();
    state.credit(address(1).bytes, 3n);
    expect(state.account(address(1).bytes)?.balance).toBe(3n);
    state.setAccount(address(2).bytes, {});
    state.credit(address(2).bytes, 0n);
    expect(state.account(address(2).bytes)).toBeUndefined();
  });

  it("proves accounts and slots as MerkleStateManager does", async () => {
    const { getMerkleStateProof } = await import("@ethereumjs/statemanager");
    const reference = new MerkleStateManager();
    await applyScenario(reference);
    await reference.getStateRoot();
    await applyScenario(state);
    const world = state.seal();
    for (const index of [0, 5, 15, 50]) {
      const expected = await getMerkleStateProof(reference, address(index), [slot(2), slot(200)]);
      const proof = state.reader.proof(world, address(index).bytes, [slot(2), slot(200)]);
      expect(proof.accountProof.map((node) => `0x${hex(node)}`)).toEqual(expected.accountProof);
      if (index === 50) continue;
      expect(`0x${hex(proof.storageRoot)}`).toBe(expected.storageHash);
      const nodes = proof.storageProof.map((entry) => entry.proof.map((node) => `0x${hex(node)}`));
      expect(nodes).toEqual(expected.storageProof.map((entry) => entry.proof));
    }
  });

  it("encodes and decodes a world", async () => {
    await applyScenario(state);
    const world = state.seal();
    const bytes = encodeWorld(world);
    const decoded = decodeWorld(bytes, crypto.keccak);
    expect(state.reader.stateRoot(decoded)).toEqual(state.reader.stateRoot(world));
    expect(state.reader.account(decoded, address(1).bytes)?.code).toEqual(new Uint8Array(21).fill(2));
    expect(decodeWorld(encodeWorld(undefined), crypto.keccak)).toBeUndefined();
    expect(() => decodeWorld(bytes.subarray(0, -1), crypto.keccak)).toThrow("Stored state ends too early.");
    expect(() => decodeWorld(Uint8Array.of(9), crypto.keccak)).toThrow("Stored state has version 9, expected 1.");
  });
});
