import type { ChainForkConfig } from "@lodestar/config";
import {
  type ForkPostBellatrix,
  type ForkPostDeneb,
  isForkPostCapella,
  isForkPostDeneb,
  isForkPostElectra,
  isForkPostFulu,
} from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import {
  type BuiltPayload,
  type EngineBlock,
  type EngineClientVersion,
  type EngineState,
  EngineUnavailableError,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  isReachable,
  type ParentPayload,
  type PayloadContext,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
  type PooledBlob,
  type TerminalBlockVerdict,
} from "../engine.ts";
import { type JsonValue, toData, toQuantity, UnexpectedValueError } from "../json-value.ts";
import { blobsBundleFromJson, blobsFromJson, blobsWithCellProofsFromJson } from "./blobs-json.ts";
import { CallQueue } from "./call-queue.ts";
import { type CallOutcome, Endpoint, EndpointRefusalError, EndpointUnavailableError } from "./endpoint.ts";
import { blockFromJson } from "./execution-block.ts";
import { GET_BLOBS, GET_BLOBS_WITH_CELL_PROOFS, methodsOf } from "./methods.ts";
import { payloadFromJson, payloadToJson, withdrawalsToJson } from "./payload-json.ts";
import { requestsFromJson, requestsToJson } from "./requests-json.ts";
import { type BlockReader, findTerminalBlock, judgeTerminalBlock } from "./terminal-block.ts";
import { type ReadVerdict, verdictFromJson } from "./verdict-json.ts";
import { WaitingTime } from "./waiting-time.ts";

const UNKNOWN_PAYLOAD = -38001;

/** What a head is answered with that was overtaken before the client heard of it. */
const NOT_TOLD: ForkchoiceUpdate = { verdict: { status: "optimistic" }, payloadId: null };

interface EngineApiOptions {
  /** Of the Engine API of each client, the one to be used first. */
  urls: readonly string[];
  /** Asked for whenever a client is looked for. */
  jwtSecret(): Uint8Array;
  config: ChainForkConfig;
  /** Of the chain that the clients must have, where it is known. */
  genesisBlockHash?: RootHex;
  logger: Logger;
  timers?: Timers;
}

/**
 * Execution clients behind the Engine API. Of several, the first that can be asked is asked; when a call fails because it cannot be
 * reached, the next one gets the same call. As soon as an earlier one is back, it is used again.
 */
export class EngineApi implements ExecutionEngine {
  readonly #config: ChainForkConfig;
  readonly #logger: Logger;
  readonly #endpoints: readonly [Endpoint, ...Endpoint[]];
  readonly #queue = new CallQueue();
  readonly #listeners = new Set<(state: EngineState) => void>();
  readonly #callCounts = new Map<string, Map<CallOutcome, number>>();
  readonly #waiting: WaitingTime;
  #told: EngineState;
  #used: Endpoint;
  #isConnected = false;

  constructor({ urls, jwtSecret, config, genesisBlockHash, logger, timers = SYSTEM_TIMERS }: EngineApiOptions) {
    const [first, ...others] = urls.map(
      (url) =>
        new Endpoint({
          url,
          jwtSecret,
          config,
          genesisBlockHash,
          timers,
          logger,
          onStateChange: () => this.#onStateChange(),
          onCall: (method, outcome) => this.#count(method, outcome),
        }),
    );
    if (first === undefined)
      throw new RangeError("An execution engine needs the URL of at least one execution client.");
    this.#endpoints = [first, ...others];
    this.#config = config;
    this.#waiting = new WaitingTime(timers);
    this.#logger = logger;
    this.#used = first;
    this.#told = first.state;
  }

