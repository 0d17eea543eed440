import type { ForkName } from "../../client/chain-types.ts";
import type { Snapshot } from "../chain-actions.ts";
import type { DevChain, DevChainOptions } from "../dev-chain.ts";
import { startDevChain } from "../start-dev-chain.ts";

/** Prepares a new chain once, before its first test. Every test starts from the prepared state. */
export type ChainSetup<F extends ForkName = ForkName> = (chain: DevChain<F>) => unknown;

/** A kind of chain that tests can share. */
export interface ChainRecipe<F extends ForkName> {
  readonly options: DevChainOptions;
  readonly setup: ChainSetup<F> | undefined;
}

/** A chain reserved for one test. */
export interface ChainLease<F extends ForkName> {
  readonly chain: DevChain<F>;
  /** Reverts the chain to its state before the test, and makes it available to the next test. */
  release(): Promise<void>;
}

/**
 * Chains shared by the tests in a process. Tests with the same recipe take turns using the same chain. Concurrent tests
 * use separate chains.
 */
export class ChainPool {
  readonly #idle = new Map<string, DevChain[]>();
  readonly #running = new Set<DevChain>();
  readonly #functionIds = new Map<unknown, number>();

  async lease<F extends ForkName>(recipe: ChainRecipe<F>): Promise<ChainLease<F>> {
    const idle = this.#idleOf(recipe);
    const chain = idle.pop() ?? (await this.#start(recipe));
    const settings = await clockSettings(chain);
    const snapshot = await chain.snapshot();
    const release = async () => {
      if (await isRestored(chain, snapshot, settings)) {
        idle.push(chain);
        return;
      }
      this.#running.delete(chain);
      await chain.stop();
    };
    // The recipe determines the forks of the chain.
    return { chain: chain as DevChain<F>, release };
  }

  /** Starts a chain before its first use. */
  async prepare<F extends ForkName>(recipe: ChainRecipe<F>): Promise<void> {
    const idle = this.#idleOf(recipe);
    if (idle.length === 0) idle.push(await this.#start(recipe));
  }

  async stop(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    this.#idle.clear();
    await Promise.all(running.map((chain) => chain.stop()));
  }

  async #start<F extends ForkName>({ options, setup }: ChainRecipe<F>): Promise<DevChain> {
    const chain: DevChain = await startDevChain(options);
    // Added before the setup runs, since the setup may never end.
    this.#running.add(chain);
    try {
      await setup?.(chain as DevChain<F>);
    } catch (error) {
      this.#running.delete(chain);
      await chain.stop();
      throw error;
    }
    return chain;
  }

  #idleOf<F extends ForkName>({ options, setup }: ChainRecipe<F>): DevChain[] {
    const key = JSON.stringify([Object.entries(options).sort(), setup], (_key, value: unknown) => {
      if (typeof value === "bigint" || typeof value === "number") return String(value);
      return typeof value === "function" ? this.#idOf(value) : value;
    });
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    return idle;
  }

  #idOf(value: unknown): number {
    const id = this.#functionIds.get(value) ?? this.#functionIds.size;
    this.#functionIds.set(value, id);
    return id;
  }
}

/**
 * Reverts the chain. Returns false if the test stopped the chain, or changed settings that a snapshot does not contain.
 */
async function isRestored(chain: DevChain, snapshot: Snapshot, settings: string): Promise<boolean> {
  try {
    await snapshot.revert();
    return (await clockSettings(chain)) === settings;
  } catch {
    return false;
  }
}

/** Returns the settings that a snapshot does not contain. */
async function clockSettings({ client }: DevChain): Promise<string> {
  const [{ speed }, automine] = await Promise.all([client.getChainTime(), client.anvil_getAutomine()]);
  return JSON.stringify({ speed, automine });
}
