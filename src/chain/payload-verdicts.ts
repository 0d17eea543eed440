import type { RootHex, Slot } from "@lodestar/types";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { PayloadVerdict } from "../execution/engine.ts";
import type { LogFields, Logger } from "../log/logger.ts";
import { ForkChoiceError } from "./fork-choice/error.ts";
import type { ForkChoice } from "./fork-choice/fork-choice.ts";
import type { ForkChoiceBlock } from "./fork-choice/types.ts";
import type { PayloadRefusal } from "./import/block-rejection.ts";
import { putBlockFacts } from "./stored-fork-choice.ts";

interface PayloadVerdictsParts {
  db: BeaconDb;
  forkChoice: ForkChoice;
  logger: Logger;
}

/**
 * What the execution engine says about blocks that are on the chain: it moves fork choice, and the database remembers it. The
 * head has to be found anew afterwards. Calls must not overlap; the chain queues them.
 */
export class PayloadVerdicts {
  readonly #parts: PayloadVerdictsParts;
  /** What was said of blocks about which the engine is asked again and again. */
  readonly #told = new Map<RootHex, Set<string>>();

  constructor(parts: PayloadVerdictsParts) {
    this.#parts = parts;
  }

  /** Tells whether the status of any block changed. */
  async apply({ root }: { root: RootHex }, verdict: PayloadVerdict): Promise<boolean> {
    const { forkChoice } = this.#parts;
    const block = forkChoice.get(root);
    // Finality may have taken the block out of fork choice since the engine was asked.
    if (!block || block.execution.status === "pre-merge" || verdict.status === "optimistic") return false;
    const { blockHash } = block.execution;
    if (verdict.status === "valid") {
      if (block.execution.status !== "invalid") this.#told.delete(root);
      return this.#change(block, () => {
        forkChoice.onValidPayload(blockHash);
        return null;
      });
    }
    const { latestValidHash, message } = verdict;
    const { slot } = block;
    const fields = { slot, root, latestValidHash, message };
    this.#tellOnce("warn", "The execution engine refuses a block of the chain", fields);
    return this.#change(block, () => forkChoice.onInvalidPayload(root, latestValidHash));
  }

  /** For a block of the chain that the engine refused before, and finds valid now. Tells whether the status of any block changed. */
  async takeBack({ root, slot }: { root: RootHex; slot: Slot }): Promise<boolean> {
    const { forkChoice, logger } = this.#parts;
    if (forkChoice.get(root)?.execution.status !== "invalid") return false;
    logger.notice("The execution engine takes blocks that it refused", { slot, root });
    return this.#change({ root }, () => {
      forkChoice.onTakenBack(root);
      return null;
    });
  }

  /** For a block that was refused for its payload, which may condemn its ancestors too. */
  async applyRefusal(root: RootHex, { slot, parentRoot, latestValidHash }: PayloadRefusal): Promise<boolean> {
    const { forkChoice, logger } = this.#parts;
    const isChanged = await this.#change({ root }, () => {
      return forkChoice.onRefusedPayload({ root, parentRoot }, latestValidHash);
    });
    if (isChanged) logger.warn("Blocks before one that the execution engine refuses fall with it", { slot, root });
    return isChanged;
  }

  async #change({ root }: { root: RootHex }, run: () => ForkChoiceBlock | null): Promise<boolean> {
    const { db, forkChoice } = this.#parts;
    const before = new Set(forkChoice.all());
    try {
      const contradicted = run();
      if (contradicted) this.#complain(root, `the payload of block ${contradicted.root} is final or was found valid`);
    } catch (error) {
      if (!(error instanceof ForkChoiceError)) throw error;
      this.#complain(root, error.message);
    }
    // A change of status makes a new object.
    const changed = [...forkChoice.all()].filter((block) => !before.has(block));
    if (changed.length === 0) return false;
    const batch = db.batch();
    for (const block of changed) if (forkChoice.isHot(block)) putBlockFacts(batch, block);
    await batch.write();
    return true;
  }

  /** Transitions that sync/optimistic.md leaves out: only a faulty execution client brings them about. */
  #complain(root: RootHex, detail: string): void {
    this.#tellOnce("error", "The execution client contradicts itself about payloads; look after it", { root, detail });
  }

  /** Once of each block, until it is found valid. */
  #tellOnce(level: "warn" | "error", message: string, fields: LogFields & { root: RootHex }): void {
    const { forkChoice, logger } = this.#parts;
    const { root } = fields;
    const told = this.#told.get(root) ?? new Set();
    logger[told.has(message) ? "debug" : level](message, fields);
    told.add(message);
    for (const other of this.#told.keys()) if (!forkChoice.get(other)) this.#told.delete(other);
    this.#told.set(root, told);
  }
}
