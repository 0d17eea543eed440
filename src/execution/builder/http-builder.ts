import { HttpStatusCode, WireFormat } from "@lodestar/api";
import { type ApiClient, getClient } from "@lodestar/api/builder";
import type { ChainForkConfig } from "@lodestar/config";
import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import { parseExecutionPayloadAndBlobsBundle } from "@lodestar/state-transition";
import type { bellatrix, SignedBlindedBeaconBlock } from "@lodestar/types";
import { toPrintableUrl } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { HttpClient } from "../../http-client/http-client.ts";
import { HttpError, messageOf } from "../../http-client/http-error.ts";
import { readBody } from "../../http-client/response.ts";
import type { Logger } from "../../log/logger.ts";
import { type BidRequest, type Builder, BuilderError, type OfferedBid, type RevealedPayload } from "./builder.ts";

interface HttpBuilderOptions {
  url: string;
  config: ChainForkConfig;
  logger: Logger;
  /** How long a bid is waited for. */
  bidTimeoutMs: number;
  timers?: Pick<Timers, "sleep" | "unixNow">;
}

/** A proposer that has signed for a payload has nothing else to wait for in its slot. */
const REVEAL_TIMEOUT_MS = 12_000;
const OTHER_TIMEOUT_MS = 10_000;
/** Above the largest payload together with its blobs, written as JSON. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_REASON_LENGTH = 300;

/** The parts of an answer that do not depend on what was asked. */
interface Answer {
  ok: boolean;
  status: number;
  error(): Error | null;
}

/** A builder that is asked over HTTP. Requests are JSON, which every builder reads; answers are SSZ where it can write that. */
export class HttpBuilder implements Builder {
  readonly #client: ApiClient;
  readonly #http: HttpClient;
  readonly #bidTimeoutMs: number;
  readonly #timers: Pick<Timers, "sleep" | "unixNow">;
  readonly #logger: Logger;
  readonly #printableUrl: string;
  readonly #closing = new AbortController();
  #answers: boolean | undefined;

  constructor({ url, config, logger, bidTimeoutMs, timers = SYSTEM_TIMERS }: HttpBuilderOptions) {
    const globalInit = { requestWireFormat: WireFormat.json };
    // Each request has a deadline of its own.
    this.#http = new HttpClient(url, { headersTimeoutMs: 0, bodyTimeoutMs: 0 });
    const fetch = (...request: Parameters<typeof globalThis.fetch>) => this.#fetch(new Request(...request));
    this.#client = getClient({ baseUrl: url, globalInit, fetch }, { config });
    this.#bidTimeoutMs = bidTimeoutMs;
    this.#timers = timers;
    this.#logger = logger;
    this.#printableUrl = toPrintableUrl(url);
  }

