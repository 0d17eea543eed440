import { once } from "node:events";
import { createServer } from "node:net";
import { mnemonicToAccount } from "viem/accounts";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { TEST_MNEMONIC } from "../../src/evm/accounts.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const devFlags = () => ["--data-dir", tempDirectory(), "--validators", "16", "--warmup-epochs", "0", "--no-auto"];
const EXTENSION = { origin: "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn" };
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

/** Sends MetaMask's calls for a transfer, in order and with its origin. */
async function transferLikeMetaMask(url: string): Promise<void> {
  const account = mnemonicToAccount(TEST_MNEMONIC);
  const from = account.address.toLowerCase();
  const to = "0x7777777777777777777777777777777777777777";
  const value = "0xde0b6b3a7640000";
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own result
  const call = async (method: string, ...params: unknown[]): Promise<any> => {
    const { body } = await post(url, { jsonrpc: "2.0", id: 7, method, params }, EXTENSION);
    expect(body.error, method).toBeUndefined();
    return body.result;
  };
  expect(await call("eth_chainId")).toBe("0x7a69");
  expect(await call("net_version")).toBe("31337");
  const number = await call("eth_blockNumber");
  const { baseFeePerGas } = await call("eth_getBlockByNumber", number, false);
  expect(BigInt(await call("eth_getBalance", from, number))).toBeGreaterThan(BigInt(value));
  expect(await call("eth_getCode", to, "latest")).toBe("0x");
  expect(BigInt(await call("eth_gasPrice"))).toBeGreaterThan(0n);
  const { reward } = await call("eth_feeHistory", "0x5", "latest", [10, 20, 30]);
  expect(reward.at(-1)).toHaveLength(3);
  const block = await call("eth_getBlockByNumber", "latest", false);
  const gas = await call("eth_estimateGas", { from, to, value, data: "0x", gas: block.gasLimit });
  const nonce = Number(await call("eth_getTransactionCount", from, "pending"));
  const raw = await account.signTransaction({
    chainId: 31_337,
    nonce,
    to,
    value: BigInt(value),
    gas: BigInt(gas),
    maxFeePerGas: BigInt(baseFeePerGas) * 2n + 1_500_000_000n,
    maxPriorityFeePerGas: 1_500_000_000n,
  });
  // Advances a slot.
  const hash = await call("eth_sendRawTransaction", raw);
  const { status, blockHash } = await call("eth_getTransactionReceipt", hash);
  expect(status).toBe("0x1");
  expect(await call("eth_getBlockByHash", blockHash, false)).toMatchObject({ transactions: [hash] });
  expect(await call("eth_getBalance", to, "latest")).toBe(value);
}

it("serves eth_* on a separate port, over HTTP and WebSocket, and on the beacon port", async () => {
  const program = await ProgramHere.dev([...devFlags(), "--evm", "--eth-rpc", "--eth-rpc-port", "0"]);
  const url = (await program.untilLine(/Ethereum RPC is served at (http:\S+)/))[1]!;
  expect((await post(url, CHAIN_ID)).body).toMatchObject({ result: "0x7a69" });
  const { body: version } = await post(url, { ...CHAIN_ID, method: "web3_clientVersion" });
  expect(version.result).toMatch(/^anvil\/Fanal\/v/);
  expect(await program.call("eth_chainId")).toBe("0x7a69");

  const [account] = await program.call<string[]>("eth_accounts");
  const { body: signed } = await post(url, { ...CHAIN_ID, method: "personal_sign", params: ["0x12", account] });
  expect(signed.result).toMatch(/^0x[0-9a-f]{130}$/);

  const { body: refused } = await post(url, { ...CHAIN_ID, method: "getChainHead" });
  expect(refused.error?.code).toBe(-32601);
  const { body: advanced } = await post(url, { ...CHAIN_ID, method: "dev_advance", params: { slots: 1 } });
  expect(advanced.result).toMatchObject({ head_slot: "1" });

  const wallet = await post(url, CHAIN_ID, EXTENSION);
  expect(wallet.headers.get("access-control-allow-origin")).toBe(EXTENSION.origin);
  await transferLikeMetaMask(url);
  expect((await post(url, CHAIN_ID, { origin: "https://example.org" })).status).toBe(403);

  const socket = new WebSocket(url.replace("http", "ws"));
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.send(JSON.stringify({ ...CHAIN_ID, method: "eth_blockNumber" }));
  const [message] = await once(socket, "message");
  expect(JSON.parse(message.toString())).toMatchObject({ result: "0x2" });
});

it("lets pages of this machine read and send, but control the chain only from an allowed origin", async () => {
  const allowed = { origin: "http://localhost:3000" };
  const page = { origin: "http://localhost:5173" };
  const ports = ["--eth-rpc-port", "0", "--rpc-allow-origin", allowed.origin];
  const program = await ProgramHere.dev([...devFlags(), "--evm", "--eth-rpc", ...ports]);
  const ethUrl = (await program.untilLine(/Ethereum RPC is served at (http:\S+)/))[1]!;
  const rpcUrl = program.url;
  const reason = {
    code: -32004,
    message: expect.stringContaining("to web pages only of origins listed in --rpc-allow-origin"),
  };

  for (const url of [ethUrl, rpcUrl]) {
    const read = await post(url, CHAIN_ID, page);
    expect(read.body).toMatchObject({ result: "0x7a69" });
    expect(read.headers.get("access-control-allow-origin")).toBe(page.origin);
    const ofBeaconPort = url === rpcUrl ? ["setLogLevel"] : [];
    for (const method of ["anvil_reset", "evm_mine", "dev_advance", ...ofBeaconPort]) {
      const control = { ...CHAIN_ID, method, params: [] };
      expect((await post(url, control, page)).body.error, method).toMatchObject(reason);
      // A page may send this content type without asking first.
      const simple = { ...page, "content-type": "text/plain" };
      expect((await post(url, control, simple)).status, method).toBe(415);
    }
    const socket = new WebSocket(url.replace("http", "ws"), { origin: page.origin });
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    socket.send(JSON.stringify({ ...CHAIN_ID, method: "anvil_reset" }));
    const [message] = await once(socket, "message");
    expect(JSON.parse(message.toString()).error).toMatchObject(reason);
    expect((await post(url, { ...CHAIN_ID, method: "eth_blockNumber" })).body.result).toBe("0x0");
  }
  for (const url of [ethUrl, rpcUrl]) {
    expect((await post(url, { ...CHAIN_ID, method: "evm_mine" }, allowed)).body.result).toBe("0x0");
  }
  expect((await post(ethUrl, { ...CHAIN_ID, method: "eth_blockNumber" }, page)).body.result).toBe("0x2");
});

it("fails if the requested port is in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const program = new ProgramHere(["dev", ...devFlags(), "--evm", "--eth-rpc", "--eth-rpc-port", String(port)]);
  expect((await program.exited).code).not.toBe(0);
  expect(program.output).toContain("give another --eth-rpc-port");
});
