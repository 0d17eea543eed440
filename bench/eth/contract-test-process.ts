/** Runs a contract test on its own chain on request, from the import of the chain to the last assertion. */
import assert from "node:assert/strict";
import type { EIP1193Provider } from "viem";
import { parentGone, report } from "../support/child.ts";

export interface ContractTest {
  chain: "Fanal" | "Anvil" | "EDR";
  initCode: `0x${string}`;
  /** URL of the package's library. */
  library: string;
}

/** In milliseconds. */
export interface ContractTestTimes {
  green: number;
  stopped: number;
  /** User and system time. */
  cpu: number;
  /** Start of another chain in the process. */
  further?: number;
  furtherCpu?: number;
}

interface Chain {
  provider: Pick<EIP1193Provider, "request">;
  stop(): Promise<unknown>;
}

const HOLDER = "0x7777777777777777777777777777777777777777";
const TOKEN = [
  "function mint(address to, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
];

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function run(test: ContractTest): Promise<ContractTestTimes> {
  const times = await runOnce(test);
  if (test.chain !== "Fanal") return times;
  const [began, before] = [performance.now(), process.cpuUsage()];
  const { stop } = await OPEN.Fanal(test);
  const [further, furtherCpu] = [performance.now() - began, cpuSince(before)];
  await stop();
  return { ...times, further, furtherCpu };
}

async function runOnce(test: ContractTest): Promise<ContractTestTimes> {
  const { chain: name, initCode } = test;
  const [began, before] = [performance.now(), process.cpuUsage()];
  const { createWalletClient, custom, parseAbi, publicActions } = await import("viem");
  const { foundry } = await import("viem/chains");
  const { provider, stop } = await OPEN[name](test);
  const abi = parseAbi(TOKEN);
  const transport = custom(provider);
  const [account] = await createWalletClient({ chain: foundry, transport }).getAddresses();
  const wallet = createWalletClient({ chain: foundry, transport, account: account! }).extend(publicActions);
  const receiptOf = (hash: `0x${string}`) => wallet.waitForTransactionReceipt({ hash, pollingInterval: 5 });

  const { contractAddress } = await receiptOf(await wallet.deployContract({ abi, bytecode: initCode }));
  const token = { abi, address: contractAddress! };
  const minted = await receiptOf(
    await wallet.writeContract({ ...token, functionName: "mint", args: [HOLDER, 5n] } as never),
  );
  assert.equal(minted.status, "success");
  assert.equal(minted.logs.length, 1);
  const balance = await wallet.readContract({ ...token, functionName: "balanceOf", args: [HOLDER] } as never);
  assert.equal(balance, 5n);
  const green = performance.now() - began;
  await stop();
  return { green, stopped: performance.now() - began, cpu: cpuSince(before) };
}

const OPEN: Readonly<Record<ContractTest["chain"], (test: ContractTest) => Promise<Chain>>> = {
  Fanal: async ({ library }) => {
    const { startDevChain }: typeof import("../../src/library/index.ts") = await import(library);
    const chain = await startDevChain({ evm: true });
    return { provider: chain.eth as Chain["provider"], stop: () => chain.stop() };
  },
  Anvil: async () => {
    const { startAnvil } = await import("./servers.ts");
    const server = (await startAnvil())!;
    return { provider: providerOf((method, params) => server.call(method, ...params)), stop: () => server.stop() };
  },
  EDR: async () => {
    const { EdrChain, loadEdr } = await import("../../test/evm/edr-chain.ts");
    const { fundedAccounts } = await import("../../src/evm/accounts.ts");
    const ownedAccounts = fundedAccounts().map(({ privateKey }) => privateKey);
    const chain = await EdrChain.open((await loadEdr())!, { ownedAccounts, autoMine: true });
    return { provider: providerOf((method, params) => chain.call(method, ...params)), stop: async () => {} };
  },
};

function providerOf(call: (method: string, params: readonly unknown[]) => Promise<unknown>): Chain["provider"] {
  const request = ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => call(method, params);
  return { request: request as Chain["provider"]["request"] };
}

process.on("message", (test: ContractTest) => {
  void run(test).then(report);
});
report({ ready: true });
await parentGone();
