import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { DevNode, type DevNodeOptions } from "../../src/node/dev-node.ts";
import { thrownError } from "../../src/server/jsonrpc/errors.ts";
import type { Caller, MethodTable, Params } from "../../src/server/method-table.ts";
import { ByHand } from "../../test/support/by-hand.ts";
import { inDataDirectory } from "../../test/support/data-directory.ts";
import { methodTable } from "../../test/support/served-api.ts";
import { SignedOperations } from "../../test/support/signed-operations.ts";

/** Everything that would otherwise differ from run to run is fixed. */
const GENESIS_TIME = 1_700_000_000;
const NODE_KEY = new Uint8Array(32).fill(7);
const VALIDATORS = 16;
export const SUBSCRIPTION_ID = "0x5a1d7c0de4b39f62";
/** Stands for a WebSocket client. */
const CALLER: Caller = { subscribe: () => SUBSCRIPTION_ID, unsubscribe: (id) => id === SUBSCRIPTION_ID };

export interface ExampleAnswer {
  result?: unknown;
  error?: unknown;
  meta?: Record<string, unknown>;
}

/** A dev chain with some epochs of history, on which nobody acts any more but the examples. */
export class ExampleChain {
  readonly devChain: DevChain;
  readonly byHand: ByHand;
  readonly operations: SignedOperations;
  /** The slot that the examples are about: the first one after the history. */
  readonly slot: Slot;
  readonly #table: MethodTable;
  readonly #close: () => Promise<void>;

  static async open(forks: readonly ScheduledFork[], historyEpochs: number): Promise<ExampleChain> {
    const directory = mkdtempSync(join(tmpdir(), "fanal-docs-"));
    const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    try {
      await keepNodeKey(directory);
      const maker = await openDevNode(directory, { forks, warmupEpochs: historyEpochs });
      await maker.devChain.warmUp();
      await maker.close();
      const node = await openDevNode(directory, { forks, warmupEpochs: historyEpochs, activeValidators: [] });
      return new ExampleChain(node.devChain, historyEpochs * SLOTS_PER_EPOCH + 1, async () => {
        await node.close();
        remove();
      });
    } catch (error) {
      remove();
      throw error;
    }
  }

  private constructor(devChain: DevChain, slot: Slot, close: () => Promise<void>) {
    this.devChain = devChain;
    this.slot = slot;
    this.byHand = new ByHand(devChain);
    this.operations = new SignedOperations(devChain);
    this.#table = methodTable(devChain.api);
    this.#close = close;
  }

  /** Lets time pass until the slot. */
  async reach(slot: Slot): Promise<void> {
    if (this.devChain.clock.currentSlot < slot) await this.devChain.clock.advanceTo(slot);
  }

  /** What the JSON-RPC door answers to a call. */
  async answer(name: string, params: Params): Promise<ExampleAnswer> {
    const method = this.#table.find(name);
    if (method === undefined) throw new Error(`There is no method ${name}.`);
    try {
      const { body, meta } = await method.call(params, CALLER);
      const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body));
      return { result: JSON.parse(bytes.toString("utf8")), ...(meta ? { meta } : {}) };
    } catch (error) {
      return { error: JSON.parse(JSON.stringify(thrownError(error))) };
    }
  }

  /** The result of a call that must succeed. */
  async result<T>(name: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await this.answer(name, params);
    if (error !== undefined) throw new Error(`${name} answered ${JSON.stringify(error)}.`);
    return result as T;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

type Variation = Pick<DevNodeOptions, "forks" | "warmupEpochs" | "activeValidators">;

function openDevNode(dataDir: string, variation: Variation): Promise<DevNode> {
  // The examples change what is logged; nobody reads the log of a chain that only they use.
  const { logger, setSpec } = createLogger({ format: "text", spec: "ERROR", destination: { write: () => {} } });
  return DevNode.open({
    ...variation,
    dataDir,
    validators: VALIDATORS,
    slotSeconds: 2,
    speed: 1,
    genesisTime: GENESIS_TIME,
    logger,
    setLogSpec: setSpec,
  });
}

function keepNodeKey(dataDir: string): Promise<void> {
  return inDataDirectory(dataDir, async (db) => {
    const batch = db.batch();
    batch.meta.putNodeKey(NODE_KEY);
    await batch.write();
  });
}
