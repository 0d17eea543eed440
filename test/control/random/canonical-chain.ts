import { type ForkName, isForkPostGloas } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect } from "vitest";
import { expectDepositsRequested, expectLayersAgree, expectReceiptsMatch, type ReadBlock } from "./block-checks.ts";
import type { BlockJson, ChainHeadJson, EnvelopeJson, Hex } from "./json.ts";
import type { Override, StateOverrides } from "./state-overrides.ts";
import type { TestedChain } from "./tested-chain.ts";

/** A canonical block. */
interface CanonicalBlock {
  root: Hex;
  slot: number;
  /** The block with its payload; undefined if that is not on the chain. */
  checked: CheckedBlock | undefined;
}

/** A canonical block with its payload, after which the expectations are known. */
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
  entries: CanonicalBlock[];
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
  #entries: CanonicalBlock[] = [];
  #head: ChainHeadJson | undefined;
  #genesisHash: Hex | undefined;

  constructor(parts: CanonicalChainParts) {
    this.#parts = parts;
  }

  /** The blocks with payloads; since gloas, those without are left out. */
  get blocks(): CheckedBlock[] {
    return this.#entries.flatMap(({ checked }) => checked ?? []);
  }

  /** The newest block with a payload. */
  get head(): CheckedBlock | undefined {
    return this.#entries.findLast(({ checked }) => checked !== undefined)?.checked;
  }

  /** Slot of the newest block without a payload; -Infinity without one. */
  get lastEmptySlot(): number {
    return this.#entries.findLast(({ checked }) => checked === undefined)?.slot ?? Number.NEGATIVE_INFINITY;
  }

  /** Number of blocks without payloads. */
  get emptyCount(): number {
    return this.#entries.filter(({ checked }) => checked === undefined).length;
  }

  get finalizedSlot(): number {
    return Number(this.#head?.finalized_slot ?? 0);
  }

  get position(): ChainPosition {
    return { entries: [...this.#entries], head: this.#head! };
  }

  /** Returns to an earlier position, for a chain that was reverted to a snapshot. */
  return({ entries, head }: ChainPosition): void {
    this.#entries = [...entries];
    this.#head = head;
  }

  /** Reads the blocks of a new head. Returns them with the number of blocks that were replaced. */
  async follow(overrides: StateOverrides): Promise<{ gained: CheckedBlock[]; lost: number }> {
    const { chain } = this.#parts;
    const head = await chain.call<ChainHeadJson>("getChainHead");
    const positions = new Map(this.#entries.map(({ root }, position) => [root, position]));
    const read: { root: Hex; beacon: BlockJson["message"]; hasPayload: boolean }[] = [];
    let root = head.head_block_root;
    let known = -1;
    for (;;) {
      const position = positions.get(root);
      const entry = position === undefined ? undefined : this.#entries[position]!;
      // The next block, or fork choice, may have changed its mind about a payload.
      if (entry && (entry.checked !== undefined) === (await this.#hasPayload(entry))) {
        known = position!;
        break;
      }
      const { message: beacon } = await chain.call<BlockJson>("get_v2_beacon_blocks_blockId", [root]);
      const slot = Number(beacon.slot);
      if (slot === 0) break;
      read.unshift({ root, beacon, hasPayload: await this.#hasPayload({ root, slot }) });
      root = beacon.parent_root;
    }
    const lost = this.#entries.splice(known + 1).length;
    const gained: CheckedBlock[] = [];
    for (const { hasPayload, ...block } of read) {
      const slot = Number(block.beacon.slot);
      this.#expectRoot(block);
      const checked = hasPayload ? await this.#check(block, overrides) : undefined;
      this.#entries.push({ root: block.root, slot, checked });
      if (checked) gained.push(checked);
    }
    this.#expectFinality(head);
    this.#head = head;
    return { gained, lost };
  }

  #isGloas(slot: number): boolean {
    return isForkPostGloas(this.#parts.forkAt(slot));
  }

  /** True if the payload of a canonical block is on the chain. */
  async #hasPayload({ root, slot }: Pick<CanonicalBlock, "root" | "slot">): Promise<boolean> {
    if (!this.#isGloas(slot)) return true;
    const { payload_status: status } = await this.#parts.chain.call<{ payload_status: string }>("dev_getPayload", [
      root,
    ]);
    return status === "full";
  }

  #expectRoot({ root, beacon }: { root: Hex; beacon: BlockJson["message"] }): void {
    const { BeaconBlock } = ssz[this.#parts.forkAt(Number(beacon.slot)) as "electra"];
    const computed = toHex(BeaconBlock.hashTreeRoot(BeaconBlock.fromJson(beacon)));
    expect(computed, `root of the block of slot ${beacon.slot}`).toBe(root);
  }

  async #payloadOf(root: Hex, { slot, body }: BlockJson["message"]): Promise<Pick<ReadBlock, "payload" | "requests">> {
    if (!this.#isGloas(Number(slot))) return { payload: body.execution_payload!, requests: body.execution_requests };
    const method = "get_v1_beacon_execution_payload_envelopes_blockId";
    const { message } = await this.#parts.chain.call<EnvelopeJson>(method, [root]);
    return { payload: message.payload, requests: message.execution_requests };
  }

  async #check(
    { root, beacon }: { root: Hex; beacon: BlockJson["message"] },
    overrides: StateOverrides,
  ): Promise<CheckedBlock> {
    const { chain, forkAt, genesisTime, slotSeconds } = this.#parts;
    const slot = Number(beacon.slot);
    const fork = forkAt(slot);
    const { payload, requests } = await this.#payloadOf(root, beacon);
    const { block_hash, block_number, parent_hash, timestamp } = payload;
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
    const block = { beacon, payload, requests, eth, receipts };
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
      const ancestor = this.#entries.findLast((block) => block.slot <= slot);
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
