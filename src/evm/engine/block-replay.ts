import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { SingleFlight } from "../../async/single-flight.ts";
import type { PayloadContext } from "../../execution/engine.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import type { Block, ExecutedBlock } from "../execution/block.ts";
import type { BlockExecutor } from "../execution/block-executor.ts";
import { InvalidBlockError } from "../execution/invalid-block.ts";
import { toHex } from "../execution/payload.ts";
import type { ChainOverrides } from "../overrides/chain-overrides.ts";
import { headerChange, type Override, overrideState } from "../overrides/override.ts";
import type { ExecutedBlocks } from "./executed-blocks.ts";
import { encodeRequests } from "./execution-requests.ts";
import { collectMissing, executeMissing, type PayloadHistory, type StoredPayload } from "./history.ts";
import type { StoredBase } from "./storage/stored-base.ts";
import { UnexecutableBlockError } from "./unexecutable-block.ts";

interface BlockReplayParts {
  executor: BlockExecutor;
  blocks: ExecutedBlocks;
  overrides: ChainOverrides;
  base: StoredBase;
  secondsPerSlot: number;
  logger: Logger;
}

/** Restarts that take longer than this log their progress. */
const FIRST_REPORT_MS = 500;

/** Re-executes existing blocks with their recorded overrides. */
export class BlockReplay {
  readonly #parts: BlockReplayParts;
  readonly #rebuilding = new SingleFlight<RootHex, ExecutedBlock | undefined>();
  #history: PayloadHistory | undefined;
  /** The last stored block that failed to execute. */
  #failure: UnexecutableBlockError | undefined;

  constructor(parts: BlockReplayParts) {
    this.#parts = parts;
  }

  /** Connects the stored history. Until then, only blocks in memory are found. */
  connect(history: PayloadHistory): void {
    this.#history = history;
  }

  /** Returns a known block, or rebuilds it from stored payloads. */
  async find(blockHash: RootHex, beaconRoot?: RootHex): Promise<ExecutedBlock | undefined> {
    const known = this.#parts.blocks.get(blockHash);
    const history = this.#history;
    if (known !== undefined || history === undefined) return known;
    const root = beaconRoot ?? (await history.rootOf(blockHash));
    if (root === undefined) return undefined;
    return this.#rebuilding.run(blockHash, undefined, () => this.#rebuild(history, blockHash, root));
  }

  /** Returns the reason why a stored block could not be rebuilt. */
  failureOf(blockHash: RootHex): Error {
    return this.#failure ?? new Error(`Execution block ${blockHash} cannot be rebuilt from stored payloads.`);
  }

  /** Executes a payload and stores its block in memory. Throws an `InvalidBlockError` if the payload is invalid. */
  async executePayload(parent: ExecutedBlock, stored: StoredPayload): Promise<ExecutedBlock> {
    const block = await this.#verify(parent, stored);
    this.#parts.blocks.add(block);
    return block;
  }

  /**
   * Re-executes the stored payloads up to a block and yields their blocks without storing them. Starts from a known
   * state at or before `number`.
   */
  async *replay(blockHash: RootHex, number: bigint): AsyncGenerator<ExecutedBlock> {
    const history = this.#history;
    const root = await history?.rootOf(blockHash);
    if (history === undefined || root === undefined) return;
    const { blocks, base } = this.#parts;
    const readBase = await base.open();
    const missing = await collectMissing(history, blockHash, root, (hash) => {
      const known = blocks.get(hash) ?? readBase(hash);
      return known && known.header.number <= number ? known : undefined;
    });
    if (missing) yield* executeMissing(history, missing, (parent, stored) => this.#verify(parent, stored));
  }

  /** Checks that a payload matches an executed block. Throws an `InvalidBlockError` on a mismatch. */
  verifySame(known: ExecutedBlock, payload: ExecutionPayload, context: PayloadContext): void {
    this.#parts.executor.verifySame(known, payload, this.#contextOf(payload, context));
  }

  /** Re-executes a known block. */
  async execute(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    const { executor } = this.#parts;
    const overrides = (await this.#parts.overrides.ofBlock(block.hash)) ?? [];
    return executor.execute(this.#withOverrides(parent, overrides), block, headerChange(overrides));
  }

  /** Returns the state before a block's transactions. */
  async stateBefore(parent: ExecutedBlock, block: Block): Promise<ExecutedBlock> {
    return this.#withOverrides(parent, await this.#parts.overrides.ofBlock(block.hash));
  }

  async #rebuild(history: PayloadHistory, blockHash: RootHex, root: RootHex): Promise<ExecutedBlock | undefined> {
    const { blocks, base, logger } = this.#parts;
    const readBase = await base.open();
    const missing = await collectMissing(history, blockHash, root, (hash) => blocks.get(hash) ?? readBase(hash));
    this.#failure = undefined;
    if (missing === undefined) return undefined;
    const total = missing.roots.length;
    const progress = new Progress({ message: "Executing stored payloads", logger, firstReportMs: FIRST_REPORT_MS });
    try {
      let rebuilt = missing.base;
      let done = 0;
      for await (const block of executeMissing(history, missing, (...args) => this.#executeAgain(...args))) {
        rebuilt = block;
        progress.report(++done, total, (perSecond) => ({ blocks: total, perSecond }));
      }
      progress.finish({ blocks: done });
      return done === total ? rebuilt : undefined;
    } catch (error) {
      if (!(error instanceof UnexecutableBlockError)) throw error;
      const { slot, number, hash } = error;
      logger.error("Stored payload failed re-execution", { slot, number, hash, error });
      this.#failure = error;
      return undefined;
    }
  }

  async #executeAgain(parent: ExecutedBlock, stored: StoredPayload): Promise<ExecutedBlock> {
    try {
      return await this.executePayload(parent, stored);
    } catch (error) {
      if (!(error instanceof InvalidBlockError)) throw error;
      const { blocks, secondsPerSlot } = this.#parts;
      const { timestamp, blockNumber, blockHash } = stored.payload;
      const slot = (timestamp - Number(blocks.genesis.header.timestamp)) / secondsPerSlot;
      throw new UnexecutableBlockError({ slot, number: blockNumber, hash: toHex(blockHash) }, error.message);
    }
  }

  async #verify(parent: ExecutedBlock, { payload, context }: StoredPayload): Promise<ExecutedBlock> {
    const { executor } = this.#parts;
    const overrides = await this.#parts.overrides.ofBlock(payload.blockHash);
    const state = this.#withOverrides(parent, overrides);
    const recorded = overrides && headerChange(overrides);
    const block = await executor.verify(state, payload, this.#contextOf(payload, context), recorded);
    return overrides ? { ...block, overrides } : block;
  }

  #withOverrides(parent: ExecutedBlock, overrides: readonly Override[] = []): ExecutedBlock {
    return overrideState(parent, overrides, this.#parts.executor.rules.crypto.keccak);
  }

  /** Omits the fields that the fork does not have. */
  #contextOf(
    { timestamp }: ExecutionPayload,
    { parentBeaconBlockRoot, versionedHashes, executionRequests }: PayloadContext,
  ) {
    const rules = this.#parts.executor.rules.at(timestamp);
    return {
      ...(rules.isSince("cancun") && { parentBeaconBlockRoot, versionedHashes }),
      ...(rules.isSince("prague") && executionRequests && { requests: encodeRequests(executionRequests) }),
    };
  }
}
