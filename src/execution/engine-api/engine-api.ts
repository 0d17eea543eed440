import type { ChainForkConfig } from "@lodestar/config";
import {
  type ForkPostBellatrix,
  type ForkPostDeneb,
  isForkPostCapella,
  isForkPostDeneb,
  isForkPostElectra,
  isForkPostFulu,
  isForkPostGloas,
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
  type PayloadBody,
  type PayloadContext,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
  type PooledBlob,
  type PooledCells,
  type TerminalBlockVerdict,
} from "../engine.ts";
import { type JsonValue, toData, toQuantity, UnexpectedValueError } from "../json-value.ts";
import { WaitingTime } from "../waiting-time.ts";
import {
  blobsBundleFromJson,
  blobsFromJson,
  blobsWithCellProofsFromJson,
  cellBits,
  cellsFromJson,
} from "./blobs-json.ts";
import { bodiesByHashFromJson, bodiesByRangeFromJson } from "./bodies-json.ts";
import { CallQueue } from "./call-queue.ts";
import { type CallOutcome, Endpoint, EndpointResponseError, EndpointUnavailableError } from "./endpoint.ts";
import { blockFromJson } from "./execution-block.ts";
import {
  GET_BLOBS,
  GET_BLOBS_WITH_CELL_PROOFS,
  GET_BODIES_BY_HASH,
  GET_BODIES_BY_RANGE,
  GET_CELLS,
  GET_SOME_BLOBS,
  methodsOf,
} from "./methods.ts";
import { payloadFromJson, payloadToJson, withdrawalsToJson } from "./payload-json.ts";
import { requestsFromJson, requestsToJson } from "./requests-json.ts";
import { type BlockReader, findTerminalBlock, judgeTerminalBlock } from "./terminal-block.ts";
import { type ReadVerdict, verdictFromJson } from "./verdict-json.ts";

const UNKNOWN_PAYLOAD = -38001;

/** Result for a head that was superseded before being sent. */
const SUPERSEDED: ForkchoiceUpdate = { verdict: { status: "optimistic" }, payloadId: null };

interface EngineApiOptions {
  /** Engine API URLs in order of preference. */
  urls: readonly string[];
  /** Read again on every connection attempt. */
  jwtSecret(): Uint8Array;
  config: ChainForkConfig;
  /** Expected genesis block hash, if known. */
  genesisBlockHash?: RootHex;
  logger: Logger;
  timers?: Timers;
}

/**
 * Execution engine backed by one or more execution clients. Calls fail over to the next client if one is unreachable,
 * and return to a preferred client as soon as it is back.
 */
