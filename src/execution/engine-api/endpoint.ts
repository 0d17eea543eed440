import type { ChainForkConfig } from "@lodestar/config";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { CLIENT_CODE, CLIENT_COMMIT, VERSION } from "../../runtime/version.ts";
import { type EngineClientVersion, type EngineState, EngineUnavailableError, isReachable } from "../engine.ts";
import { JsonRpcClient, JsonRpcFailure, JsonRpcRefusal } from "../json-rpc-client.ts";
import { JsonValue, UnexpectedValueError } from "../json-value.ts";
import { createToken } from "./jwt.ts";
import {
  CAPABILITIES,
  EXCHANGE_CAPABILITIES,
  GET_CLIENT_VERSION,
  neededMethods,
  OPTIONAL_METHODS,
  timeoutMs,
} from "./methods.ts";

/** Short, so that a failure in passing costs no proposal. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** What to ask oneself when a client refuses the token. */
export const IS_SECRET_SHARED = "does --jwt-secret name the same file as the execution client's?";

/** The client itself could not be asked, so that another may be. */
export class EndpointUnavailableError extends EngineUnavailableError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EndpointUnavailableError";
  }
}

/** The client answered with an error. */
export class EndpointRefusalError extends EngineUnavailableError {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "EndpointRefusalError";
    this.code = code;
  }
}

/** How a call ended: with a result, with an error of the client, too late, or without a usable answer. */
export type CallOutcome = "answered" | "refused" | "timed_out" | "failed";

interface EndpointOptions {
  url: string;
  /** Asked for whenever the client is looked for: it may have been mended meanwhile. */
  jwtSecret(): Uint8Array;
  config: ChainForkConfig;
  /** Of the chain that the client must have, where it is known. */
  genesisBlockHash?: RootHex;
  timers: Timers;
  logger: Logger;
  onStateChange(): void;
  onCall(method: string, outcome: CallOutcome): void;
}

export function authorizedClient(
  url: string,
  jwtSecret: () => Uint8Array,
  timers: Timers,
  onReconnect?: () => void,
): JsonRpcClient {
  const headers = () => ({ authorization: `Bearer ${createToken(jwtSecret(), timers.unixNow())}` });
  return new JsonRpcClient({ url, headers, timers, onReconnect });
}

