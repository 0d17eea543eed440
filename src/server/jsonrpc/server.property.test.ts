import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestServer, type TestServer } from "../../../test/support/server/jsonrpc/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
});
afterAll(() => server.close());

/** Values that often resemble requests. */
const requestLike = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
    id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
    method: fc.oneof(fc.constantFrom("echo", "stream", "crash", "early_break", "described"), fc.jsonValue()),
    params: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
    meta: fc.oneof(fc.constant(true), fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const message = fc.oneof(fc.jsonValue(), requestLike, fc.array(fc.oneof(requestLike, fc.jsonValue())));

function expectEnvelope(value: unknown): void {
  expect(value).toMatchObject({ jsonrpc: "2.0" });
  const envelope = value as Record<string, unknown>;
  const { id } = envelope;
  expect(id === null || typeof id === "string" || Number.isInteger(id)).toBe(true);
  const members = Object.keys(envelope).filter((name) => name !== "meta");
  if ("error" in envelope) {
    expect(members).toEqual(["jsonrpc", "id", "error"]);
    const { code, message: sentence } = envelope.error as Record<string, unknown>;
    expect(Number.isInteger(code)).toBe(true);
    expect(typeof sentence).toBe("string");
  } else {
    expect(members).toEqual(["jsonrpc", "id", "result"]);
  }
}

function expectAnswer(received: { status: number; text: string }): void {
  if (received.status === 204) {
    expect(received.text).toBe("");
    return;
  }
  expect(received.status).toBe(200);
  const answer: unknown = JSON.parse(received.text);
  if (Array.isArray(answer)) {
    expect(answer.length).toBeGreaterThan(0);
    answer.forEach(expectEnvelope);
  } else {
    expectEnvelope(answer);
  }
}

it("responds to any JSON with valid envelopes or nothing", async () => {
  await fc.assert(
    fc.asyncProperty(message, async (value) => {
      const received = await server.post(JSON.stringify(value));
      expectAnswer(received);
      if (!Array.isArray(value)) expect(received.text.startsWith("[")).toBe(false);
    }),
    { numRuns: 300 },
  );
});

it("responds to any bytes with valid envelopes or nothing", async () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.tuple(message, fc.nat(), fc.uint8Array()).map(([value, at, noise]) => {
      const text = Buffer.from(JSON.stringify(value));
      const cut = at % (text.length + 1);
      return Buffer.concat([text.subarray(0, cut), noise, text.subarray(cut)]);
    }),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => expectAnswer(await server.post(body))),
    { numRuns: 300 },
  );
});
