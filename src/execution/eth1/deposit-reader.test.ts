import { DEPOSIT_CONTRACT_TREE_DEPTH } from "@lodestar/params";
import { type phase0, ssz } from "@lodestar/types";
import { fromHex, verifyMerkleBranch } from "@lodestar/utils";
import { describe, expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { CONTRACT, depositData, depositRoot, Eth1Server } from "../../../test/support/execution/eth1/eth1-server.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { LevelStore } from "../../db/level/level-store.ts";
import { Eth1Repository } from "../../db/repositories/eth1-repository.ts";
import { JsonRpcClient } from "../json-rpc-client.ts";
import { DepositChain, DepositsUnavailableError } from "./deposit-chain.ts";
import { DepositReader } from "./deposit-reader.ts";
import { Eth1Node } from "./eth1-node.ts";

/** Creates a reader that uses the server and has its own database. */
async function openReader() {
  const server = await Eth1Server.listen();
  const directory = removableDirectory();
  const store = await LevelStore.open(directory.path, { sync: false });
  onTestFinished(async () => {
    await store.close();
    directory.remove();
  });
  const repository = new Eth1Repository(store);
  const deposits = await DepositChain.open(repository);
  const reader = new DepositReader({ deposits, logger: createRecordingLogger() });
  const node = new Eth1Node(new JsonRpcClient({ url: server.url }), CONTRACT, new AbortController().signal);
  const read = (until: number, votesFrom: number) => reader.readFrom(node, { until, votesFrom });
  return { server, repository, deposits, read };
}

function eth1DataOf({ hash, depositCount, depositRoot }: DepositChain["blocks"][number]): phase0.Eth1Data {
  return { blockHash: hash, depositCount: BigInt(depositCount), depositRoot };
}

/** Mines thirty blocks, ten seconds apart; every third block contains two deposits. */
function mineThirty(server: Eth1Server): void {
  for (let n = 0; n < 30; n++) server.mine([n * 10, n % 3 === 0 ? 2 : 0]);
}

describe("DepositReader", () => {
  it("reads up to a time, and keeps candidate blocks with the contract state after each", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    await read(255, 200);
    expect(deposits.blocks.map(({ number }) => number)).toEqual([20, 21, 22, 23, 24, 25]);
    for (const { number, hash, timestamp, depositCount, depositRoot: root } of deposits.blocks) {
      expect({ hash, timestamp }).toEqual({ hash: fromHex(server.blocks[number]!.hash), timestamp: number * 10 });
      expect(depositCount).toBe(server.blocks[number]!.depositCount);
      expect(root).toEqual(depositRoot(depositCount));
    }
    const depositsByBlock = (await deposits.blocksWithDeposits()).map((each) => each.deposits);
    expect(depositsByBlock).toEqual([
      [],
      [depositData(14), depositData(15)],
      [],
      [],
      [depositData(16), depositData(17)],
      [],
    ]);
    // Most headers before the candidate blocks were skipped.
    const headers = new Set(server.calls.filter((call) => call.startsWith("eth_getBlockByNumber")));
    expect(headers.size).toBeLessThan(25);
  });

  it("continues after a restart, and drops blocks too old for votes", async () => {
    const { server, repository, deposits, read } = await openReader();
    mineThirty(server);
    await read(100, 0);
    const stored = deposits.blocks;
    const again = await DepositChain.open(repository);
    expect(again.blocks).toEqual(stored);
    expect(again.depositCount).toBe(8);
    server.calls.length = 0;
    await read(110, 70);
    await read(110, 70);
    expect(deposits.blocks.map(({ number }) => number)).toEqual([7, 8, 9, 10, 11]);
    expect(server.calls.filter((call) => call.startsWith("eth_getLogs"))).toHaveLength(1);
    expect((await DepositChain.open(repository)).blocks).toEqual(deposits.blocks);
  });

  it("shrinks refused ranges down to a single block", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    server.largestRange = 1;
    await read(290, 290);
    expect(deposits.depositCount).toBe(20);
    server.largestRange = 0;
    server.mine([300, 1]);
    await expect(read(300, 290)).rejects.toThrow("more than 10000 results");
  });

  it("rewinds orphaned blocks with their deposits after a reorg", async () => {
    const { server, repository, deposits, read } = await openReader();
    mineThirty(server);
    await read(290, 200);
    server.orphan(4);
    server.mine([262, 0], [272, 0], [282, 1], [292, 0], [302, 0]);
    await read(290, 200);
    expect(deposits.blocks.map(({ timestamp }) => timestamp)).toEqual([200, 210, 220, 230, 240, 250, 262, 272, 282]);
    expect(deposits.depositCount).toBe(19);
    expect(deposits.newest!.depositRoot).toEqual(depositRoot(19));
    expect((await DepositChain.open(repository)).depositCount).toBe(19);
  });

  it("starts over if all its blocks are orphaned", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    await read(290, 200);
    server.orphan(20);
    for (let n = 10; n < 30; n++) server.mine([n * 10, 0]);
    await read(290, 200);
    expect(deposits.depositCount).toBe(8);
    expect(deposits.newest!.depositRoot).toEqual(depositRoot(8));
  });

  it("keeps its state while a node lacks blocks", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    await read(290, 200);
    server.orphan(20);
    await expect(read(290, 200)).rejects.toThrow("lacks block 29, which was read before");
    expect(deposits.depositCount).toBe(20);
  });

  it("detects missing and foreign logs", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    server.logsFrom = 3;
    await expect(read(290, 200)).rejects.toThrow("lacks the log of deposit 0");
    server.logsFrom = 20;
    await expect(read(290, 200)).rejects.toThrow("lacks the log of deposit 0");
    expect(deposits.newest).toBeUndefined();
  });

  it("reads from a node without contract state", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    server.hasState = false;
    await read(290, 200);
    expect(deposits.depositCount).toBe(20);
  });

  it("proves deposits against the eth1 data of the chain, which may lag behind", async () => {
    const { server, deposits, read } = await openReader();
    mineThirty(server);
    await read(290, 200);
    const agreed = eth1DataOf(deposits.blocks[2]!);
    expect(agreed.depositCount).toBe(16n);
    const proven = await deposits.provenDeposits(agreed, 11, 5);
    for (const [n, { proof, data }] of proven.entries()) {
      expect(data).toEqual(depositData(11 + n));
      const leaf = ssz.phase0.DepositData.hashTreeRoot(data);
      expect(verifyMerkleBranch(leaf, proof, DEPOSIT_CONTRACT_TREE_DEPTH + 1, 11 + n, agreed.depositRoot)).toBe(true);
    }
    const unknown = { ...agreed, depositCount: 21n };
    await expect(deposits.provenDeposits(unknown, 16, 5)).rejects.toThrow(DepositsUnavailableError);
    const other = { ...agreed, depositRoot: depositRoot(15) };
    await expect(deposits.provenDeposits(other, 11, 5)).rejects.toThrow("do not match the deposit root");
  });

  it("drops finalized deposits, and rewinds at most to the snapshot", async () => {
    const { server, repository, deposits, read } = await openReader();
    mineThirty(server);
    await read(250, 100);
    const final = deposits.blocks.find(({ number }) => number === 13)!;
    await deposits.finalize(eth1DataOf(final));
    expect(deposits.snapshot).toMatchObject({
      depositCount: 10,
      executionBlockHeight: 13,
      depositRoot: depositRoot(10),
    });
    await read(260, 180);
    expect((await Array.fromAsync(repository.deposits(0, 100)))[0]![0]).toBe(10);
    const restarted = await DepositChain.open(repository);
    expect(restarted.snapshot).toEqual(deposits.snapshot);
    const agreed = eth1DataOf(deposits.newest!);
    expect(await restarted.provenDeposits(agreed, 10, 8)).toEqual(await deposits.provenDeposits(agreed, 10, 8));

    // Orphans all stored blocks except the finalized one.
    server.orphan(15);
    for (let n = 15; n < 30; n++) server.mine([n * 10, 1]);
    await read(260, 180);
    expect(deposits.newest).toMatchObject({ number: 26, depositCount: 22, depositRoot: depositRoot(22) });

    server.orphan(20);
    for (let n = 10; n < 30; n++) server.mine([n * 10, 0]);
    await expect(read(260, 180)).rejects.toThrow("another block 13 than the finalized one");
    expect(deposits.newest).toMatchObject({ number: 26, depositCount: 22 });
  });
});
