import type { BeaconChain } from "../../chain/chain.ts";
import { isBridgeRetired } from "../../chain/eth1/eth1-vote.ts";
import type { Checkpoint } from "../../chain/fork-choice/types.ts";
import { DepositFollower } from "../../execution/eth1/deposit-follower.ts";
import type { Logger } from "../../log/logger.ts";

interface Eth1ConnectionParts {
  chain: BeaconChain;
  urls: readonly string[];
  logger: Logger;
}

/** Follows the deposit chain until deposits are part of execution payloads (EIP-6110). */
export class Eth1Connection {
  readonly #chain: BeaconChain;
  readonly #follower: DepositFollower;
  readonly #logger: Logger;
  readonly #stopListening: (() => void)[];
  #isRetired = false;
  /** Running task for a finalized checkpoint. */
  #processing: Promise<void> = Promise.resolve();

  static async open(parts: Eth1ConnectionParts): Promise<Eth1Connection> {
    const connection = new Eth1Connection(parts);
    await connection.#onFinalized(parts.chain.forkChoice.finalized);
    if (!connection.#isRetired) connection.#follower.start();
    return connection;
  }

  private constructor({ chain, urls, logger }: Eth1ConnectionParts) {
    this.#chain = chain;
    this.#logger = logger.topic("eth1");
    this.#follower = new DepositFollower({
      config: chain.config,
      urls,
      deposits: chain.eth1.deposits,
      nowSeconds: () => chain.clock.nowSeconds(),
      logger: this.#logger,
    });
    this.#stopListening = [
      chain.clock.onSlot(() => this.#follower.wake()),
      chain.events.on("finalized", (checkpoint) => {
        this.#processing = this.#processing.then(() => this.#onFinalized(checkpoint));
      }),
    ];
  }

  /** Returns true if the last update reached a deposit chain node. */
  get isConnected(): boolean {
    return this.#follower.isConnected;
  }

  /** Fetches new blocks from the deposit chain. Returns false if all nodes are unavailable. */
  update(): Promise<boolean> {
    return this.#follower.update();
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#processing;
  }

  async #stop(): Promise<void> {
    for (const stop of this.#stopListening.splice(0)) stop();
    await this.#follower.close();
  }

  /** Never rejects. */
  async #onFinalized(checkpoint: Checkpoint): Promise<void> {
    try {
      const state = await this.#chain.states.atCheckpoint(checkpoint);
      if (isBridgeRetired(state)) await this.#retire();
      else if (BigInt(state.eth1DepositIndex) >= state.eth1Data.depositCount) {
        this.#follower.finalize(state.eth1Data.toValue());
      }
    } catch (error) {
      this.#logger.warn("Failed to process finalized deposits", { error });
    }
  }

  async #retire(): Promise<void> {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#logger.notice("Deposit chain no longer needed, stopped following it; --eth1 can be removed");
    await this.#stop();
  }
}
