import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { ProgramHere } from "../support/program-here.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const devFlags = () => ["--data-dir", tempDirectory(), "--validators", "16", "--warmup-epochs", "0", "--no-auto"];
const CHAIN_ID = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { result?: unknown; error?: { code: number } },
  };
}

it("answers eth_* on a port of its own, over HTTP and WebSocket, and on the beacon port", async () => {
  const program = await ProgramHere.dev([...devFlags(), "--evm", "--eth-rpc", "--eth-rpc-port", "0"]);
  const url = (await program.untilLine(/Ethereum RPC is served at (http:\S+)/))[1]!;
  expect((await post(url, CHAIN_ID)).body).toMatchObject({ result: "0x7a69" });
  expect(await program.call("eth_chainId")).toBe("0x7a69");

  const { body: refused } = await post(url, { ...CHAIN_ID, method: "getChainHead" });
  expect(refused.error?.code).toBe(-32601);
  const { body: advanced } = await post(url, { ...CHAIN_ID, method: "dev_advance", params: { slots: 1 } });
  expect(advanced.result).toMatchObject({ head_slot: "1" });

  const wallet = await post(url, CHAIN_ID, { origin: "chrome-extension://wallet" });
  expect(wallet.headers.get("access-control-allow-origin")).toBe("chrome-extension://wallet");
  expect((await post(url, CHAIN_ID, { origin: "https://example.org" })).status).toBe(403);

  const socket = new WebSocket(url.replace("http", "ws"));
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.send(JSON.stringify({ ...CHAIN_ID, method: "eth_blockNumber" }));
  const [message] = await once(socket, "message");
  expect(JSON.parse(message.toString())).toMatchObject({ result: "0x1" });
});

it("ends with an error if the port that was asked for is in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const program = new ProgramHere(["dev", ...devFlags(), "--evm", "--eth-rpc", "--eth-rpc-port", String(port)]);
  expect((await program.exited).code).not.toBe(0);
  expect(program.output).toContain("give another --eth-rpc-port");
});
