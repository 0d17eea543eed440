import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { bidOf } from "../chain/blocks/bid.ts";
import { blockRoot } from "../chain/blocks/block-encoding.ts";
import { attributeTo, BlockRejection, type RejectionReason } from "../chain/import/block-rejection.ts";
import type { Logger } from "../log/logger.ts";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import { ensureAnchorBlock } from "./anchor-block.ts";
import { orderedPeers } from "./peer-order.ts";
import type { RangeData } from "./range-data.ts";
import { buildsOnPayloadOf, type ServedPayload, type ServedPayloads } from "./served-payloads.ts";
import type { SyncChain } from "./sync-chain.ts";
import type { SyncTarget } from "./sync-target.ts";

const MAX_PEERS_PER_PAYLOAD = 5;

interface RangePayloadsParts {
  chain: SyncChain;
  peers: SyncPeers;
  target: SyncTarget;
  logger: Logger;
}

/** Reasons that prove that the peer forged the envelope: an honest peer has checked both. */
const FORGED: ReadonlySet<RejectionReason> = new Set(["invalid-envelope", "invalid-signature"]);

/**
 * Imports segments with the payloads that their blocks are built on. Since gloas, the next block decides whether a
 * payload is part of the chain.
 */
export class RangePayloads {
  readonly #parts: RangePayloadsParts;
  readonly #data: Pick<RangeData, "fetch">;
  /** Peers that sent forged payloads. */
  readonly #excluded = new Set<string>();

  constructor(parts: RangePayloadsParts, data: Pick<RangeData, "fetch">) {
    this.#parts = parts;
    this.#data = data;
  }

  /**
   * Imports consecutive blocks. A block that is built on the payload of its parent comes after that payload. Throws a
   * `BlockRejection` for the first invalid block or payload, and for a payload that no peer serves.
   */
  import(blocks: readonly SignedBeaconBlock[], payloads: ServedPayloads, signal: AbortSignal): Promise<unknown> {
    const newest = blocks.at(-1);
    const hasPayloads = newest !== undefined && bidOf(newest.message) !== undefined;
    return hasPayloads ? this.#import(blocks, payloads, signal) : this.#parts.chain.importSegment(blocks, signal);
  }

  async #import(blocks: readonly SignedBeaconBlock[], payloads: ServedPayloads, signal: AbortSignal): Promise<void> {
    const { chain } = this.#parts;
    let run: SignedBeaconBlock[] = [];
    for (const signed of blocks) {
      const parentRoot = toRootHex(signed.message.parentRoot);
      if (this.#needsPayload(signed, run.at(-1), parentRoot)) {
        if (run.length > 0) await chain.importSegment(run, signal);
        run = [];
        if (!chain.forkChoice.isPayloadVerified(parentRoot)) await this.#importPayload(parentRoot, payloads, signal);
      }
      run.push(signed);
    }
    await chain.importSegment(run, signal);
    const last = blocks.at(-1);
    if (last) await this.#importNewest(last, payloads);
  }

  /** True if the block is built on the payload of its parent, and the payload has not been imported. */
  #needsPayload(signed: SignedBeaconBlock, previous: SignedBeaconBlock | undefined, parentRoot: RootHex): boolean {
    const { forkChoice } = this.#parts.chain;
    if (previous) return buildsOnPayloadOf(signed, previous);
    const bid = bidOf(signed.message);
    const parent = forkChoice.get(parentRoot);
    if (!bid || parent?.bid === undefined || forkChoice.isPayloadVerified(parentRoot)) return false;
    return toRootHex(bid.parentBlockHash) === parent.bid.blockHash;
  }

  /** Imports a payload from the batch or, if there is none, from peers that have it. */
  async #importPayload(root: RootHex, payloads: ServedPayloads, signal: AbortSignal): Promise<void> {
    const triedPeers = new Set(this.#excluded);
    let served = payloads.get(root) ?? (await this.#request(root, triedPeers, signal));
    while (served !== null) {
      signal.throwIfAborted();
      triedPeers.add(served.peerId);
      await this.#fetchData(root, signal);
      if (!this.#excluded.has(served.peerId) && (await this.#take(served))) return;
      served = await this.#request(root, triedPeers, signal);
    }
    const message = `No peer serves the payload of block ${root}, which the next block is built on.`;
    const slot = this.#parts.chain.forkChoice.get(root)?.slot ?? 0;
    throw attributeTo(new BlockRejection("unknown-parent-payload", message), { slot, root });
  }

  /** The data of a payload before the segment has not been fetched with the segment's. */
  async #fetchData(root: RootHex, signal: AbortSignal): Promise<void> {
    const { chain } = this.#parts;
    const signed = await chain.blocks.signedByRoot(root);
    if (!signed || chain.data.missing({ signed, root }).length === 0) return;
    await this.#data.fetch({ blocks: [signed], committing: [{ signed, root }] }, signal);
  }

  /** Returns false if the envelope was forged. */
  async #take({ envelope, peerId }: ServedPayload): Promise<boolean> {
    const { chain, peers, logger } = this.#parts;
    try {
      await chain.importPayload(envelope, { waitsForData: false });
      return true;
    } catch (error) {
      if (!(error instanceof BlockRejection) || !FORGED.has(error.reason)) throw error;
      const { slot, root, reason, message: detail } = error;
      logger.warn("Rejected payload from peer", { slot, root, peer: peerId, reason, detail });
      this.#excluded.add(peerId);
      peers.penalize(peerId, "severe", `invalid payload in range sync: ${reason}`);
      return false;
    }
  }

  /** The next block, which decides whether the payload counts, is not known yet, so a failure is none of the batch. */
  async #importNewest(signed: SignedBeaconBlock, payloads: ServedPayloads): Promise<void> {
    const { chain, logger } = this.#parts;
    const root = blockRoot(chain.config, signed.message);
    const served = payloads.get(root);
    if (!served || this.#excluded.has(served.peerId) || chain.forkChoice.isPayloadVerified(root)) return;
    try {
      await this.#take(served);
    } catch (error) {
      logger.debug("Payload of the last block not imported", { slot: signed.message.slot, root, error });
    }
  }

  /** Requests a payload by root. Returns null if no peer serves it. */
  async #request(root: RootHex, triedPeers: Set<string>, signal: AbortSignal): Promise<ServedPayload | null> {
    const { peers, target } = this.#parts;
    for (let tried = 0; tried < MAX_PEERS_PER_PAYLOAD; tried++) {
      const [peer] = orderedPeers(peers, triedPeers, target.claimants);
      if (peer === undefined) return null;
      const { peerId } = peer;
      triedPeers.add(peerId);
      try {
        await ensureAnchorBlock(this.#parts, root, peerId, signal);
        const [envelope] = await peers.requests.payloadsByRoot(peerId, [root], signal);
        if (envelope) return { envelope, peerId };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof RequestError || error instanceof BlockRejection)) throw error;
        this.#parts.logger.debug("Payload request failed", { root, peer: peerId, error });
      }
    }
    return null;
  }
}