/** One execution client. It notices from every answer how the client is, and looks after one that is away until it is back. */
export class Endpoint {
  readonly origin: string;
  readonly #options: EndpointOptions;
  readonly #client: JsonRpcClient;
  readonly #closing = new AbortController();
  #jwtSecret: Uint8Array;
  #state: EngineState = "offline";
  /** Why the client cannot be asked, as far as it cannot. */
  #absence: Pick<JsonRpcFailure, "kind" | "message">;
  #clientVersion: EngineClientVersion | null = null;
  /** Null while the client has not told them. */
  #capabilities: readonly string[] | null = null;
  #wasConnected = false;
  /** The kinds of reasons that were told since the client is in this state: the words of one kind may be others each time. */
  readonly #toldOfAbsence = new Set<JsonRpcFailure["kind"]>();
  #chainMismatch: string | undefined;
  #toldMissing = "";
  #checking: Promise<boolean> | null = null;
  /** After which the client was looked for when it last failed in a method that it has not answered since. */
  readonly #pausesMs = new Map<string, number>();

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
    this.#absence = { kind: "unreachable", message: `${this.origin} has not answered yet.` };
  }

  get state(): EngineState {
    return this.#state;
  }

  get clientVersion(): EngineClientVersion | null {
    return this.#clientVersion;
  }

  /** Why the client has another chain than this one, as a sentence; undefined if it has not, as far as it has told. */
  get chainMismatch(): string | undefined {
    return this.#chainMismatch;
  }

  /** Whether the client knows a method that it need not know, as far as it has told. */
  offers(method: string): boolean {
    return this.#capabilities?.includes(method) ?? true;
  }

  /** Asks the client who it is. While it is not there, it is asked again and again in the background. */
  async connect(): Promise<void> {
    if (await this.#shakeHands()) return;
    void this.#recover();
  }

  close(): void {
    this.#closing.abort();
    this.#client.close();
  }

  /**
   * The result. Rejects with an `EndpointUnavailableError` when the client cannot be asked, at once while it is away, and with an
   * `EndpointRefusalError` when it answers with an error.
   */
  async call(method: string, params: readonly unknown[]): Promise<JsonValue> {
    if (!isReachable(this.#state)) throw new EndpointUnavailableError(this.#absence.message);
    try {
      return await this.#ask(method, params);
    } catch (error) {
      if (!(error instanceof JsonRpcFailure)) throw error;
      // One that is slow with a large payload, or has no blobs to give, need not be away: a simple question shows whether it is.
      if (error.kind === "timeout" || OPTIONAL_METHODS.includes(method)) void this.#check();
      else this.#noteFailure(error, method);
      throw new EndpointUnavailableError(error.message, { cause: error });
    }
  }

  /** What a verdict on a payload or on a head says of how far the client is. */
  noteProgress(isSynced: boolean): void {
    if (isReachable(this.#state)) this.#setState(isSynced ? "synced" : "syncing");
  }

  /** Rejects with an `EndpointRefusalError` or a `JsonRpcFailure`. */
  async #ask(method: string, params: readonly unknown[]): Promise<JsonValue> {
    try {
      const result = await this.#client.call(method, params, {
        timeoutMs: timeoutMs(method),
        signal: this.#closing.signal,
      });
      this.#noteAnswer(method, "answered");
      return new JsonValue(result, "result");
    } catch (error) {
      if (error instanceof JsonRpcRefusal) {
        this.#noteAnswer(method, "refused");
        throw new EndpointRefusalError(error.code, error.message);
      }
      this.#options.onCall(
        method,
        error instanceof JsonRpcFailure && error.kind === "timeout" ? "timed_out" : "failed",
      );
      throw error;
    }
  }

  #noteAnswer(method: string, outcome: "answered" | "refused"): void {
    this.#pausesMs.delete(method);
    this.#options.onCall(method, outcome);
  }

  /** Whether the client is there and takes this node's token. */
  async #shakeHands(): Promise<boolean> {
    this.#jwtSecret = this.#options.jwtSecret();
    try {
      // By this question alone it is found out: those that follow may fail where all else works, as behind a proxy.
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
      this.#noteFailure(error);
      return false;
    }
  }

  /** Null when the client does not know the method or its answer cannot be read; it is there all the same. */
  async #readable<T>(method: string, params: readonly unknown[], read: (json: JsonValue) => T): Promise<T | null> {
    try {
      return read(await this.#ask(method, params));
    } catch (error) {
      if (error instanceof EndpointRefusalError || error instanceof UnexpectedValueError) return null;
      throw error;
    }
  }

  /** The same, and null also when there is no answer; whether the client has gone meanwhile is told by what it is asked next. */
  async #optional<T>(method: string, params: readonly unknown[], read: (json: JsonValue) => T): Promise<T | null> {
    try {
      return await this.#readable(method, params, read);
    } catch (error) {
      if (error instanceof JsonRpcFailure && error.kind !== "ended") return null;
      throw error;
    }
  }

  /** Another client may have taken the place of the one that was asked who it is. */
  #onReconnect(): void {
    // One that was away is asked as soon as it is found.
    if (isReachable(this.#state)) void this.#check();
  }

  #check(): Promise<boolean> {
    this.#checking ??= this.#shakeHands().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** Asks until the client is there again, less and less often. */
  async #recover(firstPauseMs = FIRST_PAUSE_MS): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      try {
        await this.#options.timers.sleep(pauseMs, signal);
      } catch {
        return;
      }
      if (await this.#shakeHands()) return;
      pauseMs = longer(pauseMs);
    }
  }

  #noteFailure(failure: JsonRpcFailure, method?: string): void {
    const { kind } = failure;
    if (kind === "ended") return;
    const wasReachable = isReachable(this.#state);
    this.#absence = failure;
    this.#setState(kind === "unauthorized" ? "unauthorized" : "offline");
    if (wasReachable) void this.#recover(method === undefined ? FIRST_PAUSE_MS : this.#pauseAfter(method));
  }

  /** One that fails in the same method as soon as it is back would come and go for ever, so that it is left alone for longer each time. */
  #pauseAfter(method: string): number {
    const before = this.#pausesMs.get(method);
    const pauseMs = before === undefined ? FIRST_PAUSE_MS : longer(before);
    this.#pausesMs.set(method, pauseMs);
    return pauseMs;
  }

  #setState(state: EngineState): void {
    const before = this.#state;
    this.#state = state;
    this.#tell(before);
    if (state !== before) this.#options.onStateChange();
  }

  /** One line a change; the first state that is found is one, too, and so is another reason for which the client is away. */
  #tell(before: EngineState): void {
    const { logger } = this.#options;
    const url = this.origin;
    const state = this.#state;
    if (!isReachable(state)) {
      const { kind, message: reason } = this.#absence;
      if (state !== before) this.#toldOfAbsence.clear();
      if (this.#toldOfAbsence.has(kind)) return;
      this.#toldOfAbsence.add(kind);
      if (state === "unauthorized") {
        logger.warn(`The execution client refuses the token: ${IS_SECRET_SHARED}`, { url });
      } else {
        logger.warn("The execution client is offline", { url, reason });
      }
      return;
    }
    if (!isReachable(before)) {
      const client = this.#clientVersion ? `${this.#clientVersion.name}/${this.#clientVersion.version}` : "unknown";
      logger.notice(this.#wasConnected ? "The execution client is back" : "The execution client is connected", {
        url,
        client,
      });
      this.#wasConnected = true;
    }
    if (state === before) return;
    if (state === "syncing") logger.info("The execution client is syncing", { url });
    if (state === "synced") logger.info("The execution client is synced", { url });
  }

  #checkChain(chainId: number | null, genesis: RootHex | null): void {
    const { config, genesisBlockHash, logger } = this.#options;
    const expected = config.DEPOSIT_CHAIN_ID;
    const url = this.origin;
    if (this.#chainMismatch !== undefined) return;
    if (chainId !== null && chainId !== expected) {
      this.#chainMismatch = `The execution client ${url} has chain id ${chainId}, but this chain was made for chain id ${expected}.`;
      logger.error("The execution client is of another chain: its chain id is not that of this network", {
        url,
        chainId,
        expected,
      });
    } else if (genesis !== null && genesisBlockHash !== undefined && genesis !== genesisBlockHash) {
      this.#chainMismatch = `The execution client ${url} has genesis block ${genesis}, but this chain was made for ${genesisBlockHash}.`;
      logger.error("The execution client is of another chain: its genesis block is not that of this network", {
        url,
        genesis,
        expected: genesisBlockHash,
      });
    }
  }

  #checkCapabilities(capabilities: readonly string[] | null): void {
    if (capabilities === null) return;
    const { config, logger } = this.#options;
    const unknown = neededMethods(config).filter((method) => !capabilities.includes(method));
    const missing = unknown.join(" ");
    if (missing === this.#toldMissing) return;
    this.#toldMissing = missing;
    if (missing === "") return;
    logger.warn("The execution client does not know methods that this chain needs: update it", {
      url: this.origin,
      missing,
    });
  }
}

const longer = (pauseMs: number): number => Math.min(2 * pauseMs, LONGEST_PAUSE_MS);

const OWN_VERSION: EngineClientVersion = {
  code: CLIENT_CODE,
  name: "Fanal",
  version: `v${VERSION}`,
  commit: `0x${CLIENT_COMMIT}`,
};

/** What is kept of how a client names itself: two letters, four bytes, and names that fit into a line. */
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
    // Some clients leave out the 0x, as the examples of the specification do.
    commit: first
      .member("commit")
      .text()
      .replace(/^(?:0x)?/, "0x")
      .slice(0, COMMIT_CHARACTERS),
  };
}
