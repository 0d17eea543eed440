import type { RootHex } from "@lodestar/types";
import { afterEach, describe, expect, it } from "vitest";
import { type BlockWithBlobs, produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { flushPromises } from "../../../test/support/time/fake-timers.ts";
import { type DataSidecar, slotOfSidecar } from "../../data/sidecar.ts";
import { TimeWaiters } from "../clock/time-waiters.ts";
import { Custody } from "./custody.ts";
import { DataPool } from "./data-pool.ts";
import { Reconstruction } from "./reconstruction.ts";

const PATIENCE_SECONDS = 1;

describe("Reconstruction", () => {
  const chain = new TestChain("fulu");
  let reconstruction: Reconstruction;
  afterEach(() => reconstruction.close());

  /** A node with the given custody group count. */
  function open(groupCount: number) {
    let now = 0;
    let recoveries = 0;
    const waiters = new TimeWaiters(() => {});
    const pool = new DataPool();
    const imported = new Set<RootHex>();
    const created: DataSidecar[] = [];
    const logger = createRecordingLogger();
    const custody = new Custody(chain.config, { nodeId: new Uint8Array(32), groupCount });
    const kzg = Object.assign(Object.create(chain.kzg), {
      recover(...args: Parameters<typeof chain.kzg.recover>) {
        recoveries++;
        return chain.kzg.recover(...args);
      },
    });
    reconstruction = new Reconstruction({
      clock: { secondsPerSlot: 12, nowSeconds: () => now, untilTime: (time, signal) => waiters.wait(time, signal) },
      forkChoice: { has: (root) => imported.has(root) },
      data: { pool, custody, kzg },
      sidecars: {
        publishCreated(sidecars) {
          created.push(...sidecars);
          pool.add(positionOf(sidecars), sidecars);
        },
      },
      logger,
    });
    return {
      pool,
      imported,
      custody,
      created,
      logger,
      recoveries: () => recoveries,
      add: (block: BlockWithBlobs, sidecars: readonly DataSidecar[]) =>
        pool.add({ slot: 1, root: block.root }, sidecars),
      async pass(seconds: number): Promise<void> {
        now += seconds;
        waiters.release(now);
        for (let turn = 0; turn < 5; turn++) await flushPromises();
      },
    };
  }
  let block: BlockWithBlobs;
  const positionOf = (sidecars: readonly DataSidecar[]): { slot: number; root: RootHex } => ({
    slot: slotOfSidecar(sidecars[0]!),
    root: block.root,
  });

  it("reconstructs missing columns from half of them, once, after a delay", async () => {
    block = await produceWithBlobs(chain, 1);
    const { pool, created, recoveries, add, pass } = open(128);
    for (const sidecar of block.sidecars.slice(0, 63)) add(block, [sidecar]);
    await pass(12);
    expect(recoveries()).toBe(0);
    add(block, block.sidecars.slice(63, 64));
    await pass(PATIENCE_SECONDS / 2);
    add(block, block.sidecars.slice(100, 101));
    expect(recoveries()).toBe(0);
    await pass(PATIENCE_SECONDS / 2);
    expect(created).toEqual([...block.sidecars.slice(64, 100), ...block.sidecars.slice(101)]);
    expect(pool.all(block.root)).toEqual(block.sidecars);
    expect(recoveries()).toBe(block.blobs.length);

    pool.delete(block.root);
    add(block, block.sidecars.slice(0, 64));
    await pass(12);
    expect(recoveries()).toBe(block.blobs.length);
  });

  it("does nothing if the rest arrives in time or the block is imported", async () => {
    const { imported, created, add, pass } = open(128);
    block = await produceWithBlobs(chain, 2);
    add(block, block.sidecars.slice(64));
    add(block, block.sidecars.slice(0, 64));
    await pass(PATIENCE_SECONDS);
    block = await produceWithBlobs(chain, 3);
    add(block, block.sidecars.slice(64));
    imported.add(block.root);
    await pass(PATIENCE_SECONDS);
    expect(created).toEqual([]);
  });

  it("does nothing with less than half of the columns or without missing ones", async () => {
    block = await produceWithBlobs(chain, 1);
    const small = open(63);
    small.add(block, block.sidecars.slice(0, 100));
    await small.pass(PATIENCE_SECONDS);
    expect(small.created).toEqual([]);

    const half = open(64);
    const { sampled } = half.custody;
    half.add(
      block,
      block.sidecars.filter(({ index }) => sampled.includes(index)),
    );
    await half.pass(PATIENCE_SECONDS);
    expect(half.created).toEqual([]);
  });

  it("logs a failure and does nothing once closed", async () => {
    block = await produceWithBlobs(chain, 1);
    const { created, logger, add, pass } = open(128);
    // These cells do not match the commitments.
    add(
      block,
      block.sidecars.filter(({ index }) => index % 2 === 0),
    );
    await pass(PATIENCE_SECONDS);
    expect(logger.records).toMatchObject([{ level: "warn", message: "Failed to reconstruct columns" }]);

    const closed = open(128);
    closed.add(block, block.sidecars.slice(64));
    reconstruction.close();
    await closed.pass(PATIENCE_SECONDS);
    expect([created, closed.created, closed.recoveries()]).toEqual([[], [], 0]);
  });
});
