import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { expect, it, vi } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { SerialQueue } from "../../async/serial-queue.ts";
import type { PreparedSnapshot, SnapshotStore } from "./snapshot-store.ts";
import { SnapshotWriter } from "./snapshot-writer.ts";

function scene() {
  const preparations: PromiseWithResolvers<PreparedSnapshot>[] = [];
  const prepare = () => {
    const preparation = Promise.withResolvers<PreparedSnapshot>();
    preparations.push(preparation);
    return preparation.promise;
  };
  const changes = new SerialQueue();
  const logger = createRecordingLogger();
  const writer = new SnapshotWriter({ snapshots: { prepare } as unknown as SnapshotStore, changes, logger });
  const committed: string[] = [];
  const begin = (blockRoot: string) =>
    changes.run(() =>
      writer.begin({
        blockRoot,
        state: { slot: 7 } as CachedBeaconStateAllForks,
        commit: async () => void committed.push(blockRoot),
      }),
    );
  return { preparations, changes, logger, writer, committed, begin };
}

const PREPARED = {} as PreparedSnapshot;

it("stores a state in the background while changes continue", async () => {
  const { preparations, changes, writer, committed, begin } = scene();
  await begin("first");
  await changes.run(() => {});
  expect([committed, writer.isStoring("first")]).toEqual([[], true]);
  preparations[0]!.resolve(PREPARED);
  await vi.waitFor(() => expect(committed).toEqual(["first"]));
  expect(writer.isStoring("first")).toBe(false);
});

it("the next state waits for the previous one, finish() for the last", async () => {
  const { preparations, changes, writer, committed, begin } = scene();
  await begin("first");
  const second = begin("second");
  preparations[0]!.resolve(PREPARED);
  await second;
  expect(committed).toEqual(["first"]);
  const finished = changes.run(() => writer.finish());
  preparations[1]!.resolve(PREPARED);
  await finished;
  await changes.idle();
  expect(committed).toEqual(["first", "second"]);
});

it("logs a failed write and stores the next state", async () => {
  const { preparations, logger, writer, committed, begin } = scene();
  await begin("first");
  preparations[0]!.reject(new Error("No space left"));
  await vi.waitFor(() => expect(logger.records).toMatchObject([{ level: "warn", message: "Failed to store a state" }]));
  expect(writer.isStoring("first")).toBe(false);
  await begin("second");
  preparations[1]!.resolve(PREPARED);
  await vi.waitFor(() => expect(committed).toEqual(["second"]));
});