  /** Asks all clients who they are. Those that are not there are looked for in the background. */
  async connect(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.connect()));
    this.#isConnected = true;
    this.#tellUsed();
  }

  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  get state(): EngineState {
    return this.#current.state;
  }

  get clientVersion(): EngineClientVersion | null {
    return this.#current.clientVersion;
  }

  /** Why a client that answered has another chain than this one, as a sentence; undefined if none has. */
  get chainMismatch(): string | undefined {
    return this.#endpoints.find((endpoint) => endpoint.chainMismatch !== undefined)?.chainMismatch;
  }

  onStateChange(listener: (state: EngineState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  callCounts(): [labels: { method: string; outcome: string }, count: number][] {
    return [...this.#callCounts].flatMap(([method, outcomes]) =>
      [...outcomes].map(([outcome, count]): [{ method: string; outcome: string }, number] => [
        { method, outcome },
        count,
      ]),
    );
  }

  waitedMs(): number {
    return this.#waiting.ms;
  }

  async notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict> {
    const { newPayload } = methodsOf(fork);
    const params = [payloadToJson(fork, payload), ...contextParams(fork, context)];
    return this.#queue.run(() =>
      this.#ask(async (endpoint) => {
        const read = await this.#call(endpoint, newPayload, params, verdictFromJson);
        notePayload(endpoint, read);
        return read.verdict;
      }),
    );
  }

  async forkchoiceUpdated(
    fork: ForkPostBellatrix,
    { isBehind, ...state }: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    const { forkchoiceUpdated } = methodsOf(fork);
    const params = [state, request === undefined ? null : attributesToJson(request)];
    const call = () =>
      this.#ask(async (endpoint): Promise<ForkchoiceUpdate> => {
        const { read, payloadId } = await this.#call(endpoint, forkchoiceUpdated, params, (json) => ({
          read: verdictFromJson(json.member("payloadStatus")),
          payloadId: readPayloadId(json.member("payloadId")),
        }));
        if (!isBehind) noteHead(endpoint, read);
        return { verdict: read.verdict, payloadId: payloadId && this.#ownId(endpoint, payloadId) };
      });
    return request === undefined ? this.#queue.runNewest(call, NOT_TOLD) : this.#queue.run(call);
  }

  async getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload> {
    const { getPayload } = methodsOf(fork);
    const { endpoint, payloadId } = this.#findPayload(id);
    try {
      return await this.#call(endpoint, getPayload, [payloadId], (json) => builtPayloadFromJson(fork, json));
    } catch (error) {
      if (!(error instanceof EndpointRefusalError) || error.code !== UNKNOWN_PAYLOAD) throw error;
      throw new PayloadUnavailableError(error.message);
    }
  }

  /** Clients need not know these methods; then they have none of the blobs. */
  getBlobs(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]> {
    const { method, read } = isForkPostFulu(fork)
      ? { method: GET_BLOBS_WITH_CELL_PROOFS, read: blobsWithCellProofsFromJson }
      : { method: GET_BLOBS, read: blobsFromJson };
    const params = [versionedHashes.map(toData)];
    return this.#ask(async (endpoint) => {
      if (!endpoint.offers(method)) return versionedHashes.map(() => null);
      return this.#call(endpoint, method, params, (json) => read(json, versionedHashes.length));
    });
  }

  terminalBlock(): Promise<ParentPayload | null> {
    return this.#ask((endpoint) => findTerminalBlock(this.#config, this.#blocksOf(endpoint)));
  }

  judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict> {
    return this.#ask((endpoint) => judgeTerminalBlock(blockHash, this.#config, this.#blocksOf(endpoint)));
  }

  latestBlock(): Promise<EngineBlock | null> {
    return this.#ask((endpoint) => this.#blocksOf(endpoint).byNumber("latest"));
  }

  /** The one that is asked first. */
  get #current(): Endpoint {
    return this.#endpoints.find(({ state }) => isReachable(state)) ?? this.#endpoints[0];
  }

  async #ask<T>(ask: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    let failure: EndpointUnavailableError | undefined;
    for (const endpoint of this.#endpoints) {
      try {
        return await ask(endpoint);
      } catch (error) {
        if (!(error instanceof EndpointUnavailableError)) throw error;
        failure ??= error;
      }
    }
    throw failure;
  }

  async #call<T>(
    endpoint: Endpoint,
    method: string,
    params: readonly unknown[],
    read: (json: JsonValue) => T,
  ): Promise<T> {
    const json = await this.#waiting.during(() => endpoint.call(method, params));
    try {
      return read(json);
    } catch (error) {
      if (!(error instanceof UnexpectedValueError)) throw error;
      const message = `${endpoint.origin} gave no usable answer to ${method}: ${error.message}.`;
      throw new EngineUnavailableError(message, { cause: error });
    }
  }

  #blocksOf(endpoint: Endpoint): BlockReader {
    return {
      byHash: (hash) => this.#call(endpoint, "eth_getBlockByHash", [hash, false], blockFromJson),
      byNumber: (number) => {
        const tag = number === "latest" ? number : toQuantity(number);
        return this.#call(endpoint, "eth_getBlockByNumber", [tag, false], blockFromJson);
      },
    };
  }

  /** Clients may give equal ids to equal requests, so that an id alone does not tell whose it is. */
  #ownId(endpoint: Endpoint, payloadId: string): PayloadId {
    return `${this.#endpoints.indexOf(endpoint)}:${payloadId}`;
  }

  #findPayload(id: PayloadId): { endpoint: Endpoint; payloadId: string } {
    const [position, payloadId] = id.split(":");
    const endpoint = this.#endpoints[Number(position)];
    if (endpoint && payloadId) return { endpoint, payloadId };
    throw new PayloadUnavailableError(`No execution client has given the payload id ${id}.`);
  }

  #onStateChange(): void {
    this.#tellUsed();
    const { state } = this;
    if (state === this.#told) return;
    this.#told = state;
    for (const listener of this.#listeners) listener(state);
  }

  /** Which one of several answers first at the start means nothing, and while all are away none is used. */
  #tellUsed(): void {
    const current = this.#current;
    if (!this.#isConnected || current === this.#used || !isReachable(current.state)) return;
    this.#used = current;
    this.#logger.notice("Another execution client is used from now on", { url: current.origin });
  }

  #count(method: string, outcome: CallOutcome): void {
    const outcomes = this.#callCounts.get(method) ?? new Map<CallOutcome, number>();
    this.#callCounts.set(method, outcomes);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
}

