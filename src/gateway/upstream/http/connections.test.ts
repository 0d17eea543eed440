import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { HandTimers } from "../../../timers.test-support.ts";
import type { Connection, ResponseHandler } from "./connection.ts";
import { Connections } from "./connections.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const PATIENCE = 10_000;

/** Waits for one answer. */
class Waiting implements ResponseHandler {
  readonly outcome: Promise<string>;
  connection: Connection | undefined;
  body = "";
  #resolve!: (outcome: string) => void;

  constructor() {
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  onSent(connection: Connection): void {
    this.connection = connection;
  }

  onHead(): void {}

  onBody(bytes: Buffer): void {
    this.body += bytes.toString();
  }

  onEnd(): void {
    this.#resolve(this.body);
  }

  onError(error: Error): void {
    this.#resolve(`Error: ${error.message}`);
  }
}

/** A server that does with each request what the test says, and what asks it. */
async function openConnections(answer: (socket: Socket, request: string) => void = (socket) => socket.write(OK)) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (request) => answer(socket, request.toString()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const timers = new HandTimers();
  const connections = new Connections({ host: "127.0.0.1", port, isSecure: false }, timers);
  onTestFinished(async () => {
    connections.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const send = (path = "/", { isFresh = false, body = undefined as Buffer | undefined } = {}) => {
    const waiting = new Waiting();
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body?.length ?? 0}\r\n\r\n`;
    connections.send({ head, body }, waiting, { patience: PATIENCE, isFresh });
    return waiting;
  };
  return { connections, sockets, timers, send };
}

it("use a connection for one request after the other, and several for several at once", async () => {
  const { send, sockets } = await openConnections();
  for (let request = 0; request < 3; request++) expect(await send().outcome).toBe("ok");
  expect(sockets).toHaveLength(1);
  expect(await Promise.all([send().outcome, send().outcome, send().outcome])).toEqual(["ok", "ok", "ok"]);
  expect(sockets).toHaveLength(3);
});

it("send bodies behind their heads, short and long ones", async () => {
  for (const length of [10, 1_000_000]) {
    let received = 0;
    const { send, sockets } = await openConnections((socket, request) => {
      received += request.length;
      if (request.endsWith("!")) socket.write(OK);
    });
    const body = Buffer.alloc(length, "x").fill("!", length - 1);
    expect(await send("/", { body }).outcome).toBe("ok");
    expect(received).toBeGreaterThan(length);
    expect(await send("/", { body }).outcome).toBe("ok");
    expect(sockets).toHaveLength(1);
  }
});

it("never use one again that was for a single request, or on which more came than the answer, or behind which it closes", async () => {
  const closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
  const answers = [OK, `${OK}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong`, closing, OK];
  const { send, sockets } = await openConnections((socket) => socket.write(answers[sockets.length - 1]!));
  expect(await send("/", { isFresh: true }).outcome).toBe("ok");
  for (let request = 1; request < answers.length; request++) expect(await send().outcome).toBe("ok");
  expect(sockets).toHaveLength(answers.length);
});

it("are not used again when the upstream closes them, says something unasked, or may soon close them", async () => {
  const hint = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok";
  const { send, sockets, timers } = await openConnections((socket) => socket.write(hint));
  expect(await send().outcome).toBe("ok");
  sockets[0]!.end();
  await once(sockets[0]!, "close");
  expect(await send().outcome).toBe("ok");
  sockets[1]!.write(hint);
  await once(sockets[1]!, "close");
  expect(await send().outcome).toBe("ok");
  expect(sockets).toHaveLength(3);
  await timers.pass(4000);
  expect(await send().outcome).toBe("ok");
  expect(sockets).toHaveLength(4);
});

it("send what was not heard on one that was idle on a new one, once, unless it was for a single request", async () => {
  const closers: ((socket: Socket) => void)[] = [(socket) => socket.end(), (socket) => socket.resetAndDestroy()];
  for (const close of closers) {
    let isDown = false;
    const paths: string[] = [];
    const { send, sockets } = await openConnections((socket, request) => {
      paths.push(request.split(" ")[1]!);
      if (request.includes("/lost") && (isDown || socket === sockets[0])) close(socket);
      else socket.write(OK);
    });
    expect(await send("/first").outcome).toBe("ok");
    expect(await send("/lost").outcome).toBe("ok");
    expect(sockets).toHaveLength(2);
    isDown = true;
    expect(await send("/lost").outcome).toMatch(/^Error: /);
    expect(sockets).toHaveLength(3);
    expect(await send("/lost", { isFresh: true }).outcome).toMatch(/^Error: /);
    expect(paths).toEqual(["/first", "/lost", "/lost", "/lost", "/lost", "/lost"]);
  }
});

it("tell of an answer that breaks off on one that was idle, and do not ask for it again", async () => {
  const paths: string[] = [];
  const { send } = await openConnections((socket, request) => {
    paths.push(request.split(" ")[1]!);
    if (paths.length === 1) socket.write(OK);
    else socket.end("HTTP/1.1 2");
  });
  expect(await send("/first").outcome).toBe("ok");
  expect(await send("/second").outcome).toMatch(/^Error: /);
  expect(paths).toEqual(["/first", "/second"]);
});

it("tell of an answer that comes before the request is wholly sent, and do not use that connection again", async () => {
  const { send, sockets } = await openConnections((socket, request) => {
    if (request.startsWith("POST /long")) socket.pause();
    socket.write(OK);
  });
  expect(await send("/long", { body: Buffer.alloc(20_000_000) }).outcome).toBe("ok");
  expect(await send().outcome).toBe("ok");
  expect(sockets).toHaveLength(2);
});

it("tell of a connection that is reset while nobody reads", async () => {
  const { send, sockets } = await openConnections((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
  });
  const begun = send();
  await expect.poll(() => begun.body).toBe("ab");
  begun.connection!.pause();
  sockets[0]!.resetAndDestroy();
  await once(sockets[0]!, "close");
  begun.connection!.resume();
  expect(await begun.outcome).toMatch(/^Error: .*ECONNRESET/);
});

it("tell of an answer that ends with its connection only when that has ended", async () => {
  const { send } = await openConnections((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
  expect(await send().outcome).toBe("all of it");
});

it("end when an answer does not begin in time, or does not go on, but not while nobody reads it", async () => {
  const { send, timers, sockets } = await openConnections((socket, request) => {
    if (!request.includes("/silent")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
  });
  const silent = send("/silent");
  await untilReceived(sockets, 1);
  await timers.pass(PATIENCE + 1000);
  expect(await silent.outcome).toBe("Error: did not go on in time");

  const begun = send("/begun");
  await expect.poll(() => begun.body).toBe("ab");
  await timers.pass(29_000);
  begun.connection!.pause();
  await timers.pass(60_000);
  begun.connection!.resume();
  await timers.pass(29_000);
  expect(begun.body).toBe("ab");
  await timers.pass(3000);
  expect(await begun.outcome).toBe("Error: did not go on in time");
});

it("tell whoever waits that they are closed, and whoever comes later", async () => {
  const { send, connections, sockets } = await openConnections(() => {});
  const waiting = send();
  await untilReceived(sockets, 1);
  connections.close();
  expect(await waiting.outcome).toBe("Error: is not asked any more");
  expect(await send().outcome).toBe("Error: is not asked any more");
  expect(sockets).toHaveLength(1);
});

async function untilReceived(sockets: readonly Socket[], count: number): Promise<void> {
  await expect.poll(() => sockets.filter(({ bytesRead }) => bytesRead > 0)).toHaveLength(count);
}
