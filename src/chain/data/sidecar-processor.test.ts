import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { subnetOfSidecar } from "../../data/sidecar.ts";
import { ChainEvents } from "../events.ts";
import { DataPool } from "./data-pool.ts";
import { SidecarProcessor } from "./sidecar-processor.ts";

describe.each([
  ["electra", "blobSidecar"],
  ["fulu", "columnSidecar"],
] as const)("new %s sidecars", (fork, eventName) => {
  let chain: TestChain;
  let pool: DataPool;
  let processor: SidecarProcessor;
  let published: unknown[];
  let created: unknown[];
  beforeEach(() => {
    chain = new TestChain(fork);
    chain.clock.set(1);
    pool = new DataPool();
    published = [];
    created = [];
    const events = new ChainEvents(createRecordingLogger());
    events.on(eventName, (event) => published.push(event));
    events.on("sidecarsCreated", ({ sidecars }) => created.push(...sidecars));
    processor = new SidecarProcessor({ context: chain.context, events, data: { pool } });
  });
  afterEach(() => chain.close());

  it("are pooled and published after validation", async () => {
    const { sidecars, root } = await produceWithBlobs(chain, 1);
    const sidecar = sidecars[1]!;
    expect(await refusalOf(processor.process(sidecar, 0))).toMatchObject({ reason: "wrong-subnet" });
    expect([pool.count(root), published]).toEqual([0, []]);
    await processor.process(sidecar, subnetOfSidecar(chain.config, sidecar));
    expect(pool.all(root)).toEqual([sidecar]);
    expect(published).toEqual([{ slot: 1, root, sidecar }]);
    expect(created).toEqual([]);
  });

  it("published with their block are marked as seen", async () => {
    const { root, sidecars } = await produceWithBlobs(chain, 1);
    processor.add([]);
    processor.add(sidecars);
    expect(pool.all(root)).toEqual(sidecars);
    expect(published).toHaveLength(sidecars.length);
    expect(created).toEqual([]);
    const refusal = await refusalOf(processor.process(sidecars[0]!, 0));
    expect(refusal).toMatchObject({ reason: "already-known", known: true });
  });

  it("made by the node are marked as seen and published to the network", async () => {
    const { root, sidecars } = await produceWithBlobs(chain, 1);
    processor.publishCreated([]);
    processor.publishCreated(sidecars.slice(0, 2));
    expect(pool.all(root)).toEqual(sidecars.slice(0, 2));
    expect(published).toHaveLength(2);
    expect(created).toEqual(sidecars.slice(0, 2));
    expect(await refusalOf(processor.process(sidecars[0]!, 0))).toMatchObject({ known: true });
  });
});
