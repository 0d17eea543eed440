import { BeaconStateView } from "@lodestar/state-transition";
import { Stopwatch } from "../support/stopwatch.ts";
import type { PipelineImport } from "./pipeline-import.ts";
import type { RecordedChain } from "./record-chain.ts";

/** Splits the time of an import into non-overlapping parts. */
export class Breakdown {
  readonly #stopwatch = new Stopwatch();
  readonly #restore: (() => void)[];

  constructor({ config }: RecordedChain, { chain, db, engine }: PipelineImport) {
    const { SignedBeaconBlock } = config.getForkTypes(0);
    const watch = this.#stopwatch;
    this.#restore = [
      // The transition overlaps with the verifier's key preparation, so both are one part.
      watch.time(chain.validation.bls, "verify", "transition, signatures"),
      watch.time(chain.states, "afterBlock", "pre-state"),
      watch.time(BeaconStateView.prototype, "computeUnrealizedCheckpoints", "unrealized checkpoints"),
      watch.time(SignedBeaconBlock, "serialize", "serialization"),
      watch.time(chain.forkChoice, "onBlock", "fork choice"),
      watch.time(chain.forkChoice, "onAttestation", "fork choice"),
      watch.time(chain.forkChoice, "updateHead", "fork choice"),
      watch.time(chain.forkChoice, "prune", "fork choice"),
      watch.time(chain.events, "publish", "events"),
      watch.time(engine, "notifyNewPayload", "execution engine"),
      watch.time(engine, "forkchoiceUpdated", "execution engine"),
      this.#timeWrites(db),
    ];
  }

  /** Times the work and its parts. */
  async time(work: () => Promise<void>): Promise<{ milliseconds: number; parts: Map<string, number> }> {
    // Discards time between imports.
    this.#stopwatch.lap();
    const start = performance.now();
    await work();
    return { milliseconds: performance.now() - start, parts: this.#stopwatch.lap() };
  }

  end(): void {
    for (const restore of this.#restore) restore();
  }

  #timeWrites(db: PipelineImport["db"]): () => void {
    const batch = db.batch;
    db.batch = () => {
      const timed = batch.call(db);
      this.#stopwatch.time(timed, "write", "database");
      return timed;
    };
    return () => {
      db.batch = batch;
    };
  }
}
