import type { ChainConfig } from "@lodestar/config";
import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { phase0 } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";
import { JsonRpcClient, JsonRpcRefusal } from "../json-rpc-client.ts";
import type { DepositChain } from "./deposit-chain.ts";
import { DepositReader } from "./deposit-reader.ts";
import { EndpointError, unusableBecause } from "./endpoint-error.ts";
import { Eth1Node } from "./eth1-node.ts";

interface DepositFollowerParts {
  config: ChainConfig;
  /** Nodes of the deposit chain. One after the other is asked when the one before cannot be used. */
  urls: readonly string[];
  deposits: DepositChain;
  /** The time of the beacon chain. */
  nowSeconds(): number;
  logger: Logger;
  timers?: Pick<Timers, "sleep">;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Keeps what is known of the deposit chain level with the chain itself, as far behind it as votes are. */
export class DepositFollower {
  readonly #parts: DepositFollowerParts;
  readonly #nodes: readonly Eth1Node[];
  readonly #reader: DepositReader;
  readonly #closing = new AbortController();
  /** What was last said of each node that could not be used. */
  readonly #troubles = new Map<Eth1Node, string>();
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

  /** Whether a node of the deposit chain could be used the last time. */
  get isConnected(): boolean {
    return this.#current !== undefined;
  }

  /** Follows the chain from now on, whenever it is woken. */
  start(): void {
    this.#loop ??= this.#follow();
  }

  /** Time has passed. */
  wake(): void {
    this.#woken.resolve();
  }

  /** The beacon chain has finalized a state that agrees on this and has all its deposits. */
  finalize(eth1Data: phase0.Eth1Data): void {
    this.#finalized = eth1Data;
    this.wake();
  }

  /** Reads what there is to be read by now, and says whether a node could be used for it. */
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
    let failures = 0;
    try {
      while (!signal.aborted) {
        this.#woken = Promise.withResolvers<void>();
        failures = (await this.update()) ? 0 : failures + 1;
        if (failures === 0) await this.#woken.promise;
        else await timers.sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal);
      }
    } catch (error) {
      if (!signal.aborted) logger.error("The deposit chain is not followed any more", { error });
    }
  }

  /** The node that was of use the last time comes first. */
  async #tryNodes(): Promise<boolean> {
    const { signal } = this.#closing;
    const others = this.#nodes.filter((node) => node !== this.#current);
    for (const node of this.#current ? [this.#current, ...others] : others) {
      try {
        await this.#use(node);
        this.#tellSuccess(node);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof EndpointError || error instanceof JsonRpcRefusal)) throw error;
        this.#tellTrouble(node, error);
      }
    }
    this.#current = undefined;
    return false;
  }

  async #use(node: Eth1Node): Promise<void> {
    const { config, deposits, nowSeconds } = this.#parts;
    if (!this.#checked.has(node)) await this.#check(node);
    this.#checked.add(node);
    // A distance in blocks stands for the time that they take (phase0/validator.md, is_candidate_block).
    const followSeconds = config.SECONDS_PER_ETH1_BLOCK * config.ETH1_FOLLOW_DISTANCE;
    const periodSeconds = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH * config.SECONDS_PER_SLOT;
    const until = nowSeconds() - followSeconds;
    // The candidates of the oldest period that a vote may be in now go back by the same distance again.
    await this.#reader.readFrom(node, { until, votesFrom: until - followSeconds - periodSeconds });
    const finalized = this.#finalized;
    this.#finalized = undefined;
    if (finalized) await deposits.finalize(finalized);
  }

  async #check(node: Eth1Node): Promise<void> {
    const { DEPOSIT_CHAIN_ID, DEPOSIT_CONTRACT_ADDRESS } = this.#parts.config;
    const chainId = await node.chainId();
    if (chainId !== DEPOSIT_CHAIN_ID) {
      throw new EndpointError(`is of the chain ${chainId}, and deposits are made on the chain ${DEPOSIT_CHAIN_ID}`);
    }
    if (!(await node.hasContract())) {
      const address = `0x${Buffer.from(DEPOSIT_CONTRACT_ADDRESS).toString("hex")}`;
      throw new EndpointError(`has no deposit contract at ${address}: it is not synced yet, or of another chain`);
    }
  }

  #tellSuccess(node: Eth1Node): void {
    const { deposits, logger } = this.#parts;
    const isChange = this.#current !== node || this.#troubles.has(node);
    this.#current = node;
    this.#troubles.delete(node);
    if (!isChange) return;
    const { newest, depositCount } = deposits;
    logger.notice(`The deposit chain is followed by the node at ${node.name}`, {
      block: newest?.number,
      hash: newest && toRootHex(newest.hash),
      deposits: depositCount,
    });
  }

  #tellTrouble(node: Eth1Node, error: EndpointError | JsonRpcRefusal): void {
    const message = error instanceof JsonRpcRefusal ? unusableBecause(error) : error.message;
    this.#checked.delete(node);
    if (this.#troubles.get(node) === message) return;
    this.#troubles.set(node, message);
    this.#parts.logger.warn(
      `The node of the deposit chain at ${node.name} ${message}. Mend it, or name another node by --eth1: until then blocks bring no new deposits.`,
    );
  }
}
