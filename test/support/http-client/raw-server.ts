import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { HttpClient, type HttpClientOptions } from "../../../src/http-client/http-client.ts";

export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

type Answer = (socket: Socket, request: string) => void;

/** Opens a TCP server that answers the bytes of each request by `answer`, and a client of it. */
export async function openRawServer(
  answer: Answer = (socket) => socket.write(OK),
  options: HttpClientOptions & { credentials?: string } = {},
) {
  const sockets: Socket[] = [];
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      requests.push(data.toString("latin1"));
      answer(socket, requests.at(-1)!);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new HttpClient(`http://${options.credentials ?? ""}127.0.0.1:${port}/ignored`, options);
  onTestFinished(async () => {
    client.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, sockets, requests, server };
}
