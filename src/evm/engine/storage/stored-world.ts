import { decodeBlock, type ExecutedBlock, encodeBlock } from "../../execution/block.ts";
import { BlockHashes } from "../../execution/block-hashes.ts";
import { toHex } from "../../execution/payload.ts";
import { decodeReceipts, encodeReceipts } from "../../execution/receipt.ts";
import type { ChainRules } from "../../execution/rules.ts";
import { asBytes, asList, decode, encodeBytes, encodeList } from "../../rlp.ts";
import { WorldReader } from "../../state/world.ts";
import { decodeWorld, encodeWorld } from "../../state/world-codec.ts";

/**
 * Encodes everything needed to execute later blocks: the block with its receipts, recent block hashes, and the whole
 * state.
 */
export function encodeBase(block: ExecutedBlock): Uint8Array {
  return encodeList([
    encodeBytes(block.hash),
    encodeBytes(encodeBlock(block)),
    encodeBytes(encodeReceipts(block.receipts)),
    encodeList(block.blockHashes.list().map(encodeBytes)),
    encodeBytes(encodeWorld(block.world)),
  ]);
}

/** Returns the block hash encoded in the output of `encodeBase`. */
export function hashOfBase(bytes: Uint8Array): string {
  return toHex(asBytes(asList(decode(bytes))[0]));
}

/** Inverse of `encodeBase`. Throws if the state does not match the header or was written by a different version. */
export function decodeBase(bytes: Uint8Array, rules: ChainRules): ExecutedBlock {
  const { keccak } = rules.crypto;
  const [, blockItem, receiptItems, hashItems, worldItem] = asList(decode(bytes));
  const block = decodeBlock(asBytes(blockItem), rules);
  const world = decodeWorld(asBytes(worldItem), keccak);
  const root = toHex(new WorldReader(keccak).stateRoot(world));
  const { stateRoot, number } = block.header;
  if (root !== toHex(stateRoot)) throw new Error(`Stored state has root ${root}, expected ${toHex(stateRoot)}.`);
  return {
    ...block,
    receipts: decodeReceipts(asBytes(receiptItems), keccak),
    world,
    blockHashes: BlockHashes.of(number, asList(hashItems).map(asBytes)),
    value: 0n,
  };
}
