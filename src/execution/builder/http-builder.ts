import { HttpStatusCode, WireFormat } from "@lodestar/api";
import { type ApiClient, getClient } from "@lodestar/api/builder";
import type { ChainForkConfig } from "@lodestar/config";
import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import { parseExecutionPayloadAndBlobsBundle } from "@lodestar/state-transition";
import {
  type bellatrix,
  type gloas,
  type PubkeyHex,
  type SignedBlindedBeaconBlock,
  type Slot,
  ssz,
} from "@lodestar/types";
import { toHex, toPrintableUrl } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { HttpClient } from "../../http-client/http-client.ts";
import { HttpError, messageOf } from "../../http-client/http-error.ts";
import { readBody } from "../../http-client/response.ts";
import type { Logger } from "../../log/logger.ts";
import {
  type BidRequest,
  type Builder,
  BuilderError,
  type ExecutionBidRequest,
  type OfferedBid,
  type RevealedPayload,
} from "./builder.ts";
import { type BuilderPreferenceEntry, SignedRequestAuth } from "./request-auth.ts";

interface HttpBuilderOptions {
  url: string;
  config: ChainForkConfig;
  logger: Logger;
  /** Timeout for bid requests. */
  bidTimeoutMs: number;
  timers?: Pick<Timers, "sleep" | "unixNow">;
}

/** Spans a whole slot: once a blinded block is signed, this response is all the proposer waits for. */
const REVEAL_TIMEOUT_MS = 12_000;
const OTHER_TIMEOUT_MS = 10_000;
/** Larger than any payload with blobs, encoded as JSON. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const MAX_REASON_LENGTH = 300;

interface PostedRequest {
  /** Determines the fork. */
  slot: Slot;
  body: unknown;
  headers?: Record<string, string>;
  timeoutMs: number;
}

interface PostResponse extends BuilderResponse {
  text: string;
}

/** Members common to all responses. */
interface BuilderResponse {
  ok: boolean;
  status: number;
  error(): Error | null;
}

/**
 * HTTP client for a builder. Requests are JSON, which every builder supports; responses are SSZ if the builder supports
 * it.
 */
export class HttpBuilder implements Builder {
  readonly origin: string;
  readonly #config: ChainForkConfig;
  readonly #client: ApiClient;
  readonly #http: HttpClient;
  readonly #bidTimeoutMs: number;
  readonly #timers: Pick<Timers, "sleep" | "unixNow">;
  readonly #logger: Logger;
  readonly #printableUrl: string;
  readonly #closing = new AbortController();
  #isOnline: boolean | undefined;

  constructor({ url, config, logger, bidTimeoutMs, timers = SYSTEM_TIMERS }: HttpBuilderOptions) {
    this.origin = new URL(url).origin;
    this.#config = config;
    const globalInit = { requestWireFormat: WireFormat.json };
    // Each request has its own deadline.
    this.#http = new HttpClient(url, { headersTimeoutMs: 0, bodyTimeoutMs: 0 });
    const fetch = (...request: Parameters<typeof globalThis.fetch>) => this.#fetch(new Request(...request));
    this.#client = getClient({ baseUrl: url, globalInit, fetch }, { config });
    this.#bidTimeoutMs = bidTimeoutMs;
    this.#timers = timers;
    this.#logger = logger;
    this.#printableUrl = toPrintableUrl(url);
  }

