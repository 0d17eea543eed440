import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { resolveState } from "../../src/api/lookup.ts";
import { initialiseDatabase } from "../../src/chain/anchor/anchor.ts";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { DevExecutionEngine } from "../../src/execution/dev-engine.ts";
import { openQuietDevChain } from "../support/chain/dev-chain.ts";
import { openFollower } from "../support/chain/follower.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { SYNCING, VALID } from "../support/execution/scripted-engine.ts";

const HISTORY_SLOTS = 60;

/** An engine without verdicts on payloads from a number on, until it has caught up. */
class LaggingEngine extends DevExecutionEngine {
  knownBelow = Number.POSITIVE_INFINITY;

  override async notifyNewPayload(...payload: Parameters<DevExecutionEngine["notifyNewPayload"]>) {
    const verdict = await super.notifyNewPayload(...payload);
    return payload[1].blockNumber < this.knownBelow ? verdict : SYNCING;
  }

  /** The head is known together with its payload. */
  override async forkchoiceUpdated() {
    return { verdict: this.knownBelow === Number.POSITIVE_INFINITY ? VALID : SYNCING, payloadId: null };
  }
}

it("the verification status of payloads is known for finalized blocks and after a restart", async () => {
  const source = await openQuietDevChain(HISTORY_SLOTS, { validators: 8, forks: [{ fork: "deneb", epoch: 0 }] });
  const { config, chain: followed } = source.devChain;
  const db = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
  onTestFinished(() => db.close());
  await initialiseDatabase(db, config, { state: (await followed.states.genesis())! }, {});
  const engine = new LaggingEngine();
  const open = async () => {
    const chain = await openFollower(db, source.devChain, HISTORY_SLOTS, engine);
    onTestFinished(() => chain.close());
    return chain;
  };
  const follow = async (chain: BeaconChain, from: number, to: number) => {
    for (let slot = from; slot <= to; slot++) {
      await chain.importBlock((await followed.blocks.canonicalAtSlot(slot))!.signed);
    }
  };
  /** Returns the given slots with optimistic blocks. Their states must agree. */
  const optimisticOf = async (chain: BeaconChain, slots: number[]) => {
    const optimistic: number[] = [];
    for (const slot of slots) {
      const block = (await chain.blocks.canonicalAtSlot(slot))!;
      expect((await chain.blocks.positionOf(block.root))!.executionOptimistic).toBe(block.executionOptimistic);
      expect((await resolveState(chain, slot)).executionOptimistic).toBe(block.executionOptimistic);
      if (block.executionOptimistic) optimistic.push(slot);
    }
    return optimistic;
  };
  const first = await open();
  const finalized: [epoch: number, executionOptimistic: boolean][] = [];
  first.events.on("finalized", ({ epoch, executionOptimistic }) => finalized.push([epoch, executionOptimistic]));
  // The payload number equals the slot.
  engine.knownBelow = 20;
  await follow(first, 1, 42);
  expect(first.forkChoice.finalized.epoch).toBe(3);
  expect(finalized.at(-1)).toEqual([3, true]);
  expect(finalized.filter(([epoch]) => epoch < 3).every(([, isOptimistic]) => !isOptimistic)).toBe(true);
  const slots = [0, 1, 19, 20, 24, 30, 42];
  expect(await optimisticOf(first, slots)).toEqual([20, 24, 30, 42]);
  await first.close();

  const second = await open();
  expect(second.status.isOptimistic).toBe(true);
  expect(await optimisticOf(second, slots)).toEqual([20, 24, 30, 42]);
  await follow(second, 43, 50);
  expect(second.forkChoice.finalized.epoch).toBe(4);
  expect(await optimisticOf(second, slots)).toEqual([20, 24, 30, 42]);
  // A valid payload implies valid ancestors.
  engine.knownBelow = Number.POSITIVE_INFINITY;
  await follow(second, 51, 51);
  expect(await optimisticOf(second, [...slots, 51])).toEqual([]);
  await follow(second, 52, HISTORY_SLOTS);
  expect(second.forkChoice.finalized.epoch).toBe(5);
  await second.close();

  engine.knownBelow = 0;
  const third = await open();
  expect(await optimisticOf(third, slots)).toEqual([]);
});
