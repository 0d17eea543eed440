import { readFileSync } from "node:fs";

type DocumentVersion = "v2.5.0" | "v4.0.0";

interface EventsOperation {
  parameters: [{ schema: { items: { enum: string[] } } }];
  responses: { 200: { content: { "text/event-stream": { examples: Record<string, { value: string }> } } } };
}

function readEvents(version: DocumentVersion): EventsOperation {
  const file = new URL(`../fixtures/openapi/${version}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).paths["/eth/v1/events"].get;
}

/** Topics of one of the standard's documents. */
export function topicsOf(version: DocumentVersion): string[] {
  return readEvents(version).parameters[0].schema.items.enum;
}

/** Example data of each topic in one of the standard's documents, which have no schemas for events. */
export function readExamples(version: DocumentVersion): Map<string, unknown> {
  const { examples } = readEvents(version).responses[200].content["text/event-stream"];
  return new Map(
    Object.entries(examples).map(([topic, { value }]) => [topic, JSON.parse(value.slice(value.indexOf("data: ") + 6))]),
  );
}

/** Lengths that depend on the preset or on the size of a committee. */
const ANY_LENGTH = ["aggregation_bits", "committee_bits", "sync_committee_bits"];

/** Shape of a value: members by name, lists by their first element, scalars by kind, bytes with their length. */
export function formOf(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return [formOf(value[0])];
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, formOf(member, key)]));
  }
  if (typeof value !== "string") return typeof value;
  if (/^\d+$/.test(value)) return "decimal";
  if (!/^0x([0-9a-fA-F]{2})*$/.test(value)) return "text";
  return ANY_LENGTH.includes(name) ? "bits" : `${(value.length - 2) / 2} bytes`;
}
