import { expect, it, onTestFinished, vi } from "vitest";
import { countTurns } from "../../test/support/time/event-loop.ts";
import { listBody } from "./list-body.ts";

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

async function read(body: Awaited<ReturnType<typeof listBody>>): Promise<string> {
  return Buffer.isBuffer(body) ? body.toString() : Buffer.concat(await Array.fromAsync(body)).toString();
}

it.each([[[]], [[1]], [[1, 2, 3]]])("writes the short list %j as a buffer", async (list) => {
  const body = await listBody(list, json);
  expect(Buffer.isBuffer(body)).toBe(true);
  expect(await read(body)).toBe(JSON.stringify(list));
});

it.each([2, 3, 50])("streams %i large elements", async (count) => {
  const list = Array.from({ length: count }, (_, index) => `${index}${"x".repeat(70_000)}`);
  const body = await listBody(list, json);
  expect(Buffer.isBuffer(body)).toBe(false);
  expect(await read(body)).toBe(JSON.stringify(list));
});

it("writes elements on demand and yields to the event loop", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const turn = countTurns();
  let written = 0;
  const slow = (element: string) => {
    written++;
    vi.advanceTimersByTime(20);
    return json(element);
  };
  const list = Array.from({ length: 10 }, () => "x".repeat(40_000));
  const body = await listBody(list, slow);
  expect(written).toBeLessThan(list.length);
  expect(await read(body)).toBe(JSON.stringify(list));
  expect(turn()).toBeGreaterThanOrEqual(list.length);
});