  /** Checks the builder's status and logs a warning if it is not ready. */
  async checkStatus(): Promise<void> {
    try {
      await this.#ask(OTHER_TIMEOUT_MS, (init) => this.#client.status(init));
    } catch (error) {
      if (!(error instanceof BuilderError)) throw error;
      const fields = { url: this.#printableUrl, reason: error.message };
      if (error.isRejection) this.#logger.warn("Builder is not ready", fields);
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
      // A bid for a fork before bellatrix would have failed to decode.
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
    // The library would send SSZ, which some builders reject.
    await this.#ask(OTHER_TIMEOUT_MS, (init) =>
      this.#client.registerValidator({ registrations }, { ...init, requestWireFormat: WireFormat.json }),
    );
  }

  async getExecutionBid(
    { slot, parentHash, parentRoot, proposerPubkey }: ExecutionBidRequest,
    auth: SignedRequestAuth,
  ): Promise<gloas.SignedExecutionPayloadBid | null> {
    const path = `execution_payload_bid/${slot}/${parentHash}/${parentRoot}/${toHex(proposerPubkey)}`;
    const headers = {
      "Date-Milliseconds": String(Math.floor(this.#timers.unixNow())),
      "X-Timeout-Ms": String(this.#bidTimeoutMs),
    };
    const body = SignedRequestAuth.toJson(auth);
    const answer = await this.#post(path, { slot, body, headers, timeoutMs: this.#bidTimeoutMs });
    if (answer.status === HttpStatusCode.NO_CONTENT) return null;
    return read(() => {
      const { data } = JSON.parse(answer.text) as { data: unknown };
      return ssz.gloas.SignedExecutionPayloadBid.fromJson(data);
    });
  }

  async submitBlock(signed: gloas.SignedBeaconBlock): Promise<void> {
    const { slot } = signed.message;
    const body = ssz.gloas.SignedBeaconBlock.toJson(signed);
    await this.#post("beacon_blocks", { slot, body, timeoutMs: REVEAL_TIMEOUT_MS });
  }

  async submitPreferences(
    proposerPubkey: PubkeyHex,
    { auth, maxExecutionPayment }: Pick<BuilderPreferenceEntry, "auth" | "maxExecutionPayment">,
  ): Promise<void> {
    const preferences = { max_execution_payment: maxExecutionPayment.toString() };
    const body = { preferences, auth: SignedRequestAuth.toJson(auth) };
    const slot = Number(auth.message.slot);
    await this.#post(`builder_preferences/${proposerPubkey}`, { slot, body, timeoutMs: OTHER_TIMEOUT_MS });
  }

  /** Sends a request that the API client lacks. */
  #post(path: string, { slot, body, headers, timeoutMs }: PostedRequest): Promise<PostResponse> {
    return this.#ask(timeoutMs, async ({ signal }) => {
      const request = new Request(`${this.origin}/eth/v1/builder/${path}`, {
        method: "POST",
        headers: {
          Accept: "application/json",
          "Content-Type": "application/json",
          "Eth-Consensus-Version": this.#config.getForkName(slot),
          ...headers,
        },
        body: JSON.stringify(body),
        signal,
      });
      const response = await this.#fetch(request);
      const { ok, status } = response;
      const text = await response.text();
      return { ok, status, text, error: () => (ok ? null : new Error(text)) };
    });
  }

  /** Aborts all requests. */
  close(): void {
    this.#closing.abort();
    this.#http.close();
  }

  /** Implements `fetch` for the API client. All requests to a builder are idempotent. */
  async #fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const { signal } = request;
    const method = request.method as "GET" | "POST";
    const headers = Object.fromEntries(request.headers);
    const body = Buffer.from(await request.arrayBuffer());
    try {
      const httpRequest = { method, path: `${pathname}${search}`, headers, ...(body.length > 0 && { body }) };
      const response = await this.#http.request(httpRequest, { signal });
      const bytes = await readBody(response.body, MAX_RESPONSE_BYTES);
      // If the response has a content type, the API client would try to parse the missing body.
      if (response.status === HttpStatusCode.NO_CONTENT) return new Response(null, { status: response.status });
      return new Response(bytes, response);
    } catch (error) {
      if (error instanceof HttpError) throw unreadable(`${error.message}.`);
      throw new BuilderError(`The builder is unreachable: ${messageOf(error)}.`, { cause: error });
    }
  }

  async #ask<A extends BuilderResponse>(
    timeoutMs: number,
    send: (init: { signal: AbortSignal }) => Promise<A>,
  ): Promise<A> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#closing.signal]);
    try {
      const answer = await Promise.race([send({ signal }), this.#deadline(timeoutMs, signal)]);
      this.#markOnline();
      if (answer.ok) return answer;
      const reason = answer.error()?.message.slice(0, MAX_REASON_LENGTH);
      throw new BuilderError(`The builder rejected the request: ${reason}`, { isRejection: true });
    } catch (error) {
      if (error instanceof BuilderError && error.isRejection) throw error;
      if (this.#closing.signal.aborted) throw new BuilderError("The node is shutting down.", { cause: error });
      const failure = asBuilderError(error);
      if (failure.isUnreadable) this.#markOnline();
      else this.#markOffline(failure);
      throw failure;
    } finally {
      over.abort();
    }
  }

  async #deadline(ms: number, signal: AbortSignal): Promise<never> {
    await this.#timers.sleep(ms, signal);
    throw new BuilderError(`The builder did not answer within ${ms} ms.`);
  }

  #markOnline(): void {
    if (this.#isOnline === true) return;
    this.#isOnline = true;
    this.#logger.notice("Builder is online", { url: this.#printableUrl });
  }

  #markOffline({ message: reason }: BuilderError): void {
    if (this.#isOnline === false) return;
    this.#isOnline = false;
    this.#logger.warn("Builder is offline", { url: this.#printableUrl, reason });
  }
}

function read<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw unreadable(error);
  }
}

/** The library also accepts inherited property names, such as "constructor", as forks. */
function requireKnown(fork: ForkName): ForkName {
  if (Object.values(ForkName).includes(fork)) return fork;
  throw new Error(`unknown fork ${JSON.stringify(fork)}.`);
}

function asBuilderError(error: unknown): BuilderError {
  if (error instanceof BuilderError) return error;
  return unreadable(error);
}

function unreadable(error: unknown): BuilderError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BuilderError(`The builder's response cannot be decoded: ${reason}`, { isUnreadable: true, cause: error });
}
