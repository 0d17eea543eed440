import type { BeaconChain } from "../chain/chain.ts";
import { isBridgeRetired } from "../chain/eth1/eth1-vote.ts";
import type { Checkpoint } from "../chain/fork-choice/types.ts";
import { DepositFollower } from "../execution/eth1/deposit-follower.ts";
import type { Logger } from "../log/logger.ts";

interface Eth1ConnectionParts {
  chain: BeaconChain;
  urls: readonly string[];
  logger: Logger;
}

/** Follows the deposit chain for a beacon chain, for as long as that takes deposits from there. */
export class Eth1Connection {
  readonly #chain: BeaconChain;
  readonly #follower: DepositFollower;
  readonly #logger: Logger;
  readonly #stopListening: (() => void)[];
  #isRetired = false;
  /** What a finalized checkpoint leads to is under way. */
  #noting: Promise<void> = Promise.resolve();

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
        this.#noting = this.#noting.then(() => this.#onFinalized(checkpoint));
      }),
    ];
  }

  /** Whether a node of the deposit chain could be used the last time. */
  get isConnected(): boolean {
    return this.#follower.isConnected;
  }

  /** Reads what there is to be read by now, and says whether a node could be used for it. */
  update(): Promise<boolean> {
    return this.#follower.update();
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.#noting;
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
      this.#logger.warn("What the chain has finalized of the deposit chain could not be taken note of", { error });
    }
  }

  async #retire(): Promise<void> {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#logger.notice(
      "Deposits come with execution payloads now, so the deposit chain is not followed any more: --eth1 can be left out",
    );
    await this.#stop();
  }
}
