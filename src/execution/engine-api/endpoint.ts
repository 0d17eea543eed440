import type { ChainForkConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { Backoff } from "../../async/backoff.ts";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { CLIENT_CODE, CLIENT_COMMIT, VERSION } from "../../runtime/version.ts";
import { type EngineClientVersion, type EngineState, EngineUnavailableError, isReachable } from "../engine.ts";
import { JsonRpcClient, JsonRpcFailure, JsonRpcResponseError } from "../json-rpc-client.ts";
import { JsonValue, UnexpectedValueError } from "../json-value.ts";
import { createToken } from "./jwt.ts";
import {
  CAPABILITIES,
  EXCHANGE_CAPABILITIES,
  GET_CLIENT_VERSION,
  OPTIONAL_METHODS,
  requiredMethods,
  timeoutMs,
} from "./methods.ts";

/** Short enough that a transient failure does not cause a missed proposal. */
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

/** Hint shown if a client rejects the token. */
export const JWT_SECRET_HINT = "--jwt-secret must name the same file as the execution client's";

/** The client is unreachable, so another client may be used. */
export class EndpointUnavailableError extends EngineUnavailableError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EndpointUnavailableError";
  }
}

/** The client responded with an error. */
export class EndpointResponseError extends EngineUnavailableError {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "EndpointResponseError";
    this.code = code;
  }
}

/** Outcome of a call: a result, an error from the client, a timeout, or no usable response. */
export type CallOutcome = "answered" | "refused" | "timed_out" | "failed";

interface EndpointOptions {
  url: string;
  /** Read again on every connection attempt, since the file may have been fixed. */
  jwtSecret(): Uint8Array;
  config: ChainForkConfig;
  /** Expected genesis block hash, if known. */
  genesisBlockHash?: RootHex;
  timers: Timers;
  logger: Logger;
  onStateChange(): void;
  onCall(method: string, outcome: CallOutcome): void;
}

/** Creates a JSON-RPC client that sends a fresh JWT with every request. */
export function authorizedClient(
  url: string,
  jwtSecret: () => Uint8Array,
  timers: Timers,
  onReconnect?: () => void,
): JsonRpcClient {
  const headers = () => ({ authorization: `Bearer ${createToken(jwtSecret(), timers.unixNow())}` });
  return new JsonRpcClient({ url, headers, timers, onReconnect });
}

/**
 * Connection to one execution client. Derives its state from every response, and reconnects with backoff while it is
 * offline.
 */
