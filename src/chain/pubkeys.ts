import { availableParallelism } from "node:os";
import type { PublicKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";
import { FlatPubkeys } from "../bls/flat-pubkeys.ts";
import type { KeyMemory } from "../bls/key-memory.ts";
import type { SharedPubkeys } from "../bls/keyed-sets.ts";
import { learnKeys } from "../bls/learn-keys.ts";
import { WorkerPool } from "../bls/worker-pool.ts";
import type { PubkeyFile } from "../db/pubkey-file.ts";
import type { Logger } from "../log/logger.ts";
import { Progress } from "../log/progress.ts";
import { KeptPubkeys } from "./kept-pubkeys.ts";

/** Up to an eighth of a second of decompression, threads and a file are not worth it. */
const MANY_KEYS = 4096;

interface PubkeysParts {
  logger: Logger;
  /** Where many keys are kept; left out where they are not. */
  file?: PubkeyFile;
  /** How many keys are many. */
  manyKeys?: number;
  /** Ends learning. */
  signal?: AbortSignal;
}

export interface PubkeysMoment {
  known: FlatPubkeys;
  size: number;
}

/** The validators of a state, as its views have them. */
interface Validators {
  readonly length: number;
  getAllReadonlyValues(): readonly { pubkey: Uint8Array }[];
}

/**
 * The public keys of all validators, for all states of a chain. They can go back to when there were fewer validators, after whom
 * other ones may come in the places of the later ones.
 */
export class Pubkeys implements SharedPubkeys {
  readonly #parts: PubkeysParts;
  readonly #manyKeys: number;
  readonly #kept: KeptPubkeys | undefined;
  #known = new FlatPubkeys();

  constructor(parts: PubkeysParts) {
    this.#parts = parts;
    this.#manyKeys = parts.manyKeys ?? MANY_KEYS;
    this.#kept = parts.file && new KeptPubkeys(parts.file, parts.logger);
  }

  get size(): number {
    return this.#known.size;
  }

  get memory(): KeyMemory {
    return this.#known.memory;
  }

  get(index: ValidatorIndex): PublicKey | undefined {
    return this.#known.get(index);
  }

  getOrThrow(index: ValidatorIndex): PublicKey {
    return this.#known.getOrThrow(index);
  }

  getIndex(pubkey: Uint8Array): ValidatorIndex | null {
    return this.#known.getIndex(pubkey);
  }

  set(index: ValidatorIndex, pubkey: Uint8Array): void {
    this.#known.set(index, pubkey);
    // What goes wrong with the file is told of where it happens.
    if (this.size >= this.#manyKeys) void this.#kept?.keepUp(this.memory, this.size);
  }

  /**
   * Learns the keys of a state's validators before the state is used, if there are many: from the file what it has of them, the rest
   * by decompressing, in as many threads as there are processors. Few are learned as the state is made ready for use.
   */
  async learn(validators: Validators): Promise<void> {
    if (validators.length - this.size < this.#manyKeys) return;
    const { logger, signal } = this.#parts;
    const [known, kept, from, to] = [this.#known, this.#kept, this.size, validators.length];
    known.memory.reserve(to);
    const recalled = (await kept?.recall(known.memory, from, to)) ?? 0;
    const progress = new Progress({ message: "Learning the validators' public keys", logger });
    const workers = new WorkerPool({ threads: availableParallelism(), logger });
    try {
      const portions = await learnKeys(known, validators.getAllReadonlyValues(), {
        workers,
        onLearned: (count) => progress.report(count, to - from),
        signal,
      });
      for (const portion of portions) await kept?.keep(known.memory, portion.from, portion.to);
      kept?.noteKept(to);
      const made = portions.reduce((sum, portion) => sum + portion.made, 0);
      const unfit = made - (to - from - recalled);
      if (unfit > 0) {
        logger.notice("The file of public keys was not that of these validators", {
          file: this.#parts.file?.path,
          replaced: unfit,
        });
      }
      logger.info("Learned the validators' public keys", { keys: to - from, fromFile: to - from - made });
    } finally {
      await workers.close();
    }
  }

  capture(): PubkeysMoment {
    return { known: this.#known, size: this.size };
  }

  /** Knows from now on what was known at a moment, here or to another one, and the same as that one. */
  restore({ known, size }: PubkeysMoment): void {
    known.truncate(size);
    this.#kept?.forgetFrom(known === this.#known ? size : 0);
    this.#known = known;
  }

  /** Writes what is still to be kept. */
  async close(): Promise<void> {
    if (this.size >= this.#manyKeys) await this.#kept?.finish(this.memory, this.size);
  }
}