export class EngineApi implements ExecutionEngine {
  readonly #config: ChainForkConfig;
  readonly #logger: Logger;
  readonly #endpoints: readonly [Endpoint, ...Endpoint[]];
  readonly #queue = new CallQueue();
  readonly #listeners = new Set<(state: EngineState) => void>();
  readonly #callCounts = new Map<string, Map<CallOutcome, number>>();
  readonly #waiting: WaitingTime;
  #announced: EngineState;
  #active: Endpoint;
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
    if (first === undefined) throw new RangeError("At least one execution client URL is required.");
    this.#endpoints = [first, ...others];
    this.#config = config;
    this.#waiting = new WaitingTime(timers);
    this.#logger = logger;
    this.#active = first;
    this.#announced = first.state;
  }

  /** Performs the handshake with all clients. Unavailable clients are retried in the background. */
  async connect(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.connect()));
    this.#isConnected = true;
    this.#logFailover();
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

  /** Describes how a client's chain differs from ours. Undefined if all clients match. */
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
      this.#withFailover(async (endpoint) => {
        const result = await this.#call(endpoint, newPayload, params, verdictFromJson);
        updateSyncStateFromPayload(endpoint, result);
        return result.verdict;
      }),
    );
  }

  async forkchoiceUpdated(
    fork: ForkPostBellatrix,
    { isBehind, ...state }: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    const { forkchoiceUpdated } = methodsOf(fork);
    // This node announces no custody columns.
    const custodyColumns = isForkPostGloas(fork) ? [null] : [];
    const params = [state, request === undefined ? null : attributesToJson(request), ...custodyColumns];
    const call = () =>
      this.#withFailover(async (endpoint): Promise<ForkchoiceUpdate> => {
        const { result, payloadId } = await this.#call(endpoint, forkchoiceUpdated, params, (json) => ({
          result: verdictFromJson(json.member("payloadStatus")),
          payloadId: readPayloadId(json.member("payloadId")),
        }));
        if (!isBehind) updateSyncState(endpoint, result);
        return { verdict: result.verdict, payloadId: payloadId && this.#qualifiedId(endpoint, payloadId) };
      });
    return request === undefined ? this.#queue.runNewest(call, SUPERSEDED) : this.#queue.run(call);
  }

  async getPayload(fork: ForkPostBellatrix, id: PayloadId): Promise<BuiltPayload> {
    const { getPayload } = methodsOf(fork);
    const { endpoint, payloadId } = this.#findPayload(id);
    try {
      return await this.#call(endpoint, getPayload, [payloadId], (json) => builtPayloadFromJson(fork, json));
    } catch (error) {
      if (!(error instanceof EndpointResponseError) || error.code !== UNKNOWN_PAYLOAD) throw error;
      throw new PayloadUnavailableError(error.message);
    }
  }

  /** A client that lacks these optional methods counts as having no blobs. */
  getBlobs(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]> {
    const { methods, read } = isForkPostFulu(fork)
      ? { methods: [GET_SOME_BLOBS, GET_BLOBS_WITH_CELL_PROOFS], read: blobsWithCellProofsFromJson }
      : { methods: [GET_BLOBS], read: blobsFromJson };
    const params = [versionedHashes.map(toData)];
    return this.#withFailover(async (endpoint) => {
      const method = methods.find((each) => endpoint.supports(each));
      if (method === undefined) return versionedHashes.map(() => null);
      return this.#call(endpoint, method, params, (json) => read(json, versionedHashes.length));
    });
  }

  /** A client that lacks this optional method counts as having no cells. */
  getCells(versionedHashes: readonly Uint8Array[], indices: readonly number[]): Promise<(PooledCells | null)[]> {
    const { length } = versionedHashes;
    return this.#withFailover(async (endpoint) => {
      if (!endpoint.supports(GET_CELLS)) return versionedHashes.map(() => null);
      const params = [versionedHashes.map(toData), toData(cellBits(indices))];
      return this.#call(endpoint, GET_CELLS, params, (json) => cellsFromJson(json, length, indices.length));
    });
  }

  /** A client that lacks this optional method counts as having no payloads. */
  getPayloadBodiesByHash(blockHashes: readonly RootHex[]): Promise<(PayloadBody | null)[]> {
    return this.#withFailover(async (endpoint) => {
      if (!endpoint.supports(GET_BODIES_BY_HASH)) return blockHashes.map(() => null);
      const read = (json: JsonValue) => bodiesByHashFromJson(json, blockHashes.length);
      return this.#call(endpoint, GET_BODIES_BY_HASH, [blockHashes], read);
    });
  }

  /** The result ends with the client's newest block. A client that lacks this optional method has no payloads. */
  getPayloadBodiesByRange(start: number, count: number): Promise<(PayloadBody | null)[]> {
    return this.#withFailover(async (endpoint) => {
      if (!endpoint.supports(GET_BODIES_BY_RANGE)) return [];
      const params = [toQuantity(start), toQuantity(count)];
      return this.#call(endpoint, GET_BODIES_BY_RANGE, params, (json) => bodiesByRangeFromJson(json, count));
    });
  }

  terminalBlock(): Promise<ParentPayload | null> {
    return this.#withFailover((endpoint) => findTerminalBlock(this.#config, this.#blocksOf(endpoint)));
  }

  judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict> {
    return this.#withFailover((endpoint) => judgeTerminalBlock(blockHash, this.#config, this.#blocksOf(endpoint)));
  }

  latestBlock(): Promise<EngineBlock | null> {
    return this.#withFailover((endpoint) => this.#blocksOf(endpoint).byNumber("latest"));
  }

  /** The preferred reachable client. */
  get #current(): Endpoint {
    return this.#endpoints.find(({ state }) => isReachable(state)) ?? this.#endpoints[0];
  }

  async #withFailover<T>(call: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    let failure: EndpointUnavailableError | undefined;
    for (const endpoint of this.#endpoints) {
      try {
        return await call(endpoint);
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
      const message = `${endpoint.origin} returned an invalid response to ${method}: ${error.message}.`;
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

  /** Prefixes a payload id with the client's position, since different clients may use the same id. */
  #qualifiedId(endpoint: Endpoint, payloadId: string): PayloadId {
    return `${this.#endpoints.indexOf(endpoint)}:${payloadId}`;
  }

  #findPayload(id: PayloadId): { endpoint: Endpoint; payloadId: string } {
    const [position, payloadId] = id.split(":");
    const endpoint = this.#endpoints[Number(position)];
    if (endpoint && payloadId) return { endpoint, payloadId };
    throw new PayloadUnavailableError(`Unknown payload id ${id}: no execution client has issued it.`);
  }

  #onStateChange(): void {
    this.#logFailover();
    const { state } = this;
    if (state === this.#announced) return;
    this.#announced = state;
    for (const listener of this.#listeners) listener(state);
  }

  /** Logs a failover. Finding the first client at start-up and losing all clients do not count as failovers. */
  #logFailover(): void {
    const current = this.#current;
    if (!this.#isConnected || current === this.#active || !isReachable(current.state)) return;
    this.#active = current;
    this.#logger.notice("Switched execution client", { url: current.origin });
  }

  #count(method: string, outcome: CallOutcome): void {
    const outcomes = this.#callCounts.get(method) ?? new Map<CallOutcome, number>();
    this.#callCounts.set(method, outcomes);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
}

