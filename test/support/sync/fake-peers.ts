import { setImmediate as nextTurn } from "node:timers/promises";
import { type deneb, type fulu, type gloas, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { ALL_COLUMNS } from "../../../src/data/column-sidecars.ts";
import { type HeaderSidecar, isColumn } from "../../../src/data/sidecar.ts";
import type { Severity } from "../../../src/network/peers/peer-scores.ts";
import type { SyncPeer, SyncPeers, SyncRequests } from "../../../src/network/peers/sync-peers.ts";
import type { BlockAncestry, BlockRange, SidecarIdentifiers } from "../../../src/network/reqresp/interface.ts";

/** Event loop turns without a request after which peers count as quiet. */
const QUIET_TURNS = 20;

/** A recorded sidecar request, by range or by root. */
interface AskedData {
  peerId: string;
  indices: readonly number[];
  roots?: readonly RootHex[];
  range?: BlockRange;
}

interface Penalty {
  peerId: string;
  severity: Severity;
  reason: string;
}

/** How a peer behaves. Defaults are honest. */
interface Behaviour {
  byRange?(
    honest: SignedBeaconBlock[],
    range: BlockRange,
    signal: AbortSignal | undefined,
  ): Promise<SignedBeaconBlock[]>;
  byRoot?(honest: SignedBeaconBlock[], root: RootHex): Promise<SignedBeaconBlock[]>;
  /** Supports BeaconBlocksByHead. */
  givesAncestors?: boolean;
  /** Handles sidecar requests. Sidecars passed to `give` arrive before the response is complete. */
  data?(
    honest: HeaderSidecar[],
    signal: AbortSignal | undefined,
    give: (earlier: HeaderSidecar) => void,
  ): Promise<HeaderSidecar[]>;
}

export interface ServedBlock {
  root: RootHex;
  signed: SignedBeaconBlock;
  sidecars?: readonly HeaderSidecar[];
}

interface FakePeer extends SyncPeer, Behaviour {
  chain: readonly ServedBlock[];
}

/** Peers that serve chains from memory, honestly or not, and record requests. */
export class FakePeers implements SyncPeers, SyncRequests {
  readonly requests: SyncRequests = this;
  readonly penalties: Penalty[] = [];
  readonly ranges: { peerId: string; range: BlockRange }[] = [];
  readonly roots: { peerId: string; root: RootHex }[] = [];
  readonly ancestries: (BlockAncestry & { peerId: string })[] = [];
  readonly data: AskedData[] = [];
  readonly refreshed: string[] = [];
  mostAtOnce = 0;
  readonly #peers = new Map<string, FakePeer>();
  readonly #listeners = new Set<() => void>();
  readonly #watchers = new Set<() => void>();
  readonly #inFlight = new Map<string, number>();

  /** The status is that of the last block of the chain unless overridden. */
  add(
    peerId: string,
    chain: readonly ServedBlock[],
    {
      status = {},
      score = 0,
      columns = ALL_COLUMNS,
      ...behaviour
    }: Behaviour & { status?: Partial<fulu.Status>; score?: number; columns?: readonly number[] } = {},
  ): void {
    const last = chain.at(-1);
    const honest = last && { headSlot: last.signed.message.slot, headRoot: Buffer.from(last.root.slice(2), "hex") };
    const reported = { ...ssz.fulu.Status.defaultValue(), ...honest, ...status };
    this.#peers.set(peerId, { peerId, status: reported, score, columns, chain, ...behaviour });
    this.#changed();
  }

  remove(peerId: string): void {
    this.#peers.delete(peerId);
    this.#changed();
  }

  /** Resolves when the condition on the penalties holds. */
  async untilPenalties(areSuch: () => boolean): Promise<void> {
    while (!areSuch()) {
      await new Promise<void>((resolve) => {
        this.#watchers.add(resolve);
      });
    }
  }

  /** Resolves when no more ranges are requested. */
  async untilQuiet(): Promise<void> {
    for (let asked = -1; asked !== this.ranges.length; ) {
      asked = this.ranges.length;
      for (let turn = 0; turn < QUIET_TURNS; turn++) await nextTurn();
    }
  }

  penaltiesOf(peerId: string): Severity[] {
    return this.penalties.filter((penalty) => penalty.peerId === peerId).map(({ severity }) => severity);
  }

  penalize(peerId: string, severity: Severity, reason: string): void {
    this.penalties.push({ peerId, severity, reason });
    for (const watcher of [...this.#watchers]) watcher();
  }

  list(): SyncPeer[] {
    return [...this.#peers.values()];
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reports the same status again shortly after. */
  refreshStatus(peerId: string): void {
    this.refreshed.push(peerId);
    queueMicrotask(() => {
      const peer = this.#peers.get(peerId);
      if (!peer) return;
      peer.status = { ...peer.status };
      this.#changed();
    });
  }

  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    this.ranges.push({ peerId, range });
    return this.#counted(peerId, async ({ chain, byRange }) => {
      const end = range.startSlot + range.count;
      const honest = chain
        .map(({ signed }) => signed)
        .filter(({ message }) => message.slot >= range.startSlot && message.slot < end);
      return byRange ? byRange(honest, range, signal) : honest;
    });
  }

  blocksByRoot(peerId: string, roots: readonly RootHex[]): Promise<SignedBeaconBlock[]> {
    for (const root of roots) this.roots.push({ peerId, root });
    return this.#counted(peerId, async ({ chain, byRoot }) => {
      const honest = chain.filter(({ root }) => roots.includes(root)).map(({ signed }) => signed);
      return byRoot ? byRoot(honest, roots[0]!) : honest;
    });
  }

  blockWithAncestors(peerId: string, { root, count }: BlockAncestry): Promise<SignedBeaconBlock[]> {
    if (!this.#peers.get(peerId)?.givesAncestors) return this.blocksByRoot(peerId, [root]);
    this.ancestries.push({ peerId, root, count });
    return this.#counted(peerId, async ({ chain }) => {
      const last = chain.findIndex((block) => block.root === root);
      const blocks = chain.slice(Math.max(0, last + 1 - count), last + 1);
      return blocks.map(({ signed }) => signed).reverse();
    });
  }

  async blobSidecarsByRange(
    peerId: string,
    range: BlockRange,
    signal?: AbortSignal,
    onSidecar?: (sidecar: deneb.BlobSidecar) => void,
  ): Promise<deneb.BlobSidecar[]> {
    const give = (sidecar: HeaderSidecar) => !isColumn(sidecar) && onSidecar?.(sidecar);
    const given = await this.#dataByRange(peerId, range, ALL_COLUMNS, signal, give);
    return given.filter((sidecar): sidecar is deneb.BlobSidecar => !isColumn(sidecar));
  }

  async blobSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarIdentifiers[],
    signal?: AbortSignal,
  ): Promise<deneb.BlobSidecar[]> {
    return (await this.#dataByRoot(peerId, wanted, signal)).filter(
      (sidecar): sidecar is deneb.BlobSidecar => !isColumn(sidecar),
    );
  }

  async columnSidecarsByRange(
    peerId: string,
    range: BlockRange,
    columns: readonly number[],
    signal?: AbortSignal,
    onSidecar?: (sidecar: fulu.DataColumnSidecar) => void,
  ): Promise<fulu.DataColumnSidecar[]> {
    const give = (sidecar: HeaderSidecar) => isColumn(sidecar) && onSidecar?.(sidecar);
    return (await this.#dataByRange(peerId, range, columns, signal, give)).filter(isColumn);
  }

  async columnSidecarsByRoot(
    peerId: string,
    wanted: readonly SidecarIdentifiers[],
    signal?: AbortSignal,
  ): Promise<fulu.DataColumnSidecar[]> {
    return (await this.#dataByRoot(peerId, wanted, signal)).filter(isColumn);
  }

  /** The peers' chains are from before gloas. */
  async payloadsByRange(): Promise<gloas.SignedExecutionPayloadEnvelope[]> {
    return [];
  }

  async payloadsByRoot(): Promise<gloas.SignedExecutionPayloadEnvelope[]> {
    return [];
  }

  #dataByRange(
    peerId: string,
    range: BlockRange,
    indices: readonly number[],
    signal: AbortSignal | undefined,
    onSidecar: (sidecar: HeaderSidecar) => void,
  ) {
    this.data.push({ peerId, range, indices });
    const end = range.startSlot + range.count;
    const isWanted = ({ signed: { message } }: ServedBlock, index: number) =>
      message.slot >= range.startSlot && message.slot < end && indices.includes(index);
    return this.#data(peerId, signal, isWanted, onSidecar);
  }

  #dataByRoot(peerId: string, wanted: readonly SidecarIdentifiers[], signal: AbortSignal | undefined) {
    this.data.push({
      peerId,
      roots: wanted.map(({ root }) => root),
      indices: wanted.flatMap(({ indices }) => [...indices]),
    });
    return this.#data(peerId, signal, (block, index) =>
      wanted.some(({ root, indices }) => root === block.root && indices.includes(index)),
    );
  }

  #data(
    peerId: string,
    signal: AbortSignal | undefined,
    isWanted: (block: ServedBlock, index: number) => boolean,
    onSidecar: (sidecar: HeaderSidecar) => void = () => {},
  ): Promise<HeaderSidecar[]> {
    return this.#counted(peerId, async ({ chain, columns, data }) => {
      const honest = chain.flatMap((block) =>
        (block.sidecars ?? []).filter(
          (sidecar) => isWanted(block, sidecar.index) && (!isColumn(sidecar) || columns.includes(sidecar.index)),
        ),
      );
      const given: HeaderSidecar[] = [];
      const give = (sidecar: HeaderSidecar) => {
        given.push(sidecar);
        onSidecar(sidecar);
      };
      for (const sidecar of data ? await data(honest, signal, give) : honest) give(sidecar);
      return given;
    });
  }

  async #counted<T>(peerId: string, answer: (peer: FakePeer) => Promise<T>): Promise<T> {
    const peer = this.#peers.get(peerId);
    if (!peer) throw new Error(`There is no peer ${peerId}.`);
    const inFlight = (this.#inFlight.get(peerId) ?? 0) + 1;
    this.#inFlight.set(peerId, inFlight);
    this.mostAtOnce = Math.max(this.mostAtOnce, inFlight);
    try {
      return await answer(peer);
    } finally {
      this.#inFlight.set(peerId, this.#inFlight.get(peerId)! - 1);
    }
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
