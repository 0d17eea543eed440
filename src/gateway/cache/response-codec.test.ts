import { expect, it } from "vitest";
import { finalAnswer, response } from "../../../test/support/gateway/cache/method-calls.ts";
import type { BufferedResponse } from "./cache-lifetime.ts";
import { decodeResponse, encodeResponse } from "./response-codec.ts";

const LONG = response(finalAnswer(JSON.stringify(Array(200).fill("0x5a5a"))), {
  headers: {
    "content-type": "application/json",
    "eth-consensus-version": "fulu",
    etag: '"5a"',
    "set-cookie": "a=b",
    date: "today",
  },
}) as BufferedResponse;
const SHORT = response("\0\u0001") as BufferedResponse;

it("decodes what was encoded, with compression and headers", async () => {
  for (const answer of [LONG, SHORT]) {
    const stored = await encodeResponse("key", answer);
    expect(stored.length).toBeLessThan(answer.body.length + 200);
    const found = await decodeResponse("key", stored);
    expect(found).toMatchObject({ upstream: "first", status: 200, cachedIn: "cache", body: answer.body });
  }
  const stored = await encodeResponse("key", LONG);
  expect(stored.length).toBeLessThan(LONG.body.length / 2);
  expect((await decodeResponse("key", stored))!.headers).toEqual({
    "content-type": "application/json",
    "eth-consensus-version": "fulu",
    etag: '"5a"',
  });
});

it("rejects other keys and damaged values", async () => {
  const stored = await encodeResponse("key", SHORT);
  expect(await decodeResponse("another key", stored)).toBeUndefined();
  expect(await decodeResponse("key", Buffer.concat([stored, Buffer.alloc(1)]))).toBeUndefined();
  for (let position = 0; position < stored.length; position++) {
    expect(await decodeResponse("key", stored.subarray(0, position))).toBeUndefined();
    const changed = Buffer.from(stored);
    changed[position]! ^= 1;
    expect(await decodeResponse("key", changed)).toBeUndefined();
  }
});
