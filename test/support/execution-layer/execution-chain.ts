import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Block } from "@ethereumjs/block";
import type { GethGenesis } from "@ethereumjs/common";
import { createTxFromRLP, type TypedTransaction } from "@ethereumjs/tx";
import { bytesToHex, hexToBytes } from "@ethereumjs/util";
import { type PooledBlob, type ReceivedTransaction, readTransaction, versionedHashesIn } from "./blob-transactions.ts";
import { type BuiltBlock, Evm, type ExecutedBlock, lineage, type PayloadContext } from "./evm.ts";
import { type Fork, type ForkTimes, forkAt, forkTimesOf, isSince } from "./forks.ts";
import { JsonRpcError } from "./json-rpc-error.ts";
import {
  type ExecutionPayload,
  type ForkchoiceAnswer,
  type ForkchoiceState,
  type Hex,
  type PayloadAttributes,
  type PayloadStatus,
  ZERO_HASH,
} from "./wire.ts";

interface Building {
  parent: ExecutedBlock;
  attributes: PayloadAttributes;
  /** Starts at the first getPayload, so it includes all transactions until then. */
  built?: Promise<BuiltBlock>;
}

const SYNCING: PayloadStatus = { status: "SYNCING", latestValidHash: null, validationError: null };
const valid = (hash: Hex): PayloadStatus => ({ status: "VALID", latestValidHash: hash, validationError: null });
const invalid = (latestValidHash: Hex | null, validationError: string): PayloadStatus => ({
  status: "INVALID",
  latestValidHash,
  validationError,
});
// The libraries also throw strings.
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Executes and builds payloads, and follows the fork choice of the consensus layer (Engine API). */
export class ExecutionChain {
  readonly evm: Evm;
  readonly #forkTimes: ForkTimes;
  /** Valid blocks from newPayload. */
  readonly #blocks = new Map<Hex, ExecutedBlock>();
  /** Blocks built here: executed, but unknown until newPayload. */
  readonly #built = new Map<Hex, ExecutedBlock>();
  /** Latest valid ancestor of each invalid block. */
  readonly #invalid = new Map<Hex, Hex>();
  readonly #buildings = new Map<Hex, Building>();
  /** All sent transactions in order of arrival, since a reorg may need included ones again. */
  readonly #transactions = new Map<Hex, TypedTransaction>();
  /** Blobs of unfinalized transactions by versioned hash. */
  readonly #blobs = new Map<Hex, PooledBlob>();
  #head: ExecutedBlock;
  #safe: ExecutedBlock | undefined;
  #finalized: ExecutedBlock | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  static async open(genesis: GethGenesis): Promise<ExecutionChain> {
    return new ExecutionChain(await Evm.open(genesis), forkTimesOf(genesis));
  }

  private constructor(evm: Evm, forkTimes: ForkTimes) {
    this.evm = evm;
    this.#forkTimes = forkTimes;
    this.#head = evm.genesis;
    this.#blocks.set(evm.genesis.hash, evm.genesis);
  }

  get head(): ExecutedBlock {
    return this.#head;
  }

  get safe(): ExecutedBlock | undefined {
    return this.#safe;
  }

  get finalized(): ExecutedBlock | undefined {
    return this.#finalized;
  }

  forkAt(timestamp: number): Fork {
    return forkAt(this.#forkTimes, timestamp);
  }

  /** Returns a valid block, canonical or not. */
  block(hash: Hex): ExecutedBlock | undefined {
    return this.#blocks.get(hash);
  }

  newPayload(payload: ExecutionPayload, surroundings: PayloadContext): Promise<PayloadStatus> {
    return this.#inOrder(async () => {
      const { blockHash: hash, parentHash } = payload;
      let block: Block;
      try {
        block = await this.evm.blockOf(payload, surroundings);
      } catch (error) {
        return invalid(null, messageOf(error));
      }
      if (bytesToHex(block.hash()) !== hash) return invalid(null, "The block hash is wrong.");
      const { versionedHashes } = surroundings;
      if (versionedHashes && !isDeepStrictEqual(versionedHashes, versionedHashesIn(block.transactions))) {
        return invalid(null, "The payload's transactions have other blobs.");
      }
      if (this.#blocks.has(hash)) return valid(hash);
      const latestValid = this.#invalid.get(hash) ?? this.#invalid.get(parentHash);
      if (latestValid !== undefined) return this.#refuse(hash, latestValid, "The block or an ancestor is invalid.");
      const parent = this.#blocks.get(parentHash);
      if (!parent) return SYNCING;
      try {
        this.#blocks.set(hash, this.#built.get(hash) ?? (await this.evm.execute(block, parent)));
      } catch (error) {
        return this.#refuse(hash, parentHash, messageOf(error));
      }
      return valid(hash);
    });
  }

  /** Validates the attributes after the update, which stays in effect if they are invalid. */
  forkchoiceUpdated(state: ForkchoiceState, readAttributes?: () => PayloadAttributes): Promise<ForkchoiceAnswer> {
    return this.#inOrder(async () => {
      const { headBlockHash: hash } = state;
      const latestValid = this.#invalid.get(hash);
      if (latestValid !== undefined) {
        return { payloadStatus: invalid(latestValid, "The block or an ancestor is invalid."), payloadId: null };
      }
      const head = this.#blocks.get(hash);
      if (!head) return { payloadStatus: SYNCING, payloadId: null };
      const isAlreadyFinal = head !== this.#finalized && lineage(this.#finalized).includes(head);
      if (isAlreadyFinal) return { payloadStatus: valid(hash), payloadId: null };
      const safe = this.#inChainOf(head, state.safeBlockHash);
      const finalized = this.#inChainOf(head, state.finalizedBlockHash);
      this.#head = head;
      this.#safe = safe;
      this.#finalized = finalized;
      this.#forgetBlobs(finalized);
      if (!readAttributes) return { payloadStatus: valid(hash), payloadId: null };
      const attributes = readAttributes();
      if (BigInt(attributes.timestamp) <= head.block.header.timestamp) {
        throw new JsonRpcError(-38003, "the timestamp is not later than that of the head");
      }
      return { payloadStatus: valid(hash), payloadId: this.#beginBuilding(head, attributes) };
    });
  }

  /** Returns the timestamp of the payload under construction. Undefined if there is none. */
  timestampOf(payloadId: Hex): number | undefined {
    const building = this.#buildings.get(payloadId);
    return building && Number(building.attributes.timestamp);
  }

  async getPayload(payloadId: Hex): Promise<BuiltBlock> {
    const building = this.#buildings.get(payloadId);
    if (!building) throw new JsonRpcError(-38001);
    building.built ??= this.#inOrder(() => this.#build(building));
    return building.built;
  }

  /** Returns a blob with the proofs of a fork. Undefined if the pool does not have it. */
  blob(versionedHash: Hex, fork: Fork): PooledBlob | undefined {
    const found = this.#blobs.get(versionedHash);
    const hasCellProofs = (found?.proofs.length ?? 0) > 1;
    return hasCellProofs === isSince(fork, "osaka") ? found : undefined;
  }

  /** Returns the blobs of a block's transactions. */
  blobsOf({ block }: BuiltBlock): PooledBlob[] {
    return versionedHashesIn(block.transactions).map((hash) => this.#blobs.get(hash)!);
  }

  /** Marks the block and its descendants as invalid. */
  condemn(hash: Hex): void {
    const condemned = this.#blocks.get(hash) ?? this.#built.get(hash);
    if (!condemned?.parent) throw new Error(`There is no block ${hash} that could be condemned.`);
    for (const block of [...this.#blocks.values(), condemned]) {
      if (!lineage(block).includes(condemned)) continue;
      this.#blocks.delete(block.hash);
      this.#built.delete(block.hash);
      this.#invalid.set(block.hash, condemned.parent.hash);
    }
    if (this.#invalid.has(this.#head.hash)) this.#head = condemned.parent;
  }

  /** Adds a signed transaction for the next payloads. */
  addTransaction(raw: Hex): Hex {
    const { number, timestamp } = this.#head.block.header;
    let received: ReceivedTransaction;
    let transaction: TypedTransaction;
    try {
      received = readTransaction(raw);
      transaction = createTxFromRLP(hexToBytes(received.raw), {
        common: this.evm.rulesAt(number + 1n, timestamp + 1n),
      });
    } catch (error) {
      throw new JsonRpcError(-32000, messageOf(error));
    }
    if (!transaction.verifySignature()) throw new JsonRpcError(-32000, "the signature is wrong");
    const hash = bytesToHex(transaction.hash());
    this.#transactions.set(hash, transaction);
    for (const [versionedHash, blob] of received.blobs) this.#blobs.set(versionedHash, blob);
    return hash;
  }

  #forgetBlobs(finalized: ExecutedBlock | undefined): void {
    for (const { block } of lineage(finalized)) {
      for (const hash of versionedHashesIn(block.transactions)) this.#blobs.delete(hash);
    }
  }

  #refuse(hash: Hex, latestValidHash: Hex, validationError: string): PayloadStatus {
    this.#invalid.set(hash, latestValidHash);
    return invalid(latestValidHash, validationError);
  }

  /** Finds a block on the chain of the head. Undefined for the zero hash. */
  #inChainOf(head: ExecutedBlock, hash: Hex): ExecutedBlock | undefined {
    if (hash === ZERO_HASH) return undefined;
    const found = lineage(head).find((block) => block.hash === hash);
    if (!found) throw new JsonRpcError(-38002, `${hash} is not in the chain of the head`);
    return found;
  }

  #beginBuilding(parent: ExecutedBlock, attributes: PayloadAttributes): Hex {
    const id = createHash("sha256")
      .update(JSON.stringify([parent.hash, attributes]))
      .digest("hex")
      .slice(0, 16);
    const payloadId: Hex = `0x${id}`;
    if (!this.#buildings.has(payloadId)) this.#buildings.set(payloadId, { parent, attributes });
    return payloadId;
  }

  async #build({ parent, attributes }: Building): Promise<BuiltBlock> {
    const included = new Set(
      lineage(parent).flatMap(({ block }) => block.transactions.map((transaction) => bytesToHex(transaction.hash()))),
    );
    const fork = this.forkAt(Number(attributes.timestamp));
    const pending = [...this.#transactions]
      .filter(([hash]) => !included.has(hash))
      .map(([, transaction]) => transaction)
      .filter((transaction) => versionedHashesIn([transaction]).every((hash) => this.blob(hash, fork)));
    const built = await this.evm.build(parent, attributes, pending);
    this.#built.set(built.hash, built);
    return built;
  }

  /** Applies calls in order of arrival. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}
