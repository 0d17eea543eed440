import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { Eth1Server } from "../../../test/support/execution/eth1/eth1-server.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { openDatabase } from "../../db/open-database.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import { DepositChain } from "./deposit-chain.ts";
import { DepositFollower } from "./deposit-follower.ts";

const config = devChainConfig({
  forks: [],
  slotSeconds: 2,
  genesisTime: 1000,
  deposits: { contract: `0x${"42".repeat(20)}`, chainId: 1337, followDistance: 5 },
});

async function openFollower(servers: readonly Eth1Server[]) {
  const directory = removableDirectory();
  const db = await openDatabase(directory.path, { sync: false });
  const deposits = await DepositChain.open(db.eth1);
  const logger = createRecordingLogger();
  const pauses: number[] = [];
  const follower = new DepositFollower({
    config,
    urls: servers.map(({ url }) => url),
    deposits,
    nowSeconds: () => 1000,
    logger,
    timers: { sleep: async (ms) => void pauses.push(ms) },
  });
  onTestFinished(async () => {
    await follower.close();
    await db.close();
    directory.remove();
  });
  const logged = () => logger.records.splice(0);
  return { follower, deposits, pauses, logged };
}

const host = ({ url }: Eth1Server) => new URL(url).host;
const UNUSABLE = "Deposit chain node is unusable; fix it or add another with --eth1";
const FOLLOWING = "Following the deposit chain";

it("logs each failure once, and that it follows again", async () => {
  const server = await Eth1Server.listen();
  server.mine([900, 1], [990, 1], [991, 1]);
  const { follower, deposits, logged } = await openFollower([server]);
  const cannot = async (reason: string) => {
    expect(await follower.update()).toBe(false);
    expect(await follower.update()).toBe(false);
    expect(logged()).toMatchObject([{ level: "warn", message: UNUSABLE, fields: { node: host(server), reason } }]);
    expect(follower.isConnected).toBe(false);
  };
  server.chainId = 1;
  await cannot("has chain id 1, expected 1337");
  server.chainId = 1337;
  server.hasContract = false;
  const address = `0x${"42".repeat(20)}`;
  await cannot(`has no deposit contract at ${address}: it is not synced yet, or on another chain`);
  server.hasContract = true;
  server.logsFrom = 1;
  await cannot("lacks the log of deposit 0: a node with all logs is required");
  server.logsFrom = 0;
  expect(await follower.update()).toBe(true);
  expect(await follower.update()).toBe(true);
  expect(logged()).toMatchObject([{ level: "notice", message: FOLLOWING, fields: { node: host(server) } }]);
  // The follow distance is ten seconds.
  expect(deposits.newest).toMatchObject({ number: 1, depositCount: 2 });
  await server.stop();
  await cannot("is unreachable (ECONNREFUSED)");
  await server.listen();
  expect(await follower.update()).toBe(true);
  expect(logged()).toMatchObject([{ level: "notice", message: FOLLOWING, fields: { node: host(server) } }]);
});

it("fails over to the next node, and stays with it", async () => {
  const [first, second] = [await Eth1Server.listen(), await Eth1Server.listen()];
  for (const server of [first, second]) server.mine([900, 1]);
  await first.stop();
  const { follower, logged } = await openFollower([first, second]);
  expect(await follower.update()).toBe(true);
  expect(logged()).toHaveLength(2);
  await first.listen();
  first.calls.length = 0;
  expect(await follower.update()).toBe(true);
  expect(first.calls).toEqual([]);
  await second.stop();
  expect(await follower.update()).toBe(true);
  expect(first.calls).not.toEqual([]);
});

it("retries an unusable node with backoff", async () => {
  const server = await Eth1Server.listen();
  server.mine([900, 1]);
  server.chainId = 1;
  const { follower, deposits, pauses } = await openFollower([server]);
  const enough = Promise.withResolvers<void>();
  const push = pauses.push.bind(pauses);
  pauses.push = (ms) => {
    if (pauses.length === 7) {
      server.chainId = 1337;
      enough.resolve();
    }
    return push(ms);
  };
  follower.start();
  await enough.promise;
  await follower.update();
  expect(pauses.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(deposits.depositCount).toBe(1);
});
