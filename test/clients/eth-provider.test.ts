import { BrowserProvider, parseEther as ether } from "ethers";
import { createPublicClient, createWalletClient, custom, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { expect, it, onTestFinished } from "vitest";
import { attachDevChain, type EthMessage, type Hex, startDevChain } from "../../src/library/index.ts";

const OTHER = "0x7777777777777777777777777777777777777777";

async function start() {
  const chain = await startDevChain({ validators: 8, rpc: 0 });
  onTestFinished(() => chain.stop());
  return chain;
}

it("serves viem and ethers, with funded accounts and the errors of the responses", async () => {
  const { eth, accounts, client, url } = await start();
  expect(accounts).toHaveLength(10);
  const account = privateKeyToAccount(accounts[0]!.privateKey);
  expect(account.address).toBe(accounts[0]!.address);

  const transport = custom(eth);
  const wallet = createWalletClient({ chain: foundry, transport, account });
  const hash = await wallet.sendTransaction({ to: OTHER, value: parseEther("1") });
  await client.dev_advance({ slots: 1 });
  const viem = createPublicClient({ chain: foundry, transport, pollingInterval: 10 });
  expect(await viem.waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });

  const ethers = new BrowserProvider(eth);
  onTestFinished(() => ethers.destroy());
  const signer = await ethers.getSigner(1);
  expect(await signer.getAddress()).toBe(accounts[1]!.address);
  expect(await ethers.getBalance(OTHER)).toBe(ether("1"));

  await expect(eth.request({ method: "eth_nothing" })).rejects.toMatchObject({ code: -32601 });
  // PUSH1 1, PUSH0, MSTORE8, PUSH1 1, PUSH0, REVERT
  const reverted = eth.request({ method: "eth_call", params: [{ data: "0x60015f5360015ffd" }, "latest"] });
  await expect(reverted).rejects.toMatchObject({ code: 3, message: "execution reverted", data: "0x01" });

  const attached = attachDevChain({ url: url! });
  expect(await attached.eth.request({ method: "eth_getBalance", params: [OTHER, "latest"] })).toBe("0xde0b6b3a7640000");
  expect(attached.accounts).toEqual(accounts);
  await expect(attached.eth.request({ method: "eth_subscribe", params: ["newHeads"] })).rejects.toThrow("WebSocket");
  await attached.stop();
});

it("types the parameters and results of the execution layer", async () => {
  const { eth } = await start();
  const number: Hex = await eth.request({ method: "eth_blockNumber" });
  const balances: Hex[] = [
    await eth.request({ method: "eth_getBalance", params: [OTHER] }),
    await eth.request({ method: "eth_getBalance", params: [OTHER, "latest"] }),
    await eth.request({ method: "eth_getBalance", params: { address: OTHER } }),
    await eth.request<Hex>({ method: "eth_getBalance", params: [OTHER] }),
  ];
  expect([number, ...balances]).toEqual(Array(5).fill("0x0"));
  // Methods of the beacon node, and those whose name is not known to the compiler, have unknown results.
  const head: unknown = await eth.request({ method: "getChainHead" });
  const method: string = "eth_chainId";
  expect([head, await eth.request({ method })]).toEqual([expect.objectContaining({ head_slot: "0" }), "0x7a69"]);
  // @ts-expect-error an address is hex.
  await expect(eth.request({ method: "eth_getBalance", params: [5] })).rejects.toThrow('"address" must be an address');
  // @ts-expect-error the address is required.
  await expect(eth.request({ method: "eth_getBalance" })).rejects.toThrow('"address" is missing');
  // @ts-expect-error the result is hex.
  (await eth.request({ method: "eth_blockNumber" })) satisfies number;
});

it("emits connect, the messages of subscriptions, and disconnect", async () => {
  const { eth, client, stop } = await start();
  const connected = Promise.withResolvers<{ chainId: string }>();
  eth.on("connect", connected.resolve);
  expect(await connected.promise).toEqual({ chainId: "0x7a69" });

  const messages: EthMessage[] = [];
  const receive = (message: EthMessage) => void messages.push(message);
  eth.on("message", receive);
  const subscription = await eth.request({ method: "eth_subscribe", params: ["newHeads"] });
  await client.dev_advance({ slots: 1 });
  await expect
    .poll(() => messages)
    .toMatchObject([{ type: "eth_subscription", data: { subscription, result: { number: "0x1" } } }]);
  expect(await eth.request({ method: "eth_unsubscribe", params: [subscription] })).toBe(true);
  expect(await eth.request({ method: "eth_unsubscribe", params: [subscription] })).toBe(false);

  const disconnected = Promise.withResolvers<{ code: number }>();
  eth.on("disconnect", disconnected.resolve);
  await stop();
  expect(await disconnected.promise).toMatchObject({ code: 4900 });
  expect(messages).toHaveLength(1);
});
