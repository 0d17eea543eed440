import { expect, it, vi } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { type BlockEvent, ChainEvents } from "./events.ts";

const BLOCK: BlockEvent = { slot: 7, root: "0x07", executionOptimistic: false };

it("calls every listener of an event, and no others", () => {
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

it("accepts an event without listeners", () => {
  const logger = createRecordingLogger();
  new ChainEvents(logger).publish("block", BLOCK);
  expect(logger.records).toEqual([]);
});

it("a subscription can be ended, even during the event", () => {
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

it("logs a listener that throws without affecting others", () => {
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
    { level: "error", message: "Chain event listener failed", fields: { event: "block", error } },
  ]);
});
