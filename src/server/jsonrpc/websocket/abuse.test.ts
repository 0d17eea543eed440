import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { connectTo, open } from "../../../../test/support/server/jsonrpc/abuse.ts";
import { json, requestText } from "../../../../test/support/server/jsonrpc/server.ts";

it("counts fragments of a message against the memory limit", async () => {
  const server = await open({ limits: { heldBytes: 200_000 } });
  const client = new WebSocket(server.url.replace("http", "ws"));
  await once(client, "open");
  const closed = once(client, "close");
  for (let sent = 0; sent < 5; sent++) client.send(" ".repeat(60_000), { fin: false });
  expect((await closed)[0]).toBe(1013);
  await expect.poll(async () => (await server.post(" ".repeat(150_000))).status).toBe(200);
});

it("rejects a message with too many fragments", async () => {
  const server = await open({ webSocketLimits: { fragments: 10 } });
  const client = new WebSocket(server.url.replace("http", "ws"));
  await once(client, "open");
  const closed = once(client, "close");
  for (let sent = 0; sent <= 10; sent++) client.send(" ", { fin: false });
  expect((await closed)[0]).toBe(1008);
});

const upgrade =
  "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

it("does not count data after a protocol violation", async () => {
  const server = await open({ limits: { heldBytes: 200_000 } });
  // With this option, the client keeps sending after the server's close frame.
  const socket = await connectTo(server, { allowHalfOpen: true });
  socket.write(upgrade);
  await once(socket, "data");
  // A frame with an unknown opcode.
  socket.write(Buffer.from([0x8f, 0x80, 0, 0, 0, 0]));
  await once(socket, "data");
  for (let sent = 0; sent < 20; sent++) {
    await new Promise((resolve) => socket.write(Buffer.alloc(50_000), resolve));
    expect((await server.post(" ".repeat(50_000))).status).toBe(200);
  }
});

it("does not count pings and pongs", async () => {
  const server = await open({ limits: { heldBytes: 200_000 } });
  const client = new WebSocket(server.url.replace("http", "ws"));
  await once(client, "open");
  onTestFinished(() => client.terminate());
  for (let sent = 0; sent < 400; sent++) {
    client.ping();
    await once(client, "pong");
  }
  for (let sent = 0; sent < 5000; sent++) client.pong("x".repeat(100));
  client.ping();
  await once(client, "pong");
  expect((await server.post(" ".repeat(150_000))).status).toBe(200);
  expect(client.readyState).toBe(client.OPEN);
});

it("counts pongs between fragments, which retain the packets in which they arrive", async () => {
  const server = await open({ webSocketLimits: { incompleteBytes: 100_000 } });
  const client = new WebSocket(server.url.replace("http", "ws"));
  await once(client, "open");
  const closed = once(client, "close");
  for (let fragment = 0; fragment < 50; fragment++) {
    client.send(" ", { fin: false });
    for (let sent = 0; sent < 100; sent++) client.pong("x".repeat(100));
  }
  expect((await closed)[0]).toBe(1013);
  await expect.poll(async () => (await server.post(" ".repeat(150_000))).status).toBe(200);
});

it("does not queue unread pongs", async () => {
  const server = await open();
  const socket = await connectTo(server);
  socket.write(upgrade);
  await once(socket, "data");
  socket.pause();
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)]);
  const pings = Buffer.concat(Array(1000).fill(ping));
  for (let sent = 0; sent < 200; sent++) await new Promise((resolve) => socket.write(pings, resolve));
  const last = Buffer.from(ping);
  last[6] = 1;
  let pongs = 0;
  let isAnswered = false;
  socket.on("data", (chunk: Buffer) => {
    pongs += chunk.length / 127;
    isAnswered ||= chunk.includes(1);
  });
  socket.resume();
  // Pings are answered again once the client is reading.
  await expect
    .poll(
      () => {
        socket.write(last);
        return isAnswered;
      },
      { timeout: 10_000 },
    )
    .toBe(true);
  expect(pongs).toBeLessThan(130_000);
});

it("disconnects a client that does not read its messages", async () => {
  const server = await open({
    handlers: { huge: async () => json("x".repeat(8_000_000)) },
    webSocketLimits: { pingMillis: 20 },
  });
  const client = new WebSocket(server.url.replace("http", "ws"));
  await once(client, "open");
  // The client would answer pings, but it reads nothing.
  client.send(requestText({ method: '"huge"' }));
  client.pause();
  const pongs = setInterval(() => client.pong(), 5);
  client.on("error", () => {});
  // A paused client does not notice that the connection is closed until it reads again.
  await expect.poll(() => server.log.some(({ message }) => message.includes("unresponsive"))).toBe(true);
  clearInterval(pongs);
  client.terminate();
});

it("limits the memory for unread responses of all clients", async () => {
  const huge = async () => json("x".repeat(8_000_000));
  const server = await open({ handlers: { huge }, limits: { unreadBytes: 10_000_000 } });
  const webSocketUrl = server.url.replace("http", "ws");
  const idle = new WebSocket(webSocketUrl);
  const other = new WebSocket(webSocketUrl);
  await Promise.all([once(idle, "open"), once(other, "open")]);
  idle.pause();
  idle.send(requestText({ method: '"huge"' }));
  await expect.poll(async () => (await server.post(requestText({ method: '"huge"' }))).status).toBe(503);
  const closed = once(other, "close");
  other.send(requestText({ method: '"huge"' }));
  expect((await closed)[0]).toBe(1013);
  idle.terminate();
  await expect.poll(async () => (await server.post(requestText({ method: '"huge"' }))).status).toBe(200);
});

it("serves many simultaneous clients, also if some disconnect immediately", async () => {
  const server = await open();
  const clients = Array.from({ length: 60 }, () => new WebSocket(`ws://127.0.0.1:${server.port}`));
  const answers = clients.map(async (client, index) => {
    client.on("error", () => {});
    onTestFinished(() => client.terminate());
    await once(client, "open");
    if (index % 3 === 0) {
      client.terminate();
      return undefined;
    }
    client.send(requestText({ params: `[${index}]` }));
    return String((await once(client, "message"))[0]);
  });
  for (const [index, answer] of (await Promise.all(answers)).entries()) {
    if (index % 3 !== 0) expect(answer).toContain(`"result":[${index}]`);
  }
});
