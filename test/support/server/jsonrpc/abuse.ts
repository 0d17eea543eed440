import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { openTestServer, type TestServer, type TestServerOptions } from "./server.ts";

/** Opens a server that is closed at the end of the test. */
export async function open(options?: TestServerOptions): Promise<TestServer> {
  const server = await openTestServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Opens a raw connection that reads nothing by itself. */
export async function connectTo({ port }: TestServer, options?: { allowHalfOpen: boolean }): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", ...options });
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  return socket;
}
