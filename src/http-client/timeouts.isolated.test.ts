import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openRawServer } from "../../test/support/http-client/raw-server.ts";
import { readBody } from "./response.ts";

const GET = { method: "GET", path: "/" } as const;

// Isolated, because undici uses a single clock for all timeouts, which only these tests may advance.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterAll(() => void vi.useRealTimers());

const turns = async (count = 50) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

it("ends a response whose headers do not arrive in time", async () => {
  const { client, requests } = await openRawServer(() => {}, { headersTimeoutMs: 10_000 });
  let outcome: unknown;
  client.request(GET).catch((error: unknown) => {
    outcome = error;
  });
  await expect.poll(() => requests).toHaveLength(1);
  vi.advanceTimersByTime(9000);
  await turns();
  expect(outcome).toBeUndefined();
  vi.advanceTimersByTime(3000);
  await expect.poll(() => outcome).toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
});

it("ends a body that stalls, but not while it is paused", async () => {
  const large = 4 * 1024 * 1024;
  const { client, sockets } = await openRawServer(
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large}\r\n\r\n${"x".repeat(large - 1)}`),
    { bodyTimeoutMs: 15_000 },
  );
  const { body } = await client.request(GET);
  await turns(200);
  vi.advanceTimersByTime(60_000);
  await turns();
  let read = 0;
  const reading = (async () => {
    for await (const chunk of body) read += chunk.length;
  })();
  let outcome: unknown;
  reading.catch((error: unknown) => {
    outcome = error;
  });
  await expect.poll(() => read).toBe(large - 1);
  expect(outcome).toBeUndefined();
  vi.advanceTimersByTime(18_000);
  await expect.poll(() => outcome).toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
  await expect.poll(() => sockets[0]!.destroyed).toBe(true);
});

it.each([
  ["after the default idle time", "", 5000],
  ["a second before the server does by its hint", "Keep-Alive: timeout=60\r\n", 59_500],
])("closes an idle connection %s", async (_title, header, millis) => {
  const { client, sockets } = await openRawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${header}Content-Length: 2\r\n\r\nok`);
  });
  await readBody((await client.request(GET)).body, 2);
  await turns();
  expect(sockets[0]!.destroyed).toBe(false);
  vi.advanceTimersByTime(millis);
  await expect.poll(() => sockets[0]!.destroyed).toBe(true);
});
