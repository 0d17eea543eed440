import { expect, it } from "vitest";
import { Overlap } from "./overlap.ts";

/** An overlap of connections that both tell heads and blocks, with events such as "head 1". */
function overlap() {
  const told: string[] = [];
  const both = new Overlap(["head", "block"], ({ topic, data }) => told.push(`${topic} ${data}`));
  const eventsOf = (texts: readonly string[]) =>
    texts.map((text) => {
      const [topic = "", data = ""] = text.split(" ");
      return { topic, data: Buffer.from(data) };
    });
  const oldTells = (...texts: readonly string[]) => {
    for (const event of eventsOf(texts)) both.noteOld(event);
  };
  const newTells = (...texts: readonly string[]) => {
    for (const event of eventsOf(texts)) both.fromNew(event);
  };
  return { told, oldTells, newTells, end: () => both.end() };
}

it("tells what came on the new connection alone, in its order, when the old one has ended", () => {
  const { told, oldTells, newTells, end } = overlap();
  oldTells("head 1", "block 2", "head 2");
  newTells("attestation 1", "head 2", "attestation 2", "block 2", "block 3");
  expect(told).toEqual([]);
  end();
  expect(told).toEqual(["attestation 1", "attestation 2", "block 3"]);
});

it("leaves out what the new connection tells late, until it tells what the old one did not", () => {
  const { told, oldTells, newTells, end } = overlap();
  oldTells("head 1", "head 2", "head 2", "head 3");
  end();
  newTells("head 2", "head 2", "head 3", "head 4", "head 3", "head 1");
  expect(told).toEqual(["head 4", "head 3", "head 1"]);
});

it("tells again what the old connection told before the new one began", () => {
  const { told, oldTells, newTells, end } = overlap();
  oldTells("head 1", "head 2");
  newTells("head 2");
  end();
  newTells("head 1");
  expect(told).toEqual(["head 1"]);
});
