import type { ChainConfig } from "@lodestar/config";
import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { phase0 } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { Backoff } from "../../async/backoff.ts";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { JsonRpcClient, JsonRpcResponseError } from "../json-rpc-client.ts";
import type { DepositChain } from "./deposit-chain.ts";
import { DepositReader } from "./deposit-reader.ts";
import { describeFailure, EndpointError } from "./endpoint-error.ts";
import { Eth1Node } from "./eth1-node.ts";

interface DepositFollowerParts {
  config: ChainConfig;
  /** JSON-RPC URLs of the deposit chain in order of preference. If a node fails, the next one is used. */
  urls: readonly string[];
  deposits: DepositChain;
  /** Returns the beacon chain's current time. */
  nowSeconds(): number;
  logger: Logger;
  timers?: Pick<Timers, "sleep">;
}

const MIN_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;

/**
 * Reads blocks and deposits from the deposit chain for eth1 votes. Stays behind the current time by the follow
 * distance.
 */
export class DepositFollower {
  readonly #parts: DepositFollowerParts;
  readonly #nodes: readonly Eth1Node[];
  readonly #reader: DepositReader;
  readonly #closing = new AbortController();
  /** Last logged failure of each node. */
  readonly #loggedFailures = new Map<Eth1Node, string>();
  readonly #checked = new Set<Eth1Node>();
  #current: Eth1Node | undefined;
  #running: Promise<boolean> | undefined;
  #loop: Promise<void> | undefined;
  #woken = Promise.withResolvers<void>();
  #finalized: phase0.Eth1Data | undefined;

  constructor(parts: DepositFollowerParts) {
    const { config, urls, deposits, logger } = parts;
    const { signal } = this.#closing;
    this.#parts = parts;
    this.#nodes = urls.map((url) => new Eth1Node(new JsonRpcClient({ url }), config.DEPOSIT_CONTRACT_ADDRESS, signal));
    this.#reader = new DepositReader({ deposits, logger });
  }

  /** True if the last update succeeded. */
  get isConnected(): boolean {
    return this.#current !== undefined;
  }

  /** Starts following: updates immediately and on each `wake`. Failed updates are retried with backoff. */
  start(): void {
    this.#loop ??= this.#follow();
  }

  /** Triggers an update. */
  wake(): void {
    this.#woken.resolve();
  }

  /**
   * Finalizes deposits. Called when the beacon chain has finalized a state with this eth1 data and all its deposits.
   */
  finalize(eth1Data: phase0.Eth1Data): void {
    this.#finalized = eth1Data;
    this.wake();
  }

  /** Reads new blocks and deposits. Returns false if no node is usable. */
  async update(): Promise<boolean> {
    while (this.#running) await this.#running.catch(() => {});
    this.#running = this.#tryNodes();
    try {
      return await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.wake();
    await this.#loop;
    await this.#running?.catch(() => {});
    for (const node of this.#nodes) node.close();
  }

  async #follow(): Promise<void> {
    const { timers = SYSTEM_TIMERS, logger } = this.#parts;
    const { signal } = this.#closing;
    const backoff = new Backoff({ firstMillis: MIN_BACKOFF_MS, maxMillis: MAX_BACKOFF_MS });
    try {
      while (!signal.aborted) {
        this.#woken = Promise.withResolvers<void>();
        if (await this.update()) {
          backoff.reset();
          await this.#woken.promise;
        } else {
          await timers.sleep(backoff.next(), signal);
        }
      }
    } catch (error) {
      if (!signal.aborted) logger.error("Deposit chain follower stopped", { error });
    }
  }

  /** Starts with the node that was used last. */
  async #tryNodes(): Promise<boolean> {
    const { signal } = this.#closing;
    const otherNodes = this.#nodes.filter((node) => node !== this.#current);
    for (const node of this.#current ? [this.#current, ...otherNodes] : otherNodes) {
      try {
        await this.#use(node);
        this.#onSuccess(node);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof EndpointError || error instanceof JsonRpcResponseError)) throw error;
        this.#onFailure(node, error);
      }
    }
    this.#current = undefined;
    return false;
  }

  async #use(node: Eth1Node): Promise<void> {
    const { config, deposits, nowSeconds } = this.#parts;
    if (!this.#checked.has(node)) await this.#check(node);
    this.#checked.add(node);
    // The follow distance in blocks is converted to time (phase0/validator.md, is_candidate_block).
    const followSeconds = config.SECONDS_PER_ETH1_BLOCK * config.ETH1_FOLLOW_DISTANCE;
    const periodSeconds = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH * config.SECONDS_PER_SLOT;
    const until = nowSeconds() - followSeconds;
    // The candidates for a voting period end `followSeconds` before the period starts and span the length of a period.
    await this.#reader.readFrom(node, { until, votesFrom: until - followSeconds - periodSeconds });
    const finalized = this.#finalized;
    this.#finalized = undefined;
    if (finalized) await deposits.finalize(finalized);
  }

  async #check(node: Eth1Node): Promise<void> {
    const { DEPOSIT_CHAIN_ID, DEPOSIT_CONTRACT_ADDRESS } = this.#parts.config;
    const chainId = await node.chainId();
    if (chainId !== DEPOSIT_CHAIN_ID) {
      throw new EndpointError(`has chain id ${chainId}, expected ${DEPOSIT_CHAIN_ID}`);
    }
    if (!(await node.hasContract())) {
      const address = `0x${Buffer.from(DEPOSIT_CONTRACT_ADDRESS).toString("hex")}`;
      throw new EndpointError(`has no deposit contract at ${address}: it is not synced yet, or on another chain`);
    }
  }

  #onSuccess(node: Eth1Node): void {
    const { deposits, logger } = this.#parts;
    const isChange = this.#current !== node || this.#loggedFailures.has(node);
    this.#current = node;
    this.#loggedFailures.delete(node);
    if (!isChange) return;
    const { newest, depositCount } = deposits;
    logger.notice("Following the deposit chain", {
      node: node.name,
      block: newest?.number,
      hash: newest && toRootHex(newest.hash),
      deposits: depositCount,
    });
  }

  #onFailure(node: Eth1Node, error: EndpointError | JsonRpcResponseError): void {
    const message = error instanceof JsonRpcResponseError ? describeFailure(error) : error.message;
    this.#checked.delete(node);
    if (this.#loggedFailures.get(node) === message) return;
    this.#loggedFailures.set(node, message);
    this.#parts.logger.warn("Deposit chain node is unusable; fix it or add another with --eth1", {
      node: node.name,
      reason: message,
    });
  }
}