export class Endpoint {
  readonly origin: string;
  readonly #options: EndpointOptions;
  readonly #client: JsonRpcClient;
  readonly #closing = new AbortController();
  #jwtSecret: Uint8Array;
  #state: EngineState = "offline";
  /** Reason why the client is unavailable; undefined if it is available. */
  #unavailability: Pick<JsonRpcFailure, "kind" | "message">;
  #clientVersion: EngineClientVersion | null = null;
  /** Null until the client has reported its capabilities. */
  #capabilities: readonly string[] | null = null;
  #wasConnected = false;
  /** Kinds of failures already logged in the current state. Messages of the same kind may vary. */
  readonly #loggedFailures = new Set<JsonRpcFailure["kind"]>();
  #chainMismatch: string | undefined;
  #loggedMissing = "";
  #checking: Promise<boolean> | null = null;
  /** Backoff for each method that has failed and not succeeded since. */
  readonly #backoffs = new Map<string, Backoff>();

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#jwtSecret = options.jwtSecret();
    this.#client = authorizedClient(
      options.url,
      () => this.#jwtSecret,
      options.timers,
      () => this.#onReconnect(),
    );
    this.origin = this.#client.origin;
    this.#unavailability = { kind: "unreachable", message: `${this.origin} has not responded yet.` };
  }

  get state(): EngineState {
    return this.#state;
  }

  get clientVersion(): EngineClientVersion | null {
    return this.#clientVersion;
  }

  /**
   * Describes how the client's chain differs from ours. Undefined if the chains match or the client's chain is unknown.
   */
  get chainMismatch(): string | undefined {
    return this.#chainMismatch;
  }

  /** Returns true if the client supports an optional method, or may support it. */
  supports(method: string): boolean {
    return this.#capabilities?.includes(method) ?? true;
  }

  /** Performs the handshake. An unavailable client is retried in the background. */
  async connect(): Promise<void> {
    if (await this.#handshake()) return;
    void this.#recover();
  }

  close(): void {
    this.#closing.abort();
    this.#client.close();
  }

  /**
   * Calls a method. Rejects with an `EndpointUnavailableError` if the client is unreachable (immediately while it is
   * offline), and with an `EndpointResponseError` if it responds with an error.
   */
  async call(method: string, params: readonly unknown[]): Promise<JsonValue> {
    if (!isReachable(this.#state)) throw new EndpointUnavailableError(this.#unavailability.message);
    try {
      return await this.#ask(method, params);
    } catch (error) {
      if (!(error instanceof JsonRpcFailure)) throw error;
      // A timeout or a failing optional method does not mean that the client is offline. The handshake decides.
      if (error.kind === "timeout" || OPTIONAL_METHODS.includes(method)) void this.#check();
      else this.#onFailure(error, method);
      throw new EndpointUnavailableError(error.message, { cause: error });
    }
  }

  /** Updates the sync state from a verdict on a payload or head. */
  setSynced(isSynced: boolean): void {
    if (isReachable(this.#state)) this.#setState(isSynced ? "synced" : "syncing");
  }

  /** Rejects with an `EndpointResponseError` or a `JsonRpcFailure`. */
  async #ask(method: string, params: readonly unknown[]): Promise<JsonValue> {
    try {
      const result = await this.#client.call(method, params, {
        timeoutMs: timeoutMs(method),
        signal: this.#closing.signal,
      });
      this.#onResponse(method, "answered");
      return new JsonValue(result, "result");
    } catch (error) {
      if (error instanceof JsonRpcResponseError) {
        this.#onResponse(method, "refused");
        throw new EndpointResponseError(error.code, error.message);
      }
      this.#options.onCall(
        method,
        error instanceof JsonRpcFailure && error.kind === "timeout" ? "timed_out" : "failed",
      );
      throw error;
    }
  }

  #onResponse(method: string, outcome: "answered" | "refused"): void {
    this.#backoffs.delete(method);
    this.#options.onCall(method, outcome);
  }

  /** Returns true if the client is reachable and accepts the token. */
  async #handshake(): Promise<boolean> {
    this.#jwtSecret = this.#options.jwtSecret();
    try {
      // Only this call decides. Other calls may fail even though the Engine API works, for example behind a proxy.
      const capabilities = await this.#readable(EXCHANGE_CAPABILITIES, [CAPABILITIES], readTexts);
      const chainId = await this.#optional("eth_chainId", [], (json) => json.number());
      const genesis = await this.#optional("eth_getBlockByNumber", ["0x0", false], readHash);
      this.#clientVersion = await this.#optional(GET_CLIENT_VERSION, [OWN_VERSION], readClientVersion);
      if (!isReachable(this.#state)) this.#setState("online");
      this.#checkChain(chainId, genesis);
      this.#capabilities = capabilities;
      this.#checkCapabilities(capabilities);
      return true;
    } catch (error) {
      if (!(error instanceof JsonRpcFailure)) throw error;
      this.#onFailure(error);
      return false;
    }
  }

  /** Returns null if the client does not support the method or its response is invalid. */
  async #readable<T>(method: string, params: readonly unknown[], read: (json: JsonValue) => T): Promise<T | null> {
    try {
      return read(await this.#ask(method, params));
    } catch (error) {
      if (error instanceof EndpointResponseError || error instanceof UnexpectedValueError) return null;
      throw error;
    }
  }

  /**
   * Like `#readable`, but also returns null if there is no response. The next call shows whether the client has gone
   * offline.
   */
  async #optional<T>(method: string, params: readonly unknown[], read: (json: JsonValue) => T): Promise<T | null> {
    try {
      return await this.#readable(method, params, read);
    } catch (error) {
      if (error instanceof JsonRpcFailure && error.kind !== "ended") return null;
      throw error;
    }
  }

  /** Another client may have taken over the address. */
  #onReconnect(): void {
    // An offline client is checked anyway once it becomes reachable.
    if (isReachable(this.#state)) void this.#check();
  }

  #check(): Promise<boolean> {
    this.#checking ??= this.#handshake().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** Retries the handshake with backoff until the client is back. */
  async #recover(firstMillis = MIN_BACKOFF_MS): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff({ firstMillis, maxMillis: MAX_BACKOFF_MS });
    do {
      await this.#options.timers.sleep(backoff.next(), signal).catch(() => {});
    } while (!signal.aborted && !(await this.#handshake()));
  }

  #onFailure(failure: JsonRpcFailure, method?: string): void {
    const { kind } = failure;
    if (kind === "ended") return;
    const wasReachable = isReachable(this.#state);
    this.#unavailability = failure;
    this.#setState(kind === "unauthorized" ? "unauthorized" : "offline");
    if (wasReachable) void this.#recover(method === undefined ? MIN_BACKOFF_MS : this.#backoffAfter(method));
  }

  /** Doubles the backoff for a client that fails the same method after every reconnect, so its state does not flap. */
  #backoffAfter(method: string): number {
    const backoff =
      this.#backoffs.get(method) ?? new Backoff({ firstMillis: MIN_BACKOFF_MS, maxMillis: MAX_BACKOFF_MS });
    this.#backoffs.set(method, backoff);
    return backoff.next();
  }

  #setState(state: EngineState): void {
    const before = this.#state;
    this.#state = state;
    this.#log(before);
    if (state !== before) this.#options.onStateChange();
  }

  /** Logs state changes, and new kinds of failures while the client is unavailable. */
  #log(before: EngineState): void {
    const { logger } = this.#options;
    const url = this.origin;
    const state = this.#state;
    if (!isReachable(state)) {
      const { kind, message: reason } = this.#unavailability;
      if (state !== before) this.#loggedFailures.clear();
      if (this.#loggedFailures.has(kind)) return;
      this.#loggedFailures.add(kind);
      if (state === "unauthorized") {
        logger.warn(`Execution client rejected the JWT: ${JWT_SECRET_HINT}`, { url });
      } else {
        logger.warn("Execution client is offline", { url, reason });
      }
      return;
    }
    if (!isReachable(before)) {
      const client = this.#clientVersion ? `${this.#clientVersion.name}/${this.#clientVersion.version}` : "unknown";
      logger.notice(this.#wasConnected ? "Execution client reconnected" : "Execution client connected", {
        url,
        client,
      });
      this.#wasConnected = true;
    }
    if (state === before) return;
    if (state === "syncing") logger.info("Execution client is syncing", { url });
    if (state === "synced") logger.info("Execution client is synced", { url });
  }

  #checkChain(chainId: number | null, genesis: RootHex | null): void {
    const { config, genesisBlockHash, logger } = this.#options;
    const expected = config.DEPOSIT_CHAIN_ID;
    const url = this.origin;
    if (this.#chainMismatch !== undefined) return;
    if (chainId !== null && chainId !== expected) {
      this.#chainMismatch = `The execution client ${url} has chain id ${chainId}, but this chain uses chain id ${expected}.`;
      logger.error("Execution client is on another chain: chain id mismatch", {
        url,
        chainId,
        expected,
      });
    } else if (genesis !== null && genesisBlockHash !== undefined && genesis !== genesisBlockHash) {
      this.#chainMismatch = `The execution client ${url} has genesis block ${genesis}, but this chain uses ${genesisBlockHash}.`;
      logger.error("Execution client is on another chain: genesis block mismatch", {
        url,
        genesis,
        expected: genesisBlockHash,
      });
    }
  }

  #checkCapabilities(capabilities: readonly string[] | null): void {
    if (capabilities === null) return;
    const { config, logger } = this.#options;
    const unknown = requiredMethods(config).filter((method) => !capabilities.includes(method));
    const missing = unknown.join(" ");
    if (missing === this.#loggedMissing) return;
    this.#loggedMissing = missing;
    if (missing === "") return;
    logger.warn("Execution client lacks required methods, update it", {
      url: this.origin,
      missing,
    });
  }
}

const OWN_VERSION: EngineClientVersion = {
  code: CLIENT_CODE,
  name: "Fanal",
  version: `v${VERSION}`,
  commit: `0x${CLIENT_COMMIT}`,
};

/** Length limits for self-reported values: two letters, four bytes, and names that fit into a log line. */
const CODE_CHARACTERS = 2;
const COMMIT_CHARACTERS = 10;
const NAME_CHARACTERS = 100;

const readTexts = (json: JsonValue): string[] => json.list().map((item) => item.text());
const readHash = (json: JsonValue): RootHex => toRootHex(json.member("hash").bytes(32));

function readClientVersion(json: JsonValue): EngineClientVersion | null {
  const [first] = json.list();
  if (first === undefined) return null;
  return {
    code: first.member("code").text().slice(0, CODE_CHARACTERS),
    name: first.member("name").text().slice(0, NAME_CHARACTERS),
    version: first.member("version").text().slice(0, NAME_CHARACTERS),
    // Some clients omit the 0x, as do the specification's examples.
    commit: first
      .member("commit")
      .text()
      .replace(/^(?:0x)?/, "0x")
      .slice(0, COMMIT_CHARACTERS),
  };
}
