import { expect, it } from "vitest";
import { ConnectionHandover } from "./connection-handover.ts";

/** Creates a handover between connections with heads and blocks, with events such as "head 1". */
function handover() {
  const announced: string[] = [];
  const both = new ConnectionHandover(["head", "block"], ({ topic, data }) => announced.push(`${topic} ${data}`));
  const eventsOf = (texts: readonly string[]) =>
    texts.map((text) => {
      const [topic = "", data = ""] = text.split(" ");
      return { topic, data: Buffer.from(data) };
    });
  const oldTells = (...texts: readonly string[]) => {
    for (const event of eventsOf(texts)) both.recordOld(event);
  };
  const newTells = (...texts: readonly string[]) => {
    for (const event of eventsOf(texts)) both.onNewEvent(event);
  };
  return { announced, oldTells, newTells, end: () => both.end() };
}

it("publishes events of the new connection after the old one has ended", () => {
  const { announced, oldTells, newTells, end } = handover();
  oldTells("head 1", "block 2", "head 2");
  newTells("attestation 1", "head 2", "attestation 2", "block 2", "block 3");
  expect(announced).toEqual([]);
  end();
  expect(announced).toEqual(["attestation 1", "attestation 2", "block 3"]);
});

it("skips repeated events of the new connection", () => {
  const { announced, oldTells, newTells, end } = handover();
  oldTells("head 1", "head 2", "head 2", "head 3");
  end();
  newTells("head 2", "head 2", "head 3", "head 4", "head 3", "head 1");
  expect(announced).toEqual(["head 4", "head 3", "head 1"]);
});

it("publishes again what the old connection delivered before the handover", () => {
  const { announced, oldTells, newTells, end } = handover();
  oldTells("head 1", "head 2");
  newTells("head 2");
  end();
  newTells("head 1");
  expect(announced).toEqual(["head 1"]);
});