  /** Asks whether the builder is there, for the log alone. */
  async checkStatus(): Promise<void> {
    try {
      await this.#ask(OTHER_TIMEOUT_MS, (init) => this.#client.status(init));
    } catch (error) {
      if (!(error instanceof BuilderError)) throw error;
      const fields = { url: this.#printableUrl, reason: error.message };
      if (error.isRefusal) this.#logger.warn("The builder is not ready", fields);
    }
  }

  async getBid(request: BidRequest): Promise<OfferedBid | null> {
    const headers = {
      "Date-Milliseconds": String(Math.floor(this.#timers.unixNow())),
      "X-Timeout-Ms": String(this.#bidTimeoutMs),
    };
    const answer = await this.#ask(this.#bidTimeoutMs, (init) => this.#client.getHeader(request, { ...init, headers }));
    if (answer.status === HttpStatusCode.NO_CONTENT) return null;
    return read(() => {
      const fork = requireKnown(answer.meta().version);
      const signed = answer.value();
      // A bid of any earlier fork could not have been read.
      return signed === undefined ? null : { fork: fork as ForkPostBellatrix, signed };
    });
  }

  async revealPayload(signed: SignedBlindedBeaconBlock): Promise<RevealedPayload> {
    const answer = await this.#ask(REVEAL_TIMEOUT_MS, (init) =>
      this.#client.submitBlindedBlock({ signedBlindedBlock: { data: signed } }, init),
    );
    return read(() => {
      requireKnown(answer.meta().version);
      return parseExecutionPayloadAndBlobsBundle(answer.value());
    });
  }

  async publishBlock(signed: SignedBlindedBeaconBlock): Promise<void> {
    await this.#ask(REVEAL_TIMEOUT_MS, (init) =>
      this.#client.submitBlindedBlockV2({ signedBlindedBlock: { data: signed } }, init),
    );
  }

  async registerValidators(registrations: bellatrix.SignedValidatorRegistrationV1[]): Promise<void> {
    // The library would send these as SSZ, which some builders cannot tell from broken JSON.
    await this.#ask(OTHER_TIMEOUT_MS, (init) =>
      this.#client.registerValidator({ registrations }, { ...init, requestWireFormat: WireFormat.json }),
    );
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort();
    this.#http.close();
  }

  /** The fetch of the API client. All requests to a builder are idempotent. */
  async #fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const { signal } = request;
    const method = request.method as "GET" | "POST";
    const headers = Object.fromEntries(request.headers);
    const body = Buffer.from(await request.arrayBuffer());
    try {
      const sent = { method, path: `${pathname}${search}`, headers, ...(body.length > 0 && { body }) };
      const response = await this.#http.request(sent, { signal });
      const bytes = await readBody(response.body, MAX_ANSWER_BYTES);
      // The API client would parse the missing body of a response that has a content type.
      if (response.status === HttpStatusCode.NO_CONTENT) return new Response(null, { status: response.status });
      return new Response(bytes, response);
    } catch (error) {
      if (error instanceof HttpError) throw unreadable(`${error.message}.`);
      throw new BuilderError(`The builder cannot be reached: ${messageOf(error)}.`, { cause: error });
    }
  }

  async #ask<A extends Answer>(timeoutMs: number, send: (init: { signal: AbortSignal }) => Promise<A>): Promise<A> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#closing.signal]);
    try {
      const answer = await Promise.race([send({ signal }), this.#deadline(timeoutMs, signal)]);
      this.#noteAnswering();
      if (answer.ok) return answer;
      const reason = answer.error()?.message.slice(0, MAX_REASON_LENGTH);
      throw new BuilderError(`The builder refused the request: ${reason}`, { isRefusal: true });
    } catch (error) {
      if (error instanceof BuilderError && error.isRefusal) throw error;
      if (this.#closing.signal.aborted) throw new BuilderError("The node is being closed.", { cause: error });
      const failure = asBuilderError(error);
      if (failure.isUnreadable) this.#noteAnswering();
      else this.#noteSilent(failure);
      throw failure;
    } finally {
      over.abort();
    }
  }

  async #deadline(ms: number, signal: AbortSignal): Promise<never> {
    await this.#timers.sleep(ms, signal);
    throw new BuilderError(`The builder did not answer within ${ms} ms.`);
  }

  #noteAnswering(): void {
    if (this.#answers === true) return;
    this.#answers = true;
    this.#logger.notice("The builder answers", { url: this.#printableUrl });
  }

  #noteSilent({ message: reason }: BuilderError): void {
    if (this.#answers === false) return;
    this.#answers = false;
    this.#logger.warn("The builder does not answer", { url: this.#printableUrl, reason });
  }
}

function read<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw unreadable(error);
  }
}

/** The library takes names that all objects know, such as "constructor", for forks. */
function requireKnown(fork: ForkName): ForkName {
  if (Object.values(ForkName).includes(fork)) return fork;
  throw new Error(`it is of the fork ${JSON.stringify(fork)}, which is not known.`);
}

function asBuilderError(error: unknown): BuilderError {
  if (error instanceof BuilderError) return error;
  return unreadable(error);
}

function unreadable(error: unknown): BuilderError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BuilderError(`The builder's answer cannot be read: ${reason}`, { isUnreadable: true, cause: error });
}
