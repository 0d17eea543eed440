import { availableParallelism } from "node:os";
import type { PublicKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";
import { completeKeys } from "../bls/complete-keys.ts";
import { FlatPubkeys } from "../bls/flat-pubkeys.ts";
import type { KeyMemory } from "../bls/key-memory.ts";
import type { SharedPubkeys } from "../bls/keyed-sets.ts";
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
  /** Ends taking up keys. */
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
  #completed: Promise<void> = Promise.resolve();
  readonly #failed = Promise.withResolvers<unknown>();
  #isClosed = false;

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
   * Takes up the keys of a state's validators before the state is used, if there are many. They are decompressed behind everybody's
   * back, unless the file has them. Few are learned as the state is made ready for use.
   */
  async learn(validators: Validators): Promise<void> {
    if (validators.length - this.size < this.#manyKeys) return;
    await this.#known.takeUp(validators.getAllReadonlyValues(), this.#parts.signal);
    this.#kept?.noteKept(this.size);
    this.#completeBehind();
  }

  /** Waits until there is nothing more to decompress, or no more is wanted. */
  idle(): Promise<void> {
    return this.#completed;
  }

  /** Resolves with the reason when keys cannot be decompressed: a `BadPubkeyError` says which of them is none. */
  get failed(): Promise<unknown> {
    return this.#failed.promise;
  }

  capture(): PubkeysMoment {
    return { known: this.#known, size: this.size };
  }

  /** Knows from now on what was known at a moment, here or to another one, and the same as that one. */
  restore({ known, size }: PubkeysMoment): void {
    known.truncate(size);
    if (known === this.#known) {
      this.#kept?.forgetFrom(size);
      return;
    }
    this.#kept?.forgetFrom(0);
    this.#known = known;
    // Whoever began with it does not go on.
    this.#completeBehind();
  }

  /** Ends decompression and writes what is still to be kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#completed;
    if (this.size >= this.#manyKeys) await this.#kept?.finish(this.memory, this.size);
  }

  #completeBehind(): void {
    const known = this.#known;
    const isWanted = () => !this.#isClosed && known === this.#known;
    this.#completed = this.#completed
      .then(() => this.#complete(known, isWanted))
      .catch((error) => this.#failed.resolve(error));
  }

  /** Leaves a processor to the rest of the node. */
  async #complete(known: FlatPubkeys, isWanted: () => boolean): Promise<void> {
    const { logger } = this.#parts;
    const { memory, size } = known;
    const progress = new Progress({ message: "Learning the validators' public keys", logger });
    const threads = Math.max(1, availableParallelism() - 1);
    const workers = new WorkerPool({ threads, isBackground: true, logger });
    const sum = { keys: 0, made: 0, unfit: 0 };
    try {
      await completeKeys(memory, size, {
        workers,
        recall: async (keys, from) => this.#kept?.recall(keys, from),
        onCompleted: async ({ from, to, made, unfit }) => {
          sum.keys += to - from;
          sum.made += made;
          sum.unfit += unfit;
          progress.report(to, size);
          if (made > 0 && known === this.#known) await this.#kept?.keep(memory, from, to);
        },
        isWanted,
      });
    } finally {
      await workers.close();
    }
    if (sum.unfit > 0) {
      logger.notice("The file of public keys was not that of these validators", {
        file: this.#parts.file?.path,
        replaced: sum.unfit,
      });
    }
    if (sum.keys > 0 && isWanted()) {
      logger.info("Learned the validators' public keys", { keys: sum.keys, fromFile: sum.keys - sum.made });
    }
  }
}
