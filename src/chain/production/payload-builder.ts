import type { BeaconConfig } from "@lodestar/config";
import { toHex, toRootHex } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { withTimeout } from "../../async/with-timeout.ts";
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
import { isSameRequest } from "../../execution/payload-request.ts";
import { Alarm } from "../../log/alarm.ts";
import type { Logger } from "../../log/logger.ts";
import { type Clock, slotMs } from "../clock/clock.ts";
import { type ForkchoiceView, forkchoiceState } from "../engine/forkchoice-state.ts";
import { faultOfBlobs, faultOfEncoding, faultOfPayload, paysAsRequested } from "./payload-check.ts";

/** Timeout of engine_getPayload in the Engine API. */
const GET_PAYLOAD_MS = 1000;
/** Time for the engine to collect transactions for an unprepared payload, and its maximum share of a slot. */
const FILLING_MS = 500;
const FILLING_SHARE_OF_SLOT = 1 / 24;
/** Share of a slot that an engine may spend executing transactions if it builds payloads immediately. */
const EXECUTING_SHARE_OF_SLOT = 1 / 6;
/** Share of a slot spent retrying an unavailable engine, and the number of retries. */
const RETRYING_SHARE_OF_SLOT = 1 / 12;
const RETRIES = 10;
/**
 * Timeout for the engine to start building a payload, as a share of a slot: a later block would miss the attestations.
 */
const START_SHARE_OF_SLOT = 1 / 3;
/** Minimum of that timeout, for dev chains with short slots on busy machines. */
const MIN_START_MS = 2000;
const NEVER = new AbortController().signal;

interface PayloadBuilderParts {
  config: Pick<BeaconConfig, "getMaxBlobsPerBlock">;
  engine: ExecutionEngine;
  forkChoice: ForkchoiceView;
  clock: Pick<Clock, "secondsPerSlot" | "speed" | "isFlowing">;
  logger: Logger;
  /** Called if the engine does not build on the head, because the engine may have a verdict that the chain lacks. */
  doubtHead?(): void;
  timers?: Pick<Timers, "now" | "sleep">;
}

interface BegunPayload {
  request: PayloadRequest;
  id: Promise<PayloadId | null>;
}

/** Requests payloads from the execution engine, ahead of time and when a block is proposed. */
export class PayloadBuilder {
  readonly #parts: PayloadBuilderParts;
  readonly #timers: Pick<Timers, "now" | "sleep">;
  /** Latest build request. `id` resolves to null if the engine did not start building. */
  #started: BegunPayload | undefined;
  /** Latest request made by `prepare`. Other requests do not replace it. */
  #prepared: BegunPayload | undefined;
  /** Latest payload from the engine. */
  #latest: { request: PayloadRequest; built: BuiltPayload } | undefined;
  readonly #noPreparation: Alarm;
  readonly #noUsablePayload: Alarm;
  readonly #noNewPayload: Alarm;

