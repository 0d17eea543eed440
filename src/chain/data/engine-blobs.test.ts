import { toRootHex } from "@lodestar/utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BlockWithBlobs, produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { ScriptedEngine } from "../../../test/support/execution/scripted-engine.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { flushPromises } from "../../../test/support/time/fake-timers.ts";
import { commitmentsOf } from "../../data/commitments.ts";
import type { DataSidecar } from "../../data/sidecar.ts";
import { versionedHashesOf } from "../../execution/engine.ts";
import { ChainEvents } from "../events.ts";
import type { BlockWithCommitments } from "./block-with-commitments.ts";
import { Custody } from "./custody.ts";
import { DataPool } from "./data-pool.ts";
import { EngineBlobs } from "./engine-blobs.ts";

describe.each(["deneb", "fulu"] as const)("%s blobs from the execution client", (fork) => {
  let chain: TestChain;
  let engine: ScriptedEngine;
  let pool: DataPool;
  let events: ChainEvents;
  let created: DataSidecar[];
  let engineBlobs: EngineBlobs;
  let block: BlockWithBlobs;
  let wanted: DataSidecar[];
  let own: string | undefined;
  let onAwaited: (block: BlockWithCommitments, missing: readonly number[]) => void;
  const logger = createRecordingLogger();

  beforeEach(async () => {
    chain = new TestChain(fork);
    engine = new ScriptedEngine();
    pool = new DataPool();
    events = new ChainEvents(logger);
    created = [];
    own = undefined;
    const custody = new Custody(chain.config, { nodeId: new Uint8Array(32), groupCount: 4 });
    engineBlobs = new EngineBlobs({
      config: chain.config,
      engine,
      forkChoice: chain.forkChoice,
      data: {
        pool,
        custody,
        kzg: chain.kzg,
        hasColumns: () => fork === "fulu",
        onAwaited(listener) {
          onAwaited = listener;
          return () => {};
        },
      },
      sidecars: { publishCreated: (sidecars) => void created.push(...sidecars) },
      events,
      isOwn: (root) => root === own,
      logger,
    });
    block = await produceWithBlobs(chain, 1, { count: 3 });
    wanted = fork === "fulu" ? block.sidecars.filter(({ index }) => custody.sampled.includes(index)) : block.sidecars;
  });
  afterEach(() => {
    engineBlobs.close();
    return chain.close();
  });

  /** Adds transactions carrying these blobs to the client. */
  function give(indices: readonly number[]): void {
    const hashes = versionedHashesOf(commitmentsOf(block.signed));
    for (const index of indices) engine.blobs.set(toRootHex(hashes[index]!), block.pooled[index]!);
  }
  async function gossip({ signed, root }: BlockWithBlobs = block): Promise<void> {
    events.publish("blockGossip", { slot: signed.message.slot, root, signed });
    for (let turn = 0; turn < 5; turn++) await flushPromises();
  }

  it("become the missing sidecars", async () => {
    give([0, 1, 2]);
    pool.add({ slot: 1, root: block.root }, wanted.slice(0, 1));
    await gossip();
    expect(created).toEqual(wanted.slice(1));
    expect(engine.blobQuestions).toBe(1);
  });

  it("are requested once, whatever the response", async () => {
    await gossip();
    give([0, 1, 2]);
    await gossip();
    onAwaited(block, []);
    expect(created).toEqual([]);
    expect(engine.blobQuestions).toBe(1);
  });

  it("count individually before Fulu, only all together from Fulu on", async () => {
    give([0, 2]);
    await gossip();
    expect(created).toEqual(fork === "fulu" ? [] : [block.sidecars[0], block.sidecars[2]]);
  });

  it("are requested for a waiting block from another source", async () => {
    give([0, 1, 2]);
    onAwaited(block, []);
    for (let turn = 0; turn < 5; turn++) await flushPromises();
    expect(created).toEqual(wanted);
  });

  it("are not requested if there are none or none missing, for own blocks, or if the client is offline", async () => {
    await gossip(await produceWithBlobs(chain, 1, { count: 0 }));
    own = block.root;
    await gossip();
    own = undefined;
    engine.enter("offline");
    await gossip();
    engine.enter("synced");
    pool.add({ slot: 1, root: block.root }, wanted);
    await gossip();
    expect(engine.blobQuestions).toBe(0);
  });

  it("are ignored if the client fails or the node is closed", async () => {
    engine.otherwise = "error";
    await gossip();
    expect(engine.blobQuestions).toBe(1);
    expect(logger.records.filter(({ level }) => level !== "debug")).toEqual([]);

    engine.otherwise = { status: "valid" };
    block = await produceWithBlobs(chain, 2);
    give([0, 1]);
    const handled = gossip();
    engineBlobs.close();
    await handled;
    expect([engine.blobQuestions, created]).toEqual([2, []]);
  });

  if (fork !== "fulu") return;

  it("are requested as soon as one column is available", async () => {
    give([0, 1, 2]);
    const [sidecar] = wanted;
    pool.add({ slot: 1, root: block.root }, [sidecar!]);
    if ("column" in sidecar!) events.publish("columnSidecar", { slot: 1, root: block.root, sidecar });
    for (let turn = 0; turn < 5; turn++) await flushPromises();
    expect(created).toEqual(wanted.slice(1));
  });
});