/** A head that does not lead on from the client's own, or that it refuses, says nothing of how far the client is. */
function noteHead(endpoint: Endpoint, { status }: ReadVerdict): void {
  if (status === "VALID" || status === "SYNCING") endpoint.noteProgress(status === "VALID");
}

/** The same for a payload; and one that is valid may be far behind the head, so that a client that is syncing may be so still. */
function notePayload(endpoint: Endpoint, read: ReadVerdict): void {
  if (read.status !== "VALID" || endpoint.state !== "syncing") noteHead(endpoint, read);
}

function contextParams(fork: ForkPostBellatrix, context: PayloadContext): unknown[] {
  const { versionedHashes, parentBeaconBlockRoot, executionRequests } = context;
  if (!isForkPostDeneb(fork)) return [];
  if (versionedHashes === undefined || parentBeaconBlockRoot === undefined) {
    throw new TypeError(
      `A payload of ${fork} needs the versioned hashes of its blobs and the root of the parent block.`,
    );
  }
  const params = [versionedHashes.map(toData), toData(parentBeaconBlockRoot)];
  if (!isForkPostElectra(fork)) return params;
  if (executionRequests === undefined) throw new TypeError(`A payload of ${fork} needs its execution requests.`);
  return [...params, requestsToJson(executionRequests)];
}

/** PayloadAttributesV1, V2 or V3, whichever the fork has. */
function attributesToJson(request: PayloadRequest): Record<string, unknown> {
  const { fork, timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot } = request;
  return {
    timestamp: toQuantity(timestamp),
    prevRandao: toData(prevRandao),
    suggestedFeeRecipient: toData(feeRecipient),
    ...(isForkPostCapella(fork) && { withdrawals: withdrawalsToJson(withdrawals) }),
    ...(isForkPostDeneb(fork) && { parentBeaconBlockRoot: toData(parentBeaconBlockRoot) }),
  };
}

function readPayloadId(json: JsonValue): string | null {
  return json.isAbsent ? null : toData(json.bytes(8));
}

/** One that leaves out its suggestion makes none. */
function readOverride(json: JsonValue): boolean {
  return !json.isAbsent && json.boolean();
}

/** Before capella the answer is the payload alone, without its value. */
function builtPayloadFromJson(fork: ForkPostBellatrix, json: JsonValue): BuiltPayload {
  if (!isForkPostCapella(fork)) return { payload: payloadFromJson(fork, json), value: 0n };
  return {
    payload: payloadFromJson(fork, json.member("executionPayload")),
    value: json.member("blockValue").bigint(256),
    ...(isForkPostDeneb(fork) && {
      blobsBundle: blobsBundleFromJson(fork, json.member("blobsBundle")),
      shouldOverrideBuilder: readOverride(json.member("shouldOverrideBuilder")),
    }),
    ...(isForkPostElectra(fork) && { executionRequests: requestsFromJson(json.member("executionRequests")) }),
  };
}