  constructor(parts: PayloadBuilderParts) {
    this.#parts = parts;
    this.#timers = parts.timers ?? SYSTEM_TIMERS;
    this.#noPreparation = new Alarm(parts.logger, {
      raised: "Execution engine failed to prepare a payload",
      cleared: "Execution engine prepares payloads again",
    });
    this.#noUsablePayload = new Alarm(parts.logger, {
      raised: "Execution engine returned an unusable payload, requesting another",
      cleared: "Execution engine returns usable payloads again",
    });
    this.#noNewPayload = new Alarm(parts.logger, {
      raised: "Execution engine returned no payload, using the previous one",
      cleared: "Execution engine returns payloads again",
    });
  }

  /** True if the engine supports preparing payloads. */
  get canPrepare(): boolean {
    const { engine } = this.#parts;
    return engine.buildsAtOnce !== true && isReachable(engine.state);
  }

  /**
   * Starts building a payload that will probably be proposed. Never rejects; a failed start is retried when the block
   * is proposed.
   */
  async prepare(request: PayloadRequest): Promise<void> {
    const { logger } = this.#parts;
    const { slot } = request;
    const startedAt = this.#timers.now();
    try {
      const beginning = this.#start(request, 0);
      this.#prepared = this.#started;
      const payloadId = await beginning;
      logger.debug("Execution engine started a payload", { slot, payloadId, ms: this.#msSince(startedAt) });
      this.#noPreparation.clear({ slot });
    } catch (error) {
      this.#noPreparation.raise({ slot, error });
    }
  }

  /**
   * Returns the prepared payload, or has a new one built. Rejects with a `PayloadUnavailableError` or an
   * `EngineUnavailableError`.
   */
  async build(request: PayloadRequest): Promise<BuiltPayload> {
    const { slot } = request;
    try {
      const built = await this.#fromEngine(request);
      this.#noNewPayload.clear({ slot });
      return built;
    } catch (error) {
      const latest = this.#latest;
      if (!latest || !isSameRequest(latest.request, request)) throw error;
      this.#noNewPayload.raise({ slot, error });
      return latest.built;
    }
  }

  async #fromEngine(request: PayloadRequest): Promise<BuiltPayload> {
    const { logger } = this.#parts;
    const { slot } = request;
    const startedAt = this.#timers.now();
    const begunBefore = await this.#startedBefore(request, startedAt);
    const id = begunBefore ?? (await this.#startNow(request, startedAt));
    let built: BuiltPayload;
    try {
      built = await this.#take(request, id);
      this.#noUsablePayload.clear({ slot });
    } catch (error) {
      this.#noUsablePayload.raise({ slot, error });
      built = await this.#take(request, await this.#startNow(request, this.#timers.now()));
    }
    logger.debug("Received payload from execution engine", {
      slot,
      isPrepared: begunBefore !== null,
      wei: String(built.value),
      ms: this.#msSince(startedAt),
    });
    return built;
  }

  /**
   * Returns the ID of a matching payload that is already being built, or null. Payloads from an engine that builds
   * immediately are not reused, because new transactions may have arrived or a snapshot may have been reverted since.
   */
  async #startedBefore(request: PayloadRequest, since: number): Promise<PayloadId | null> {
    if (this.#parts.engine.buildsAtOnce) return null;
    const started = [this.#started, this.#prepared].find((each) => each && isSameRequest(each.request, request));
    return started ? this.#withStartTimeout(request, since, started.id) : null;
  }

  /** Starts building a payload requested at `since`. Keeps retrying an unavailable engine for a while. */
  async #startNow(request: PayloadRequest, since: number): Promise<PayloadId> {
    const { clock, engine } = this.#parts;
    const fillingMs = engine.buildsAtOnce ? 0 : Math.min(FILLING_MS, slotMs(clock) * FILLING_SHARE_OF_SLOT);
    const retryingMs = slotMs(clock) * RETRYING_SHARE_OF_SLOT;
    for (;;) {
      try {
        return await this.#withStartTimeout(request, since, this.#start(request, fillingMs));
      } catch (error) {
        const isTooLate = this.#timers.now() - since >= retryingMs;
        if (!(error instanceof EngineUnavailableError) || isTooLate) throw error;
        await this.#timers.sleep(retryingMs / RETRIES, NEVER);
      }
    }
  }

  async #withStartTimeout<T>({ slot }: PayloadRequest, since: number, started: Promise<T>): Promise<T> {
    const { clock, engine } = this.#parts;
    // The built-in engine responds immediately.
    if (engine.buildsAtOnce) return started;
    const ms = Math.max(MIN_START_MS, slotMs(clock) * START_SHARE_OF_SLOT);
    const leftMs = Math.max(0, since + ms - this.#timers.now());
    return withTimeout(started, leftMs, this.#timers, () => {
      const message = `The execution engine did not start a payload for slot ${slot} within ${Math.round(ms)} ms.`;
      return new EngineUnavailableError(message);
    });
  }

  /** Starts building a payload and remembers it for later requests for the same payload. */
  #start(request: PayloadRequest, fillingMs: number): Promise<PayloadId> {
    const id = this.#requestPayload(request, fillingMs);
    this.#started = { request, id: id.catch(() => null) };
    return id;
  }

  async #requestPayload(request: PayloadRequest, fillingMs: number): Promise<PayloadId> {
    const { clock, engine, forkChoice } = this.#parts;
    const state = forkchoiceState(forkChoice, toRootHex(request.parent.blockHash));
    const isLimited = engine.buildsAtOnce === true && clock.isFlowing;
    const limit = isLimited && { fillingMs: slotMs(clock) * EXECUTING_SHARE_OF_SLOT };
    const { payloadId, verdict } = await engine.forkchoiceUpdated(request.fork, state, { ...request, ...limit });
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
    // A late response is stored for the next call.
    const answer = engine.getPayload(request.fork, id).then((built) => this.#accept(request, built));
    if (engine.buildsAtOnce) return answer;
    return withTimeout(answer, GET_PAYLOAD_MS, this.#timers, () => {
      const message = `The execution engine did not return its payload for slot ${request.slot} within ${GET_PAYLOAD_MS} ms.`;
      return new EngineUnavailableError(message);
    });
  }

  #accept(request: PayloadRequest, built: BuiltPayload): BuiltPayload {
    const { slot } = request;
    const { payload } = built;
    const fault =
      faultOfEncoding(request, built) ??
      faultOfPayload(request, payload) ??
      faultOfBlobs(this.#parts.config, request, built.blobsBundle);
    if (fault) throw new EngineUnavailableError(`The execution engine's payload for slot ${slot} is invalid: ${fault}`);
    if (!paysAsRequested(request, payload)) {
      this.#parts.logger.warn("Execution engine used another fee recipient than requested", {
        slot,
        feeRecipient: toHex(payload.feeRecipient),
      });
    }
    this.#latest = { request, built };
    return built;
  }

  #msSince(startedAt: number): number {
    return Math.round(this.#timers.now() - startedAt);
  }
}

function whyNothing(verdict: PayloadVerdict): string {
  switch (verdict.status) {
    case "optimistic":
      return "it is syncing and has not verified the parent block.";
    case "invalid":
      return `it finds the parent block invalid. ${verdict.message}`;
    case "valid":
      return "it finds the parent block valid, but did not start to build.";
  }
}
