import { ssz } from "@lodestar/types";
import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { EngineDriver } from "../support/execution-layer/engine-driver.ts";
import { ExecutionLayer } from "../support/execution-layer/execution-layer.ts";
import { executionGenesis } from "../support/execution-layer/genesis.ts";
import { EngineHttpClient } from "../support/execution-layer/http-client.ts";
import { Sender } from "../support/execution-layer/transactions.ts";
import { ZERO_HASH } from "../support/execution-layer/wire.ts";
import { EthereumjsClient } from "./ethereumjs-client.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";

const SLOT_SECONDS = 2;
const BLOCKS = 10;

it("@ethereumjs/client and the execution layer of our tests execute each other's blocks from Shanghai to Prague", async () => {
  // Current time, because the client accepts transactions only after a head of the last minute.
  const timestamp = Math.floor(Date.now() / 1000);
  const forks = {
    shanghai: timestamp,
    cancun: timestamp + 4 * SLOT_SECONDS,
    prague: timestamp + 7 * SLOT_SECONDS,
  };
  const genesis = executionGenesis({ timestamp, forks });
  const layer = await ExecutionLayer.open(genesis);
  const client = await EthereumjsClient.start({ directory: tempDirectory(), genesis, whenDone: onTestFinished });
  showLastLinesOnFailure("@ethereumjs/client", [client]);
  expect(await client.genesisHash()).toBe(layer.genesisHash);
  expect(await client.engine.call("engine_exchangeCapabilities", [])).toContain("engine_newPayloadV4");
  const stranger = new EngineHttpClient(client.engine.url, new Uint8Array(32));
  expect((await stranger.post("engine_exchangeCapabilities", [[]])).status).toBe(401);

  const options = { forks, genesis: { hash: layer.genesisHash, timestamp }, slotSeconds: SLOT_SECONDS };
  const sides = [
    { driver: new EngineDriver(layer, options), eth: layer },
    { driver: new EngineDriver(client.engine, options), eth: client.eth },
  ];
  const sender = new Sender(genesis.config.chainId);
  const advance = async (number: number) => {
    const [builder, other] = number % 2 === 0 ? sides : sides.toReversed();
    const { raw } = sender.deposit({ ...ssz.phase0.DepositData.defaultValue(), amount: number * 10 ** 9 });
    await builder!.eth.call("eth_sendRawTransaction", raw);
    const block = await builder!.driver.build();
    expect(block.executionPayload.transactions).toEqual([raw]);
    if (block.fork === "prague") expect(block.executionRequests).toHaveLength(1);
    for (const { driver } of [other!, builder!]) {
      expect(await driver.newPayload(block)).toMatchObject({ status: "VALID" });
      expect(await driver.setHead(block)).toMatchObject({ status: "VALID" });
    }
  };
  for (let number = 1; number <= BLOCKS; number++) await advance(number);

  const head = { headBlockHash: layer.chain.head.hash, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH };
  const expectStatusOfHead = async (status: string) =>
    expect(await client.engine.call("engine_forkchoiceUpdatedV3", head, null)).toMatchObject({
      payloadStatus: { status },
    });
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await client.stop(signal);
    await client.start();
    await expectStatusOfHead("VALID");
  }
  await client.stop();
  client.removeData();
  await client.start();
  await expectStatusOfHead("SYNCING");
});
