import type { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect } from "vitest";
import { expectDepositsRequested, expectLayersAgree, expectReceiptsMatch, type ReadBlock } from "./block-checks.ts";
import type { BlockJson, ChainHeadJson, Hex } from "./json.ts";
import type { Override, StateOverrides } from "./state-overrides.ts";
import type { TestedChain } from "./tested-chain.ts";

/** A canonical block after which the expectations are known. */
export interface CheckedBlock extends ReadBlock {
  root: Hex;
  slot: number;
  fork: ForkName;
  /** Overrides that it applies before its transactions. */
  overrides: readonly Override[];
  /** Ids of these and of those that its ancestors apply. */
  recorded: ReadonlySet<number>;
  /** Next nonces of the accounts that have sent transactions. */
  nonces: ReadonlyMap<Hex, bigint>;
}

/** What the chain had in a moment. */
export interface ChainPosition {
  blocks: CheckedBlock[];
  head: ChainHeadJson;
}

interface CanonicalChainParts {
  chain: TestedChain;
  genesisTime: number;
  slotSeconds: number;
  forkAt(slot: number): ForkName;
}

/** Follows the head of a chain, and checks each new block by itself and against its parent. */
export class CanonicalChain {
  readonly #parts: CanonicalChainParts;
  /** From the first block after genesis to the head. */
  blocks: CheckedBlock[] = [];
  #head: ChainHeadJson | undefined;
  #genesisHash: Hex | undefined;

  constructor(parts: CanonicalChainParts) {
    this.#parts = parts;
  }

  get head(): CheckedBlock | undefined {
    return this.blocks.at(-1);
  }

  get finalizedSlot(): number {
    return Number(this.#head?.finalized_slot ?? 0);
  }

  get position(): ChainPosition {
    return { blocks: [...this.blocks], head: this.#head! };
  }

  /** Returns to an earlier position, for a chain that was reverted to a snapshot. */
  return({ blocks, head }: ChainPosition): void {
    this.blocks = [...blocks];
    this.#head = head;
  }

  /** Reads the blocks of a new head. Returns them with the number of blocks that were replaced. */
  async follow(overrides: StateOverrides): Promise<{ gained: CheckedBlock[]; lost: number }> {
    const { chain } = this.#parts;
    const head = await chain.call<ChainHeadJson>("getChainHead");
    const positions = new Map(this.blocks.map(({ root }, position) => [root, position]));
    const read: [Hex, BlockJson["message"]][] = [];
    let root = head.head_block_root;
    while (!positions.has(root)) {
      const { message } = await chain.call<BlockJson>("get_v2_beacon_blocks_blockId", [root]);
      if (message.slot === "0") break;
      read.unshift([root, message]);
      root = message.parent_root;
    }
    const lost = this.blocks.splice((positions.get(root) ?? -1) + 1).length;
    const gained: CheckedBlock[] = [];
    for (const [blockRoot, beacon] of read) {
      const block = await this.#check(blockRoot, beacon, overrides);
      this.blocks.push(block);
      gained.push(block);
    }
    this.#expectFinality(head);
    this.#head = head;
    return { gained, lost };
  }

  async #check(root: Hex, beacon: BlockJson["message"], overrides: StateOverrides): Promise<CheckedBlock> {
    const { chain, forkAt, genesisTime, slotSeconds } = this.#parts;
    const slot = Number(beacon.slot);
    const fork = forkAt(slot);
    const { BeaconBlock } = ssz[fork as "electra"];
    expect(toHex(BeaconBlock.hashTreeRoot(BeaconBlock.fromJson(beacon))), `root of the block of slot ${slot}`).toBe(
      root,
    );
    const { block_hash, block_number, parent_hash, timestamp } = beacon.body.execution_payload;
    const parent = this.head;
    expect([parent_hash, block_number, Number(timestamp)]).toEqual([
      parent?.eth.hash ?? (await this.#genesis()),
      String(BigInt(parent?.eth.number ?? 0) + 1n),
      genesisTime + slot * slotSeconds,
    ]);
    const [eth, receipts] = await Promise.all([
      chain.call<ReadBlock["eth"]>("eth_getBlockByNumber", [`0x${BigInt(block_number).toString(16)}`, true]),
      chain.call<ReadBlock["receipts"]>("eth_getBlockReceipts", [block_hash]),
    ]);
    const block = { beacon, eth, receipts };
    expectLayersAgree(block);
    await expectReceiptsMatch(block);
    expectDepositsRequested(block);
    const recordedBefore = parent?.recorded ?? new Set<number>();
    const applied = overrides.ofBlock(slot, recordedBefore);
    const recorded = new Set([...recordedBefore, ...applied.map(({ id }) => id)]);
    const nonces = noncesAfter(block, parent?.nonces ?? new Map(), applied);
    return { ...block, root, slot, fork, overrides: applied, recorded, nonces };
  }

  /** Checkpoints never go back, and are ancestors of the head. */
  #expectFinality(head: ChainHeadJson): void {
    for (const kind of ["finalized", "justified"] as const) {
      const slot = Number(head[`${kind}_slot`]);
      const root = head[`${kind}_block_root`];
      expect(slot, `${kind} slot`).toBeGreaterThanOrEqual(Number(this.#head?.[`${kind}_slot`] ?? 0));
      const ancestor = this.blocks.findLast((block) => block.slot <= slot);
      if (ancestor !== undefined) expect(root, `${kind} block`).toBe(ancestor.root);
    }
  }

  async #genesis(): Promise<Hex> {
    this.#genesisHash ??= (await this.#parts.chain.call<{ hash: Hex }>("eth_getBlockByNumber", ["0x0", false])).hash;
    return this.#genesisHash;
  }
}

/** Each transaction has the next nonce of its sender. */
function noncesAfter(
  { eth }: ReadBlock,
  before: ReadonlyMap<Hex, bigint>,
  applied: readonly Override[],
): Map<Hex, bigint> {
  const nonces = new Map(before);
  for (const { kind, address, value } of applied) if (kind === "nonce") nonces.set(address, BigInt(value));
  for (const { from, nonce, hash } of eth.transactions) {
    const next = nonces.get(from);
    if (next !== undefined) expect(BigInt(nonce), `nonce of ${hash} in block ${eth.number}`).toBe(next);
    nonces.set(from, BigInt(nonce) + 1n);
  }
  return nonces;
}
