import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb } from "../../db/beacon-db.ts";
import type { PayloadVerdict } from "../../execution/engine.ts";
import type { LogFields, Logger } from "../../log/logger.ts";
import { ForkChoiceError } from "../fork-choice/error.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { putForkChoiceBlock } from "../fork-choice/stored-fork-choice.ts";
import { executionBlockOf, type ForkChoiceBlock } from "../fork-choice/types.ts";
import type { InvalidPayloadRejection } from "../import/block-rejection.ts";

interface PayloadVerdictsParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  logger: Logger;
}

/**
 * Applies the execution engine's verdicts on imported blocks to fork choice and the database. Callers must recompute
 * the head afterwards. Calls must not overlap; the chain queues them.
 */
export class PayloadVerdicts {
  readonly #parts: PayloadVerdictsParts;
  /** Messages already logged for each block, because the engine is asked repeatedly. */
  readonly #logged = new Map<RootHex, Set<string>>();

  constructor(parts: PayloadVerdictsParts) {
    this.#parts = parts;
  }

  /** Returns true if the status of any block changed. */
  async apply({ root }: { root: RootHex }, verdict: PayloadVerdict): Promise<boolean> {
    const { forkChoice } = this.#parts;
    const block = forkChoice.get(root);
    // Finality may have pruned the block.
    const payload = block && executionBlockOf(block);
    if (!block || !payload || verdict.status === "optimistic") return false;
    const { blockHash } = payload;
    if (verdict.status === "valid") {
      if (block.execution.status !== "invalid") this.#logged.delete(root);
      return this.#change(block, () => {
        forkChoice.onValidPayload(blockHash);
        return null;
      });
    }
    const { latestValidHash, message } = verdict;
    const { slot } = block;
    const fields = { slot, root, latestValidHash, message };
    this.#logOnce("warn", "Execution engine rejected an imported block", fields);
    return this.#change(block, () => forkChoice.onInvalidPayload(root, latestValidHash));
  }

  /**
   * Reinstates a block that the engine once rejected but now finds valid. Returns true if the status of any block
   * changed.
   */
  async reinstate({ root, slot }: { root: RootHex; slot: Slot }): Promise<boolean> {
    const { forkChoice, logger } = this.#parts;
    if (forkChoice.get(root)?.execution.status !== "invalid") return false;
    logger.notice("Execution engine accepted previously rejected blocks", { slot, root });
    return this.#change({ root }, () => {
      forkChoice.onReinstatedPayload(root);
      return null;
    });
  }

  /** Applies a rejection made during import, which can also invalidate ancestors. */
  async applyRejection(
    root: RootHex,
    { slot, parentRoot, latestValidHash }: InvalidPayloadRejection,
  ): Promise<boolean> {
    const { forkChoice, logger } = this.#parts;
    const isChanged = await this.#change({ root }, () => {
      return forkChoice.onRejectedPayload({ root, parentRoot }, latestValidHash);
    });
    if (isChanged) logger.warn("Invalid payload invalidated ancestor blocks", { slot, root });
    return isChanged;
  }

  async #change({ root }: { root: RootHex }, run: () => ForkChoiceBlock | null): Promise<boolean> {
    const { db, forkChoice } = this.#parts;
    const previousBlocks = new Set(forkChoice.all());
    try {
      const contradicted = run();
      if (contradicted)
        this.#logContradiction(root, `the payload of block ${contradicted.root} is final or was found valid`);
    } catch (error) {
      if (!(error instanceof ForkChoiceError)) throw error;
      this.#logContradiction(root, error.message);
    }
    // A status change replaces the block object.
    const changedBlocks = [...forkChoice.all()].filter((block) => !previousBlocks.has(block));
    if (changedBlocks.length === 0) return false;
    const batch = db.batch();
    for (const block of changedBlocks) if (forkChoice.isHot(block)) putForkChoiceBlock(batch, block);
    await batch.write();
    return true;
  }

  /** Logs a transition that sync/optimistic.md does not define and that only a faulty execution client causes. */
  #logContradiction(root: RootHex, detail: string): void {
    this.#logOnce("error", "Execution client contradicts its earlier payload verdicts; check the client", {
      root,
      detail,
    });
  }

  /** Logs a message once per block, until the block is found valid. */
  #logOnce(level: "warn" | "error", message: string, fields: LogFields & { root: RootHex }): void {
    const { forkChoice, logger } = this.#parts;
    const { root } = fields;
    const messages = this.#logged.get(root) ?? new Set();
    logger[messages.has(message) ? "debug" : level](message, fields);
    messages.add(message);
    for (const loggedRoot of this.#logged.keys()) if (!forkChoice.get(loggedRoot)) this.#logged.delete(loggedRoot);
    this.#logged.set(root, messages);
  }
}
