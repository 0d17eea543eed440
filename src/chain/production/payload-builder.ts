import type { BeaconConfig } from "@lodestar/config";
import { toHex, toRootHex } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import {
  type BuiltPayload,
  EngineUnavailableError,
  type ExecutionEngine,
  isReachable,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
} from "../../execution/engine.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import { type Clock, slotMs } from "../clock/clock.ts";
import { type ForkchoiceView, forkchoiceState } from "../forkchoice-state.ts";
import { inTime } from "./in-time.ts";
import { faultOfBlobs, faultOfPayload, isSameRequest, paysAsRequested } from "./payload-check.ts";

/** What the Engine API gives engine_getPayload. */
const GET_PAYLOAD_MS = 1000;
/** What an engine that was asked only now is given to find transactions, and what it may take of a slot, however short. */
const FILLING_MS = 500;
const FILLING_SHARE_OF_SLOT = 1 / 24;
/** For how much of a slot an engine is asked again that could not be asked when a block is proposed, and how often. */
const RETRYING_SHARE_OF_SLOT = 1 / 12;
const RETRIES = 10;
/** For how much of a slot an engine is waited for that does not answer at all: by then the votes of the slot go elsewhere. */
const BEGINNING_SHARE_OF_SLOT = 1 / 3;
/** What it is given in the shortest of slots, which are those of chains that are tried out, on machines that have much to do. */
const LEAST_BEGINNING_MS = 2000;
const NEVER = new AbortController().signal;

interface PayloadBuilderParts {
  config: Pick<BeaconConfig, "getMaxBlobsPerBlock">;
  engine: ExecutionEngine;
  forkChoice: ForkchoiceView;
  clock: Pick<Clock, "secondsPerSlot" | "speed">;
  logger: Logger;
  /** Is told when the engine builds nothing on a head, of which it may have a verdict that the chain does not know. */
  doubtHead?(): void;
  timers?: Pick<Timers, "now" | "sleep">;
}

interface BegunPayload {
  request: PayloadRequest;
  id: Promise<PayloadId | null>;
}

/** Has the execution engine build payloads: ahead of time, and when a block is proposed. */
export class PayloadBuilder {
  readonly #parts: PayloadBuilderParts;
  readonly #timers: Pick<Timers, "now" | "sleep">;
  /** What the engine was last asked to build; null when it did not begin. */
  #begun: BegunPayload | undefined;
  /** What it was last asked to prepare. Requests for other payloads do not replace it. */
  #prepared: BegunPayload | undefined;
  /** What the engine last gave. */
  #given: { request: PayloadRequest; built: BuiltPayload } | undefined;
  readonly #noPreparation: Alarm;
  readonly #noUsablePayload: Alarm;
  readonly #noNewPayload: Alarm;

