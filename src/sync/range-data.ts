import { BYTES_PER_FIELD_ELEMENT, FIELD_ELEMENTS_PER_BLOB, FIELD_ELEMENTS_PER_CELL } from "@lodestar/params";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import { firstUnsigned } from "../chain/blocks/proposer-signatures.ts";
import type { CommittingBlock } from "../chain/data/data-availability.ts";
import { WrongSidecarError } from "../chain/data/verify-sidecars.ts";
import { commitmentsOf } from "../data/commitments.ts";
import { blockRootOfSidecar, type DataSidecar } from "../data/sidecar.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import type { BlockRange } from "../network/reqresp/interface.ts";
import type { SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

const BLOB_BYTES = FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT;
const CELL_BYTES = FIELD_ELEMENTS_PER_CELL * BYTES_PER_FIELD_ELEMENT;

/** A peer that needs more than so many times the patience for what it is asked for is too slow. */
const LONGEST_PATIENCE = 6;

export interface RangeDataLimits {
  /** Of the data that is brought at a time; the pool of the chain holds that of two such parts. */
  dataBytes: number;
  dataBlocks: number;
  /** How often it is looked whether a peer that is waited for is too slow, so that it is left for another, if there is one. */
  patienceMs: number;
  /** How long a peer is waited for that keeps what none of the others does. */
  keeperMs: number;
}

interface RangeDataParts {
  chain: SyncChain;
  peers: SyncPeers;
  target: SyncTarget;
  timers: Pick<Timers, "sleep">;
  logger: Logger;
  limits: RangeDataLimits;
}

/** Blocks in a row, with so little data that it can be held. */
export interface RangePart {
  blocks: SignedBeaconBlock[];
  /** Those of them that are imported with their data only. */
  committing: CommittingBlock[];
}

/** What one peer is asked for: some columns, or all blobs. */
interface DataRequest {
  peerId: string;
  columns: readonly number[];
}

/** What blocks still lack. */
interface Lack {
  blocks: readonly CommittingBlock[];
  range: BlockRange;
  hasColumns: boolean;
  indices: readonly number[];
}

/** How far a request is. */
interface Transfer {
  /** How many sidecars are asked for. */
  wanted: number;
  received: readonly DataSidecar[];
  ended: AbortSignal;
  giveUp(): void;
}

/** Brings the data of blocks that were downloaded into the pool, from whichever peers keep it, before the blocks are imported. */
export class RangeData {
  readonly #parts: RangeDataParts;
  /** Those that gave something wrong are not asked again. */
  readonly #wrongdoers = new Set<string>();
  /** Those that are asked for something now. */
  readonly #busy = new Set<string>();
  /** How often in a row each gave next to nothing of what it was asked for: it is asked after those that failed less often. */
  readonly #failures = new Map<string, number>();
  /** Those that were penalized for not answering. */
  readonly #silent = new Set<string>();

  constructor(parts: RangeDataParts) {
    this.#parts = parts;
  }

  split(blocks: readonly SignedBeaconBlock[]): RangePart[] {
    const { limits, chain } = this.#parts;
    const parts: RangePart[] = [];
    let bytes = 0;
    for (const signed of blocks) {
      const needed = this.#bytesOf(signed);
      let part = parts.at(-1);
      const first = part?.committing[0]?.signed.message;
      const isFull =
        needed > 0 &&
        first !== undefined &&
        (bytes + needed > limits.dataBytes ||
          part?.committing.length === limits.dataBlocks ||
          // Blobs and columns are asked for in different ways.
          chain.data.hasColumns(first.slot) !== chain.data.hasColumns(signed.message.slot));
      if (part === undefined || isFull) {
        part = { blocks: [], committing: [] };
        parts.push(part);
        bytes = 0;
      }
      part.blocks.push(signed);
      if (needed > 0) part.committing.push({ signed, root: blockRoot(chain.config, signed.message) });
      bytes += needed;
    }
    return parts;
  }

  /**
   * Resolves when all that the blocks need is in the pool, or nobody gives it. The import tells what is wrong then, as blocks that are
   * not valid may commit to what does not exist.
   *
   * @throws the signal's reason when that is aborted first
   */
  async bring({ committing }: RangePart, signal: AbortSignal): Promise<void> {
    const { chain } = this.#parts;
    const signed = await this.#signedOf(committing.filter(({ root }) => !chain.forkChoice.has(root)));
    /** Which columns each peer was asked for in vain; for blobs there are none to name. */
    const vain = new Map<string, Set<number>>();
    for (let lack = this.#lackOf(signed); lack !== null; lack = this.#lackOf(signed)) {
      signal.throwIfAborted();
      const requests = this.#plan(lack, vain);
      if (requests.length > 0) await Promise.all(requests.map((request) => this.#request(request, lack, vain, signal)));
      else if (this.#isKept(lack) || !(await this.#untilPeersChange(signal))) return;
    }
    this.#penalizeKeepers(vain);
  }

  /**
   * Those before the first that is not signed, which the import will refuse. What the pool holds has the signature of its block, which
   * is no part of what is hashed.
   */
  async #signedOf(blocks: readonly CommittingBlock[]): Promise<readonly CommittingBlock[]> {
    const unsigned = await firstUnsigned(blocks, this.#parts.chain.validation);
    return unsigned ? blocks.slice(0, blocks.indexOf(unsigned)) : blocks;
  }

  #bytesOf(signed: SignedBeaconBlock): number {
    const { data } = this.#parts.chain;
    const required = data.required(signed).length;
    return data.hasColumns(signed.message.slot)
      ? required * commitmentsOf(signed).length * CELL_BYTES
      : required * BLOB_BYTES;
  }

  /** Of those that no other way has brought onto the chain meanwhile. */
  #lackOf(committing: readonly CommittingBlock[]): Lack | null {
    const { data, forkChoice } = this.#parts.chain;
    const lacking = committing
      .filter(({ root }) => !forkChoice.has(root))
      .map((block) => ({ block, missing: data.missing(block) }))
      .filter(({ missing }) => missing.length > 0);
    const [first, last] = [lacking[0], lacking.at(-1)];
    if (first === undefined || last === undefined) return null;
    const startSlot = first.block.signed.message.slot;
    return {
      blocks: lacking.map(({ block }) => block),
      range: { startSlot, count: last.block.signed.message.slot - startSlot + 1 },
      hasColumns: data.hasColumns(startSlot),
      indices: [...new Set(lacking.flatMap(({ missing }) => missing))].sort((a, b) => a - b),
    };
  }

  /**
   * Each column is asked of the peer that has the least to give so far, of those that keep it and failed least; if none keeps it,
   * whoever made its block may have it. All blobs are asked of one peer.
   */
  #plan(lack: Lack, vain: ReadonlyMap<string, ReadonlySet<number>>): DataRequest[] {
    const able = this.#able(lack);
    if (!lack.hasColumns) {
      const peer = able.find(({ peerId }) => !vain.has(peerId));
      return peer ? [{ peerId: peer.peerId, columns: [] }] : [];
    }
    const shares = new Map<string, number[]>();
    for (const column of lack.indices) {
      const keepers = able.filter(({ columns }) => columns.includes(column));
      const [keeper] = (keepers.length > 0 ? keepers : able)
        .filter(({ peerId }) => !vain.get(peerId)?.has(column))
        .sort(
          (a, b) =>
            this.#failuresOf(a) - this.#failuresOf(b) ||
            (shares.get(a.peerId)?.length ?? 0) - (shares.get(b.peerId)?.length ?? 0),
        );
      if (keeper) shares.set(keeper.peerId, [...(shares.get(keeper.peerId) ?? []), column]);
    }
    return [...shares].map(([peerId, columns]) => ({ peerId, columns }));
  }

  /** Those that failed least first, of these those that tell of the target, and of these the better ones. */
  #able({ range: { startSlot, count } }: Lack): SyncPeer[] {
    const { peers, target } = this.#parts;
    const lastSlot = startSlot + count - 1;
    const isClaimant = ({ peerId }: SyncPeer) => target.claimants.has(peerId);
    return peers
      .list()
      .filter((peer) => isClaimant(peer) || peer.status.headSlot >= lastSlot)
      .filter(({ peerId, status }) => status.earliestAvailableSlot <= startSlot && !this.#wrongdoers.has(peerId))
      .sort(
        (a, b) =>
          this.#failuresOf(a) - this.#failuresOf(b) ||
          Number(isClaimant(b)) - Number(isClaimant(a)) ||
          b.score - a.score,
      );
  }

  #failuresOf({ peerId }: Pick<SyncPeer, "peerId">): number {
    return this.#failures.get(peerId) ?? 0;
  }

  /** Whether for all that is lacking there is somebody who should have it. */
  #isKept(lack: Lack): boolean {
    const able = this.#able(lack);
    if (!lack.hasColumns) return able.length > 0;
    return lack.indices.every((column) => able.some(({ columns }) => columns.includes(column)));
  }

  /** What a peer gives only in part it may be asked for again; what brings nothing is in vain. */
  async #request(request: DataRequest, lack: Lack, vain: Map<string, Set<number>>, signal: AbortSignal): Promise<void> {
    const { peerId, columns } = request;
    try {
      if (await this.#take(peerId, await this.#receive(request, lack, vain, signal), lack)) return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof WrongSidecarError)) throw error;
      this.#onWrong(peerId, error, lack.range.startSlot);
    }
    vain.set(peerId, new Set([...(vain.get(peerId) ?? []), ...columns]));
  }

  /** What comes of the blocks, also of a request that fails or is given up. */
  async #receive(
    request: DataRequest,
    lack: Lack,
    vain: ReadonlyMap<string, ReadonlySet<number>>,
    signal: AbortSignal,
  ): Promise<DataSidecar[]> {
    const { peers } = this.#parts;
    const { peerId, columns } = request;
    const wanted = this.#countOf(request, lack);
    const received: DataSidecar[] = [];
    const roots = new Set(lack.blocks.map(({ root }) => root));
    const onSidecar = (sidecar: DataSidecar): void => {
      if (roots.has(blockRootOfSidecar(sidecar))) received.push(sidecar);
    };
    const over = new AbortController();
    const ended = new AbortController();
    const given = AbortSignal.any([over.signal, signal]);
    this.#busy.add(peerId);
    void this.#losePatience(request, lack, vain, {
      wanted,
      received,
      ended: AbortSignal.any([ended.signal, signal]),
      giveUp: () => over.abort(),
    });
    try {
      if (lack.hasColumns) await peers.columnSidecarsByRange(peerId, lack.range, columns, given, onSidecar);
      else await peers.blobSidecarsByRange(peerId, lack.range, given, onSidecar);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RequestError)) throw error;
    } finally {
      this.#busy.delete(peerId);
      ended.abort();
    }
    const isOfUse = !over.signal.aborted && received.length * LONGEST_PATIENCE > wanted;
    this.#failures.set(peerId, isOfUse ? 0 : this.#failuresOf(request) + 1);
    if (over.signal.aborted && received.length === 0) this.#onSilence(peerId);
    return received;
  }

  /** How many sidecars are asked for. */
  #countOf({ columns }: DataRequest, { blocks, hasColumns }: Lack): number {
    const { data } = this.#parts.chain;
    return hasColumns
      ? blocks.length * columns.length
      : blocks.reduce((sum, { signed }) => sum + data.required(signed).length, 0);
  }

  /** Gives up the request of a peer that is too slow as soon as somebody better who is not busy can give the same. */
  async #losePatience(
    request: DataRequest,
    lack: Lack,
    vain: ReadonlyMap<string, ReadonlySet<number>>,
    { wanted, received, ended, giveUp }: Transfer,
  ): Promise<void> {
    const { timers, limits } = this.#parts;
    try {
      for (let looks = 1; ; looks++) {
        await timers.sleep(limits.patienceMs, ended);
        const isTooSlow = received.length * LONGEST_PATIENCE <= wanted * looks;
        if (isTooSlow && this.#canOthersGive(request, lack, vain)) return giveUp();
      }
    } catch {
      // The answer came, or the run is over.
    }
  }

  /** Those that failed more often are not worth the change. */
  #canOthersGive(request: DataRequest, lack: Lack, vain: ReadonlyMap<string, ReadonlySet<number>>): boolean {
    const { columns } = request;
    const busy = [...this.#busy].map((peerId) => [peerId, new Set(columns)] as const);
    const others = this.#plan({ ...lack, indices: columns }, new Map([...vain, ...busy])).filter(
      (other) => this.#failuresOf(other) <= this.#failuresOf(request),
    );
    return others.length > 0 && others.flatMap((other) => other.columns).length === columns.length;
  }

  /** Whether there was anything new in it. */
  async #take(peerId: string, sidecars: readonly DataSidecar[], { blocks }: Lack): Promise<boolean> {
    const { data } = this.#parts.chain;
    const byRoot = Map.groupBy(sidecars, blockRootOfSidecar);
    const entries = blocks.flatMap((block) => {
      const missing = new Set(data.missing(block));
      const fitting = (byRoot.get(block.root) ?? []).filter(({ index }) => missing.has(index));
      return fitting.length > 0 ? { block, sidecars: fitting } : [];
    });
    if (entries.length === 0) return false;
    await data.take(entries);
    this.#parts.logger.trace("Data of blocks came", { peer: peerId, blocks: entries.length });
    return true;
  }

  #onWrong(peerId: string, { message: detail }: WrongSidecarError, slot: Slot): void {
    this.#parts.logger.warn("Data that a peer gave is refused", { slot, peer: peerId, detail });
    this.#wrongdoers.add(peerId);
    this.#parts.peers.penalize(peerId, "severe", "wrong data given in sync");
  }

  /** Once, because a peer may just be slow, and is asked last from now on. */
  #onSilence(peerId: string): void {
    if (this.#silent.has(peerId)) return;
    this.#silent.add(peerId);
    this.#parts.peers.penalize(peerId, "moderate", "does not answer when it is asked for data");
  }

  /** Others had it, so that it could have been given. */
  #penalizeKeepers(vain: ReadonlyMap<string, ReadonlySet<number>>): void {
    const { peers, target } = this.#parts;
    for (const { peerId, columns } of peers.list()) {
      const asked = vain.get(peerId);
      const keeps = asked && (asked.size === 0 || columns.some((column) => asked.has(column)));
      if (keeps && target.claimants.has(peerId) && !this.#wrongdoers.has(peerId))
        peers.penalize(peerId, "mild", "does not give data that it should keep");
    }
  }

  /** False when nothing changed for too long. */
  async #untilPeersChange(signal: AbortSignal): Promise<boolean> {
    const { peers, timers, limits } = this.#parts;
    const over = new AbortController();
    const changed = new Promise<boolean>((resolve) => {
      const stopListening = peers.onChange(() => resolve(true));
      over.signal.addEventListener("abort", stopListening);
    });
    const timedOut = timers.sleep(limits.keeperMs, AbortSignal.any([over.signal, signal])).then(
      () => false,
      () => true,
    );
    try {
      return await Promise.race([changed, timedOut]);
    } finally {
      over.abort();
    }
  }
}
