import { BYTES_PER_FIELD_ELEMENT, FIELD_ELEMENTS_PER_BLOB, FIELD_ELEMENTS_PER_CELL } from "@lodestar/params";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import type { Timers } from "../async/timers.ts";
import { bidOf } from "../chain/blocks/bid.ts";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import { findInvalidSignature } from "../chain/blocks/proposer-signatures.ts";
import type { BlockWithCommitments } from "../chain/data/data-availability.ts";
import { WrongSidecarError } from "../chain/data/verify-sidecars.ts";
import { commitmentsOf } from "../data/commitments.ts";
import { blockRootOfSidecar, type DataSidecar } from "../data/sidecar.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeer, SyncPeers } from "../network/peers/sync-peers.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import type { BlockRange } from "../network/reqresp/interface.ts";
import { buildsOnPayloadOf, type ServedPayloads } from "./served-payloads.ts";
import type { SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

const BLOB_BYTES = FIELD_ELEMENTS_PER_BLOB * BYTES_PER_FIELD_ELEMENT;
const CELL_BYTES = FIELD_ELEMENTS_PER_CELL * BYTES_PER_FIELD_ELEMENT;

/** Number of stall checks after which a request must be complete. */
const MAX_STALL_CHECKS = 6;

export interface RangeDataLimits {
  /** Maximum size of a segment's data. The chain's pool can hold two segments. */
  dataBytes: number;
  dataBlocks: number;
  /** Interval between stall checks. A stalled request is aborted if another peer can serve the data. */
  stallCheckMs: number;
  /** How long to wait for a peer that custodies missing columns if no connected peer does. */
  custodianWaitMs: number;
}

interface RangeDataParts {
  chain: SyncChain;
  peers: SyncPeers;
  target: SyncTarget;
  timers: Pick<Timers, "sleep">;
  logger: Logger;
  limits: RangeDataLimits;
}

/** Consecutive blocks whose data fits within the limits. */
export interface RangeSegment {
  blocks: SignedBeaconBlock[];
  /** The blocks that cannot be imported without data. */
  committing: BlockWithCommitments[];
}

/** A request to one peer for some columns or for all blobs. */
interface DataRequest {
  peerId: string;
  columns: readonly number[];
}

/** Data that is still missing for some blocks. */
interface MissingData {
  blocks: readonly BlockWithCommitments[];
  range: BlockRange;
  hasColumns: boolean;
  indices: readonly number[];
}

/** State of a running request. */
interface Transfer {
  /** Number of requested sidecars. */
  requestedCount: number;
  received: readonly DataSidecar[];
  ended: AbortSignal;
  giveUp(): void;
}

/** Fetches blob sidecars or data columns for downloaded blocks into the pool before range sync imports the blocks. */
export class RangeData {
  readonly #parts: RangeDataParts;
  /** Peers that sent invalid data. No more requests are sent to them. */
  readonly #excluded = new Set<string>();
  /** Peers with a running request. */
  readonly #busy = new Set<string>();
  /** Number of consecutive nearly empty responses per peer. Peers with fewer failures are preferred. */
  readonly #failures = new Map<string, number>();
  /** Peers already penalized for not responding. */
  readonly #unresponsive = new Set<string>();

  constructor(parts: RangeDataParts) {
    this.#parts = parts;
  }

  /** Splits downloaded blocks into segments. The data of a payload that is not part of the chain is not needed. */
  split(blocks: readonly SignedBeaconBlock[], payloads: ServedPayloads = new Map()): RangeSegment[] {
    const { limits, chain } = this.#parts;
    const parts: RangeSegment[] = [];
    let bytes = 0;
    for (const [index, signed] of blocks.entries()) {
      const dataBytes = this.#isNeeded(signed, blocks[index + 1], payloads) ? this.#bytesOf(signed) : 0;
      let part = parts.at(-1);
      const first = part?.committing[0]?.signed.message;
      const isFull =
        dataBytes > 0 &&
        first !== undefined &&
        (bytes + dataBytes > limits.dataBytes ||
          part?.committing.length === limits.dataBlocks ||
          // Blobs and columns are requested with different methods.
          chain.data.hasColumns(first.slot) !== chain.data.hasColumns(signed.message.slot));
      if (part === undefined || isFull) {
        part = { blocks: [], committing: [] };
        parts.push(part);
        bytes = 0;
      }
      part.blocks.push(signed);
      if (dataBytes > 0) part.committing.push({ signed, root: blockRoot(chain.config, signed.message) });
      bytes += dataBytes;
    }
    return parts;
  }

  /**
   * Fetches the data for a segment. Resolves when the data is in the pool or no peer serves it. If no peer serves it,
   * the import fails with the reason: the data may not exist because the blocks are invalid.
   *
   * @throws the signal's reason if it is aborted first
   */
  async fetch({ committing }: RangeSegment, signal: AbortSignal): Promise<void> {
    const signed = await this.#signedOf(committing.filter((block) => this.#isPending(block)));
    /** Columns that each peer failed to serve. The sets are empty for blobs. */
    const failedColumns = new Map<string, Set<number>>();
    for (let missing = this.#missingDataOf(signed); missing !== null; missing = this.#missingDataOf(signed)) {
      signal.throwIfAborted();
      const requests = this.#plan(missing, failedColumns);
      if (requests.length > 0)
        await Promise.all(requests.map((request) => this.#request(request, missing, failedColumns, signal)));
      else if (this.#hasCustodians(missing) || !(await this.#untilPeersChange(signal))) return;
    }
    this.#penalizeCustodians(failedColumns);
  }

  /**
   * Returns the blocks before the first one with an invalid signature, which the import will reject. Sidecars in the
   * pool carry the block's signature, which the root does not cover.
   */
  async #signedOf(blocks: readonly BlockWithCommitments[]): Promise<readonly BlockWithCommitments[]> {
    const unsigned = await findInvalidSignature(blocks, this.#parts.chain.validation);
    return unsigned ? blocks.slice(0, blocks.indexOf(unsigned)) : blocks;
  }

  /** Since gloas, a block's data belongs to its payload, on which the next block may not be built. */
  #isNeeded(signed: SignedBeaconBlock, next: SignedBeaconBlock | undefined, payloads: ServedPayloads): boolean {
    if (bidOf(signed.message) === undefined) return true;
    return next ? buildsOnPayloadOf(next, signed) : payloads.has(blockRoot(this.#parts.chain.config, signed.message));
  }

  /** True while the block or, since gloas, its payload is not on the chain. */
  #isPending({ root, signed }: BlockWithCommitments): boolean {
    const { forkChoice } = this.#parts.chain;
    return !forkChoice.has(root) || (bidOf(signed.message) !== undefined && !forkChoice.isPayloadVerified(root));
  }

  #bytesOf(signed: SignedBeaconBlock): number {
    const { data } = this.#parts.chain;
    const required = data.required(signed).length;
    return data.hasColumns(signed.message.slot)
      ? required * commitmentsOf(signed).length * CELL_BYTES
      : required * BLOB_BYTES;
  }

  /** Returns the missing data for blocks that are not on the chain yet. */
  #missingDataOf(committing: readonly BlockWithCommitments[]): MissingData | null {
    const { data } = this.#parts.chain;
    const incomplete = committing
      .filter((block) => this.#isPending(block))
      .map((block) => ({ block, missing: data.missing(block) }))
      .filter(({ missing }) => missing.length > 0);
    const [first, last] = [incomplete[0], incomplete.at(-1)];
    if (first === undefined || last === undefined) return null;
    const startSlot = first.block.signed.message.slot;
    return {
      blocks: incomplete.map(({ block }) => block),
      range: { startSlot, count: last.block.signed.message.slot - startSlot + 1 },
      hasColumns: data.hasColumns(startSlot),
      indices: [...new Set(incomplete.flatMap(({ missing }) => missing))].sort((a, b) => a - b),
    };
  }

  /**
   * Assigns each column to the custodian with the fewest failures, and to the one with the fewest columns so far among
   * equals. Columns without a custodian that has them are requested from any peer, since the block producer has them. All
   * blobs are requested from a single peer.
   */
  #plan(missing: MissingData, failed: ReadonlyMap<string, ReadonlySet<number>>): DataRequest[] {
    const able = this.#able(missing);
    if (!missing.hasColumns) {
      const peer = able.find(({ peerId }) => !failed.has(peerId));
      return peer ? [{ peerId: peer.peerId, columns: [] }] : [];
    }
    const shares = new Map<string, number[]>();
    for (const column of missing.indices) {
      const untried = able.filter(({ peerId }) => !failed.get(peerId)?.has(column));
      const custodians = untried.filter(({ columns }) => columns.includes(column));
      const [custodian] = (custodians.length > 0 ? custodians : untried).sort(
        (a, b) =>
          this.#failuresOf(a) - this.#failuresOf(b) ||
          (shares.get(a.peerId)?.length ?? 0) - (shares.get(b.peerId)?.length ?? 0),
      );
      if (custodian) shares.set(custodian.peerId, [...(shares.get(custodian.peerId) ?? []), column]);
    }
    return [...shares].map(([peerId, columns]) => ({ peerId, columns }));
  }

  /**
   * Sorts peers by number of failures. Peers that claim to have the target come first among equals, ordered by score.
   */
  #able({ range: { startSlot, count } }: MissingData): SyncPeer[] {
    const { peers, target } = this.#parts;
    const lastSlot = startSlot + count - 1;
    const isClaimant = ({ peerId }: SyncPeer) => target.claimants.has(peerId);
    return peers
      .list()
      .filter((peer) => isClaimant(peer) || peer.status.headSlot >= lastSlot)
      .filter(({ peerId, status }) => status.earliestAvailableSlot <= startSlot && !this.#excluded.has(peerId))
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

  /** Returns true if each missing column has a custodian among the peers. */
  #hasCustodians(missing: MissingData): boolean {
    const able = this.#able(missing);
    if (!missing.hasColumns) return able.length > 0;
    return missing.indices.every((column) => able.some(({ columns }) => columns.includes(column)));
  }

  /** Requests data. A partial response may be continued by another request, but an empty response is a failure. */
  async #request(
    request: DataRequest,
    missing: MissingData,
    failed: Map<string, Set<number>>,
    signal: AbortSignal,
  ): Promise<void> {
    const { peerId, columns } = request;
    try {
      if (await this.#take(peerId, await this.#receive(request, missing, failed, signal), missing)) return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof WrongSidecarError)) throw error;
      this.#onWrong(peerId, error, missing.range.startSlot);
    }
    failed.set(peerId, new Set([...(failed.get(peerId) ?? []), ...columns]));
  }

  /** Returns the sidecars received for the blocks, even if the request fails or is aborted. */
  async #receive(
    request: DataRequest,
    missing: MissingData,
    failed: ReadonlyMap<string, ReadonlySet<number>>,
    signal: AbortSignal,
  ): Promise<DataSidecar[]> {
    const { requests } = this.#parts.peers;
    const { peerId, columns } = request;
    const requestedCount = this.#countOf(request, missing);
    const received: DataSidecar[] = [];
    const roots = new Set(missing.blocks.map(({ root }) => root));
    const onSidecar = (sidecar: DataSidecar): void => {
      if (roots.has(blockRootOfSidecar(sidecar))) received.push(sidecar);
    };
    const stalled = new AbortController();
    const ended = new AbortController();
    const abortSignal = AbortSignal.any([stalled.signal, signal]);
    this.#busy.add(peerId);
    void this.#abortIfStalled(request, missing, failed, {
      requestedCount,
      received,
      ended: AbortSignal.any([ended.signal, signal]),
      giveUp: () => stalled.abort(),
    });
    try {
      if (missing.hasColumns)
        await requests.columnSidecarsByRange(peerId, missing.range, columns, abortSignal, onSidecar);
      else await requests.blobSidecarsByRange(peerId, missing.range, abortSignal, onSidecar);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RequestError)) throw error;
    } finally {
      this.#busy.delete(peerId);
      ended.abort();
    }
    const isOfUse = !stalled.signal.aborted && received.length * MAX_STALL_CHECKS > requestedCount;
    this.#failures.set(peerId, isOfUse ? 0 : this.#failuresOf(request) + 1);
    if (stalled.signal.aborted && received.length === 0) this.#onNoResponse(peerId);
    return received;
  }

  /** Number of requested sidecars. */
  #countOf({ columns }: DataRequest, { blocks, hasColumns }: MissingData): number {
    const { data } = this.#parts.chain;
    return hasColumns
      ? blocks.length * columns.length
      : blocks.reduce((sum, { signed }) => sum + data.required(signed).length, 0);
  }

  /** Aborts a stalled request once idle peers with at most as many failures can serve the same data. */
  async #abortIfStalled(
    request: DataRequest,
    missing: MissingData,
    failed: ReadonlyMap<string, ReadonlySet<number>>,
    { requestedCount, received, ended, giveUp }: Transfer,
  ): Promise<void> {
    const { timers, limits } = this.#parts;
    try {
      for (let checks = 1; ; checks++) {
        await timers.sleep(limits.stallCheckMs, ended);
        const isTooSlow = received.length * MAX_STALL_CHECKS <= requestedCount * checks;
        if (isTooSlow && this.#canOthersServe(request, missing, failed)) return giveUp();
      }
    } catch {
      // The response arrived, or the run has ended.
    }
  }

  /** Returns true if other peers can serve the data. Ignores peers with more failures. */
  #canOthersServe(
    request: DataRequest,
    missing: MissingData,
    failed: ReadonlyMap<string, ReadonlySet<number>>,
  ): boolean {
    const { columns } = request;
    const busy = [...this.#busy].map((peerId) => [peerId, new Set(columns)] as const);
    const others = this.#plan({ ...missing, indices: columns }, new Map([...failed, ...busy])).filter(
      (other) => this.#failuresOf(other) <= this.#failuresOf(request),
    );
    return others.length > 0 && others.flatMap((other) => other.columns).length === columns.length;
  }

  /** Returns true if the sidecars contained anything new. */
  async #take(peerId: string, sidecars: readonly DataSidecar[], { blocks }: MissingData): Promise<boolean> {
    const { data } = this.#parts.chain;
    const byRoot = Map.groupBy(sidecars, blockRootOfSidecar);
    const entries = blocks.flatMap((block) => {
      const missing = new Set(data.missing(block));
      const fitting = (byRoot.get(block.root) ?? []).filter(({ index }) => missing.has(index));
      return fitting.length > 0 ? { block, sidecars: fitting } : [];
    });
    if (entries.length === 0) return false;
    await data.take(entries);
    this.#parts.logger.trace("Received sidecars", { peer: peerId, blocks: entries.length });
    return true;
  }

  #onWrong(peerId: string, { message: detail }: WrongSidecarError, slot: Slot): void {
    this.#parts.logger.warn("Rejected sidecars from peer", { slot, peer: peerId, detail });
    this.#excluded.add(peerId);
    this.#parts.peers.penalize(peerId, "severe", "invalid sidecars in range sync");
  }

  /** A peer is penalized only once, because it may just be slow and is selected last from now on. */
  #onNoResponse(peerId: string): void {
    if (this.#unresponsive.has(peerId)) return;
    this.#unresponsive.add(peerId);
    this.#parts.peers.penalize(peerId, "moderate", "no response to a data request");
  }

  /** Penalizes custodians that did not serve data that other peers had. */
  #penalizeCustodians(failed: ReadonlyMap<string, ReadonlySet<number>>): void {
    const { peers, target } = this.#parts;
    for (const { peerId, columns } of peers.list()) {
      const failedColumns = failed.get(peerId);
      const isCustodian =
        failedColumns && (failedColumns.size === 0 || columns.some((column) => failedColumns.has(column)));
      if (isCustodian && target.claimants.has(peerId) && !this.#excluded.has(peerId))
        peers.penalize(peerId, "mild", "withheld custody data");
    }
  }

  /** Waits until the set of peers changes. Returns false after a timeout. */
  async #untilPeersChange(signal: AbortSignal): Promise<boolean> {
    const { peers, timers, limits } = this.#parts;
    const over = new AbortController();
    const changed = new Promise<boolean>((resolve) => {
      const stopListening = peers.onChange(() => resolve(true));
      over.signal.addEventListener("abort", stopListening);
    });
    const timedOut = timers.sleep(limits.custodianWaitMs, AbortSignal.any([over.signal, signal])).then(
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
