import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { readTurns } from "./read-turns.ts";

/** The server's side of connections, each of whose clients has sent so many bytes. */
async function connections(sent: readonly number[]): Promise<Socket[]> {
  const accepted: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => accepted.push(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  for (const [index, bytes] of sent.entries()) {
    const client = connect(port, "127.0.0.1");
    client.on("error", () => {});
    onTestFinished(() => {
      client.destroy();
    });
    await once(client, "connect");
    await new Promise((resolve) => client.write(Buffer.alloc(bytes, "x"), resolve));
    while (accepted.length <= index) await nextTurn();
  }
  for (const socket of accepted) onTestFinished(() => readTurns.forget(socket.destroy()));
  return accepted;
}

/** More than strangers may take of a turn. */
function spendTurn(socket: Socket): void {
  readTurns.meet(socket, () => socket.resume());
  readTurns.spend(socket);
  for (const until = performance.now() + 6; performance.now() < until; );
  readTurns.spend(socket);
}

it("who sends one short request is served before all who came with more while others are held back", async () => {
  const [costly, ...others] = await connections([1, ...Array.from({ length: 30 }, () => 50_000), 200]);
  const lengths: number[] = [];
  spendTurn(costly!);
  expect(costly!.isPaused()).toBe(true);
  for (const socket of others) {
    socket.resume().pause();
    readTurns.meet(socket, () => lengths.push(socket.readableLength));
  }
  expect(lengths).toEqual([]);
  while (lengths.length < others.length) await nextTurn();
  expect(lengths.indexOf(200)).toBeLessThan(9);
  expect(costly!.isPaused()).toBe(false);
});

it("who leaves without a word while it waits is not kept", async () => {
  const [costly, silent] = await connections([1, 0]);
  spendTurn(costly!);
  readTurns.meet(silent!, () => {});
  silent!.push(null);
  await once(silent!, "close");
});

it("who has sent only a part of something short goes on before all who have sent much", async () => {
  const sockets = await connections([...Array.from({ length: 30 }, () => 50_000), 200]);
  const short = sockets.at(-1)!;
  const goneOn: Socket[] = [];
  for (const socket of sockets) {
    socket.resume().pause();
    while (socket.bytesRead < 200) await nextTurn();
    readTurns.meet(socket, () => socket.resume());
  }
  for (const socket of sockets) readTurns.spend(socket);
  spendTurn(sockets[0]!);
  readTurns.spend(short);
  expect(sockets.every((socket) => socket.isPaused())).toBe(true);
  for (const socket of sockets) socket.on("resume", () => !socket.isPaused() && goneOn.push(socket));
  while (goneOn.length < sockets.length) await nextTurn();
  expect(goneOn.indexOf(short)).toBeLessThan(4);
});
