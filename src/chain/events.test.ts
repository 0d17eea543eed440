import { expect, it } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { type BlockEvent, ChainEvents } from "./events.ts";

const BLOCK: BlockEvent = { slot: 7, root: "0x07", executionOptimistic: false };

it("calls every listener of an event, and no others", () => {
  const events = new ChainEvents(createRecordingLogger());
  const received: [listener: string, event: unknown][] = [];
  events.on("block", (event) => void received.push(["first", event]));
  events.on("block", (event) => void received.push(["second", event]));
  events.on("justified", (event) => void received.push(["other", event]));

  events.publish("block", BLOCK);

  expect(received).toEqual([
    ["first", BLOCK],
    ["second", BLOCK],
  ]);
});

it("accepts an event without listeners", () => {
  const logger = createRecordingLogger();
  new ChainEvents(logger).publish("block", BLOCK);
  expect(logger.records).toEqual([]);
});

it("a subscription can be ended, even during the event", () => {
  const events = new ChainEvents(createRecordingLogger());
  const received: string[] = [];
  const end = events.on("block", () => {
    received.push("once");
    end();
  });
  events.on("block", () => void received.push("always"));

  events.publish("block", BLOCK);
  events.publish("block", BLOCK);
  end();

  expect(received).toEqual(["once", "always", "always"]);
});

it("logs a listener that throws without affecting others", () => {
  const logger = createRecordingLogger();
  const events = new ChainEvents(logger);
  const error = new Error("I cannot take this.");
  const received: unknown[] = [];
  events.on("block", () => {
    throw error;
  });
  events.on("block", (event) => void received.push(event));

  events.publish("block", BLOCK);

  expect(received).toEqual([BLOCK]);
  expect(logger.records).toEqual([
    { level: "error", message: "Chain event listener failed", fields: { event: "block", error } },
  ]);
});