/** Updates the sync state. ACCEPTED and INVALID heads do not change it. */
function updateSyncState(endpoint: Endpoint, { status }: ReadVerdict): void {
  if (status === "VALID" || status === "SYNCING") endpoint.setSynced(status === "VALID");
}

/** A valid payload may be far behind the head, so it does not end the syncing state. */
function updateSyncStateFromPayload(endpoint: Endpoint, verdict: ReadVerdict): void {
  if (verdict.status !== "VALID" || endpoint.state !== "syncing") updateSyncState(endpoint, verdict);
}

function contextParams(fork: ForkPostBellatrix, context: PayloadContext): unknown[] {
  const { versionedHashes, parentBeaconBlockRoot, executionRequests } = context;
  if (!isForkPostDeneb(fork)) return [];
  if (versionedHashes === undefined || parentBeaconBlockRoot === undefined) {
    throw new TypeError(
      `A ${fork} payload requires the versioned hashes of its blobs and the parent beacon block root.`,
    );
  }
  const params = [versionedHashes.map(toData), toData(parentBeaconBlockRoot)];
  if (!isForkPostElectra(fork)) return params;
  if (executionRequests === undefined) throw new TypeError(`A ${fork} payload requires its execution requests.`);
  return [...params, requestsToJson(executionRequests)];
}

/** Encodes PayloadAttributesV1, V2, V3 or V4, depending on the fork. */
function attributesToJson(request: PayloadRequest): Record<string, unknown> {
  const { fork, slot, timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot } = request;
  return {
    timestamp: toQuantity(timestamp),
    prevRandao: toData(prevRandao),
    suggestedFeeRecipient: toData(feeRecipient),
    ...(isForkPostCapella(fork) && { withdrawals: withdrawalsToJson(withdrawals) }),
    ...(isForkPostDeneb(fork) && { parentBeaconBlockRoot: toData(parentBeaconBlockRoot) }),
    ...(isForkPostGloas(fork) && { slotNumber: toQuantity(slot), targetGasLimit: targetGasLimitToJson(request) }),
  };
}

function targetGasLimitToJson({ fork, targetGasLimit }: PayloadRequest): string {
  if (targetGasLimit === undefined) throw new TypeError(`A payload request of ${fork} requires the target gas limit.`);
  return toQuantity(targetGasLimit);
}

function readPayloadId(json: JsonValue): string | null {
  return json.isAbsent ? null : toData(json.bytes(8));
}

/** A missing value counts as false. */
function readOverride(json: JsonValue): boolean {
  return !json.isAbsent && json.boolean();
}

/** Decodes the result of engine_getPayload. Before capella, the result is the bare payload without a value. */
function builtPayloadFromJson(fork: ForkPostBellatrix, json: JsonValue): BuiltPayload {
  if (!isForkPostCapella(fork)) return { payload: payloadFromJson(fork, json), value: 0n };
  return {
    payload: payloadFromJson(fork, json.member("executionPayload")),
    value: json.member("blockValue").bigint(256),
    ...(isForkPostDeneb(fork) && {
      blobsBundle: blobsBundleFromJson(fork, json.member("blobsBundle")),
      shouldOverrideBuilder: readOverride(json.member("shouldOverrideBuilder")),
    }),
    ...(isForkPostElectra(fork) && { executionRequests: requestsFromJson(fork, json.member("executionRequests")) }),
  };
}
