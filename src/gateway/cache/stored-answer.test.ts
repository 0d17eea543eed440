import { expect, it } from "vitest";
import type { WholeResponse } from "./lasting.ts";
import { finalAnswer, response } from "./questions.test-support.ts";
import { decodeAnswer, encodeAnswer } from "./stored-answer.ts";

const LONG = response(finalAnswer(JSON.stringify(Array(200).fill("0x5a5a"))), {
  headers: {
    "content-type": "application/json",
    "eth-consensus-version": "fulu",
    etag: '"5a"',
    "set-cookie": "a=b",
    date: "today",
  },
}) as WholeResponse;
const SHORT = response("\0\u0001") as WholeResponse;

it("gives back what was stored, compressed when that is worth it, with the headers of its body", async () => {
  for (const answer of [LONG, SHORT]) {
    const stored = await encodeAnswer("key", answer);
    expect(stored.length).toBeLessThan(answer.body.length + 200);
    const found = await decodeAnswer("key", stored);
    expect(found).toMatchObject({ upstream: "first", status: 200, kept: "cache", body: answer.body });
  }
  const stored = await encodeAnswer("key", LONG);
  expect(stored.length).toBeLessThan(LONG.body.length / 2);
  expect((await decodeAnswer("key", stored))!.headers).toEqual({
    "content-type": "application/json",
    "eth-consensus-version": "fulu",
    etag: '"5a"',
  });
});

it("gives nothing back for another key, nor of anything that is cut off, longer or changed", async () => {
  const stored = await encodeAnswer("key", SHORT);
  expect(await decodeAnswer("another key", stored)).toBeUndefined();
  expect(await decodeAnswer("key", Buffer.concat([stored, Buffer.alloc(1)]))).toBeUndefined();
  for (let position = 0; position < stored.length; position++) {
    expect(await decodeAnswer("key", stored.subarray(0, position))).toBeUndefined();
    const changed = Buffer.from(stored);
    changed[position]! ^= 1;
    expect(await decodeAnswer("key", changed)).toBeUndefined();
  }
});