  constructor(parts: PayloadBuilderParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#noPreparation = new Alarm(parts.logger, {
      raised: "The execution engine prepares no payload for the next slot",
      cleared: "The execution engine prepares payloads again",
    });
    this.#noUsablePayload = new Alarm(parts.logger, {
      raised: "The execution engine gives no usable payload and is asked for another one",
      cleared: "The execution engine gives usable payloads again",
    });
    this.#noNewPayload = new Alarm(parts.logger, {
      raised: "The execution engine gives no payload; the one that it gave before is used",
      cleared: "The execution engine gives payloads again, and none of before has to be used",
    });
  }

  /** Whether it is of use to have payloads prepared. */
  get canPrepare(): boolean {
    const { engine } = this.#parts;
    return engine.buildsAtOnce !== true && isReachable(engine.state);
  }

  /** Has the engine begin with a payload that is likely to be proposed. Never rejects: whoever proposes asks anew. */
  async prepare(request: PayloadRequest): Promise<void> {
    const { logger } = this.#parts;
    const { slot } = request;
    const startedAt = this.#timers.now();
    try {
      const beginning = this.#begin(request, 0);
      this.#prepared = this.#begun;
      const payloadId = await beginning;
      logger.debug("The execution engine prepares a payload", { slot, payloadId, ms: this.#msSince(startedAt) });
      this.#noPreparation.clear({ slot });
    } catch (error) {
      this.#noPreparation.raise({ slot, error });
    }
  }

  /**
   * The payload that was prepared for such a request, or one that the engine begins with now. Rejects with a
   * `PayloadUnavailableError` or an `EngineUnavailableError` when none can be had.
   */
  async build(request: PayloadRequest): Promise<BuiltPayload> {
    const { slot } = request;
    try {
      const built = await this.#fromEngine(request);
      this.#noNewPayload.clear({ slot });
      return built;
    } catch (error) {
      const given = this.#given;
      if (!given || !isSameRequest(given.request, request)) throw error;
      this.#noNewPayload.raise({ slot, error });
      return given.built;
    }
  }

  async #fromEngine(request: PayloadRequest): Promise<BuiltPayload> {
    const { logger } = this.#parts;
    const { slot } = request;
    const startedAt = this.#timers.now();
    const begunBefore = await this.#begunBefore(request, startedAt);
    const id = begunBefore ?? (await this.#beginNow(request, startedAt));
    let built: BuiltPayload;
    try {
      built = await this.#take(request, id);
      this.#noUsablePayload.clear({ slot });
    } catch (error) {
      this.#noUsablePayload.raise({ slot, error });
      built = await this.#take(request, await this.#beginNow(request, this.#timers.now()));
    }
    logger.debug("The execution engine gave a payload", {
      slot,
      isPrepared: begunBefore !== null,
      wei: String(built.value),
      ms: this.#msSince(startedAt),
    });
    return built;
  }

  /** Null when the engine was not asked for such a payload before, or did not begin with it. */
  async #begunBefore(request: PayloadRequest, since: number): Promise<PayloadId | null> {
    const begun = [this.#begun, this.#prepared].find((each) => each && isSameRequest(each.request, request));
    return begun ? this.#inTimeToBegin(request, since, begun.id) : null;
  }

  /** For a payload that is wanted since that moment. An engine that cannot be asked may be back soon after. */
  async #beginNow(request: PayloadRequest, since: number): Promise<PayloadId> {
    const { clock, engine } = this.#parts;
    const fillingMs = engine.buildsAtOnce ? 0 : Math.min(FILLING_MS, slotMs(clock) * FILLING_SHARE_OF_SLOT);
    const retryingMs = slotMs(clock) * RETRYING_SHARE_OF_SLOT;
    for (;;) {
      try {
        return await this.#inTimeToBegin(request, since, this.#begin(request, fillingMs));
      } catch (error) {
        const isTooLate = this.#timers.now() - since >= retryingMs;
        if (!(error instanceof EngineUnavailableError) || isTooLate) throw error;
        await this.#timers.sleep(retryingMs / RETRIES, NEVER);
      }
    }
  }

  async #inTimeToBegin<T>({ slot }: PayloadRequest, since: number, begun: Promise<T>): Promise<T> {
    const { clock, engine } = this.#parts;
    // Such an engine is in this process and keeps nobody waiting.
    if (engine.buildsAtOnce) return begun;
    const ms = Math.max(LEAST_BEGINNING_MS, slotMs(clock) * BEGINNING_SHARE_OF_SLOT);
    const leftMs = Math.max(0, since + ms - this.#timers.now());
    return inTime(this.#timers, leftMs, begun, () => {
      const message = `The execution engine did not begin with a payload for slot ${slot} within ${Math.round(ms)} ms.`;
      return new EngineUnavailableError(message);
    });
  }

  /** It is remembered, so that whoever asks for the same gets what comes of it. */
  #begin(request: PayloadRequest, fillingMs: number): Promise<PayloadId> {
    const id = this.#tellEngine(request, fillingMs);
    this.#begun = { request, id: id.catch(() => null) };
    return id;
  }

  async #tellEngine(request: PayloadRequest, fillingMs: number): Promise<PayloadId> {
    const { engine, forkChoice } = this.#parts;
    const state = forkchoiceState(forkChoice, toRootHex(request.parent.blockHash));
    const { payloadId, verdict } = await engine.forkchoiceUpdated(request.fork, state, request);
    if (payloadId === null) {
      this.#parts.doubtHead?.();
      throw new PayloadUnavailableError(
        `The execution engine builds no payload for slot ${request.slot}: ${whyNothing(verdict)}`,
      );
    }
    if (fillingMs > 0) await this.#timers.sleep(fillingMs, NEVER);
    return payloadId;
  }

  async #take(request: PayloadRequest, id: PayloadId): Promise<BuiltPayload> {
    const { engine } = this.#parts;
    // An answer that comes too late for this call is there for the next one.
    const answer = engine.getPayload(request.fork, id).then((built) => this.#accept(request, built));
    if (engine.buildsAtOnce) return answer;
    return inTime(this.#timers, GET_PAYLOAD_MS, answer, () => {
      const message = `The execution engine did not give its payload for slot ${request.slot} within ${GET_PAYLOAD_MS} ms.`;
      return new EngineUnavailableError(message);
    });
  }

  #accept(request: PayloadRequest, built: BuiltPayload): BuiltPayload {
    const { slot } = request;
    const { payload } = built;
    const fault = faultOfPayload(request, payload) ?? faultOfBlobs(this.#parts.config, request, built.blobsBundle);
    if (fault) throw new EngineUnavailableError(`The execution engine's payload for slot ${slot} is wrong: ${fault}`);
    if (!paysAsRequested(request, payload)) {
      this.#parts.logger.warn("The execution engine's payload pays to another fee recipient than was asked for", {
        slot,
        feeRecipient: toHex(payload.feeRecipient),
      });
    }
    this.#given = { request, built };
    return built;
  }

  #msSince(startedAt: number): number {
    return Math.round(this.#timers.now() - startedAt);
  }
}

function whyNothing(verdict: PayloadVerdict): string {
  switch (verdict.status) {
    case "optimistic":
      return "it is syncing and cannot tell yet whether the block before is valid.";
    case "invalid":
      return `it finds the block before invalid. ${verdict.message}`;
    case "valid":
      return "it finds the block before valid, but did not begin to build on it.";
  }
}
