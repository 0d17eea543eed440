import { expect, it, onTestFinished } from "vitest";
import { startDevChain } from "../../src/library/index.ts";

async function openChain(chainId: number) {
  const chain = await startDevChain({ validators: 8, chainId });
  onTestFinished(() => chain.stop());
  return chain;
}

it("leaves nothing of a chain to the next one, which takes over its threads", async () => {
  const first = await openChain(1001);
  const [from, to] = first.accounts.map(({ address }) => address);
  const send = (chain: typeof first, data: `0x${string}`) =>
    chain.eth.request({ method: "eth_sendTransaction", params: [{ from: from!, data }] });
  // The estimate starts the thread for reads. The code of the contract is one STOP.
  const hash = await send(first, "0x600160005360016000f3");
  await first.eth.request({ method: "anvil_setBalance", params: [to!, "0x1"] });
  await first.eth.request({ method: "evm_setAutomine", params: [false] });
  await send(first, "0x");
  await first.stop();

  const next = await openChain(1002);
  const ask = (method: "eth_chainId" | "eth_blockNumber") => next.eth.request({ method });
  expect(await Promise.all([ask("eth_chainId"), ask("eth_blockNumber")])).toEqual(["0x3ea", "0x0"]);
  expect(await next.eth.request({ method: "eth_getTransactionByHash", params: [hash] })).toBeNull();
  const balance = await next.eth.request({ method: "eth_getBalance", params: [to!, "latest"] });
  expect(BigInt(balance)).toBe(10_000n * 10n ** 18n);
  const again = await send(next, "0x600160005360016000f3");
  expect(again).not.toBe(hash);
  const receipt = await next.eth.request({ method: "eth_getTransactionReceipt", params: [again] });
  expect(receipt).toMatchObject({ status: "0x1", blockNumber: "0x1", transactionIndex: "0x0" });
});
