import { expect, test, vi } from "vitest";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { type BlockEvent, ChainEvents } from "./events.ts";

const BLOCK: BlockEvent = { slot: 7, root: "0x07", executionOptimistic: false };

test("every listener of an event is told, and those of other events are not", () => {
  const events = new ChainEvents(createRecordingLogger());
  const [first, second, other] = [vi.fn(), vi.fn(), vi.fn()];
  events.on("block", first);
  events.on("block", second);
  events.on("justified", other);

  events.publish("block", BLOCK);

  expect(first).toHaveBeenCalledExactlyOnceWith(BLOCK);
  expect(second).toHaveBeenCalledExactlyOnceWith(BLOCK);
  expect(other).not.toHaveBeenCalled();
});

test("an event that nobody listens to is no mistake", () => {
  const logger = createRecordingLogger();
  new ChainEvents(logger).publish("block", BLOCK);
  expect(logger.records).toEqual([]);
});

test("a subscription can be ended, even by the event itself", () => {
  const events = new ChainEvents(createRecordingLogger());
  const later = vi.fn();
  const once = vi.fn(() => end());
  const end = events.on("block", once);
  events.on("block", later);

  events.publish("block", BLOCK);
  events.publish("block", BLOCK);
  end();

  expect(once).toHaveBeenCalledTimes(1);
  expect(later).toHaveBeenCalledTimes(2);
});

test("a listener that throws disturbs nobody and is written down", () => {
  const logger = createRecordingLogger();
  const events = new ChainEvents(logger);
  const error = new Error("I cannot take this.");
  const next = vi.fn();
  events.on("block", () => {
    throw error;
  });
  events.on("block", next);

  events.publish("block", BLOCK);

  expect(next).toHaveBeenCalledTimes(1);
  expect(logger.records).toEqual([
    { level: "error", message: "A listener of a chain event failed", fields: { event: "block", error } },
  ]);
});
