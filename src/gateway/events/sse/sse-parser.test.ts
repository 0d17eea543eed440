import fc from "fast-check";
import { expect, it } from "vitest";
import type { StreamEvent } from "../../../server/events/feed.ts";
import { SseParser } from "./sse-parser.ts";

function parse(...chunks: (string | Buffer)[]): { topic: string; data: string }[] {
  const events: StreamEvent[] = [];
  const parser = new SseParser((event) => events.push(event));
  for (const chunk of chunks) parser.push(Buffer.from(chunk));
  return events.map(({ topic, data }) => ({ topic, data: data.toString() }));
}

it("parses fields in any order and spacing, and skips comments and unknown fields", () => {
  expect(
    parse(
      'event: head\ndata: {"slot":"1"}\n\n:\n\n: alive\n\ndata:{"slot":"2"}\nevent:block\nid: 7\nretry: 1\nnothing\n\n',
    ),
  ).toEqual([
    { topic: "head", data: '{"slot":"1"}' },
    { topic: "block", data: '{"slot":"2"}' },
  ]);
});

it("joins data lines", () => {
  expect(parse('event: head\ndata: {"slot":\ndata: "1"}\n\n')).toEqual([{ topic: "head", data: '{"slot": "1"}' }]);
});

it("skips events without data or without an end", () => {
  expect(parse("event: head\n\ndata: {}\n")).toEqual([]);
});

it("throws when a comment reports dropped events", () => {
  const topics: string[] = [];
  const parser = new SseParser(({ topic }) => topics.push(topic));
  parser.push(Buffer.from("event: head\ndata: {}\n\n: 5 messages, none of which was dropped\n\n:error - dro"));
  expect(() => parser.push(Buffer.from("pped 17 messages\n\nevent: block\ndata: {}\n\n"))).toThrow(
    "It reported that it dropped 17 events.",
  );
  expect(topics).toEqual(["head"]);
  expect(() => parse(`data: dropped 1 messages\n\n:${"x".repeat(100_000)} dropped 1 messages\n\n`)).not.toThrow();
});

it("bounds the size of an event", () => {
  const parser = new SseParser(() => {}, 100);
  expect(() => {
    for (let line = 0; line < 20; line++) parser.push(Buffer.from("data: 1234567890\n"));
  }).toThrow("larger than 100 bytes");
  const lines = new SseParser(() => {}, 1000);
  expect(() => lines.push(Buffer.from("data:\n".repeat(100)))).toThrow("larger than 1000 bytes");
  const comments = new SseParser(() => {}, 100);
  for (let count = 0; count < 200; count++) comments.push(Buffer.from(":\n"));
  const large = new SseParser(() => {}, 100);
  expect(() => large.push(Buffer.from("x".repeat(101)))).toThrow("larger than 100 bytes");
});

it("parses any line endings and chunks", () => {
  const line = fc.stringMatching(/^[^\r\n]*$/).filter((text) => !text.startsWith(" "));
  const event = fc.record({
    topic: fc.stringMatching(/^[a-z_]{1,12}$/),
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
  });
  const cuts = fc.array(fc.nat(200), { maxLength: 20 });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 5 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      cuts,
      fc.boolean(),
      (events, end, at, mark) => {
        const text = events.map(({ topic, lines }) =>
          [`event: ${topic}`, ": comment", ...lines.map((data) => `data: ${data}`), "", ""].join(end),
        );
        const bytes = Buffer.from((mark ? "\uFEFF" : "") + text.join(""));
        const edges = [0, ...at.map((position) => position % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        const expected = events
          .map(({ topic, lines }) => ({ topic, data: lines.join(" ") }))
          .filter(({ data }) => data !== "");
        expect(parse(...chunks)).toEqual(expected);
      },
    ),
  );
});
