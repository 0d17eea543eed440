import { createChainForkConfig, defaultChainConfig } from "@lodestar/config";
import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { onTestFinished } from "vitest";
import type { EngineState, PayloadRequest } from "../../../../src/execution/engine.ts";
import { EngineApi } from "../../../../src/execution/engine-api/engine-api.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { FakeTimers } from "../../time/fake-timers.ts";
import { ScriptedServer } from "../scripted-server.ts";
import { samplePayloadJson } from "./sample-payload.ts";

export const SECRET = fromHex(`0x${"5e".repeat(32)}`);
export const HASH = `0x${"aa".repeat(32)}`;
export const OTHER_HASH = `0x${"bb".repeat(32)}`;
export const GENESIS_HASH = `0x${"99".repeat(32)}`;
export const ZERO_HASH = `0x${"00".repeat(32)}`;

/** Schedules every fork from bellatrix to gloas. */
const config = createChainForkConfig({
  ...defaultChainConfig,
  DEPOSIT_CHAIN_ID: 1337,
  TERMINAL_TOTAL_DIFFICULTY: 100n,
  ALTAIR_FORK_EPOCH: 0,
  BELLATRIX_FORK_EPOCH: 0,
  CAPELLA_FORK_EPOCH: 1,
  DENEB_FORK_EPOCH: 2,
  ELECTRA_FORK_EPOCH: 3,
  FULU_FORK_EPOCH: 4,
  GLOAS_FORK_EPOCH: 5,
});
export const CAPABILITIES = [
  ..."12345".split("").map((version) => `engine_newPayloadV${version}`),
  ..."1234".split("").map((version) => `engine_forkchoiceUpdatedV${version}`),
  ..."123456".split("").map((version) => `engine_getPayloadV${version}`),
];

export const payloadStatus = (word: string, more: object = {}) => ({
  status: word,
  latestValidHash: null,
  validationError: null,
  ...more,
});

/** Starts a scripted execution client that answers the handshake. */
export async function openClient(): Promise<ScriptedServer> {
  const server = await new ScriptedServer({
    engine_exchangeCapabilities: () => CAPABILITIES,
    eth_chainId: () => "0x539",
    eth_getBlockByNumber: () => ({ hash: GENESIS_HASH }),
    engine_getClientVersionV1: () => [{ code: "GE", name: "Geth", version: "v1.16.0", commit: "12345678" }],
  }).start();
  onTestFinished(() => server.stop());
  return server;
}

/** Records sleeps. */
export class NotingTimers extends FakeTimers {
  readonly slept: number[] = [];
  #onSleep = () => {};

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.slept.push(ms);
    this.#onSleep();
    return super.sleep(ms, signal);
  }

  async hasSlept(times: number): Promise<void> {
    while (this.slept.length < times) {
      await new Promise<void>((resolve) => {
        this.#onSleep = resolve;
      });
    }
  }
}

interface EngineOptions {
  genesisBlockHash?: string;
  jwtSecret?: () => Uint8Array;
  timers?: FakeTimers;
}

export async function openEngine(servers: ScriptedServer[], options: EngineOptions = {}) {
  const { timers = new FakeTimers() } = options;
  const logger = createRecordingLogger();
  const urls = servers.map(({ url }) => url);
  const engine = new EngineApi({ urls, jwtSecret: () => SECRET, config, logger, ...options, timers });
  onTestFinished(() => engine.close());
  await engine.connect();
  const messages = () => logger.records.map(({ message }) => message);
  const changedTo = (wanted: EngineState) =>
    new Promise<void>((resolve) => {
      const end = engine.onStateChange((state) => {
        if (state !== wanted) return;
        end();
        resolve();
      });
    });
  return { engine, timers, logger, messages, changedTo };
}

export const head = (headBlockHash = HASH) => ({
  headBlockHash,
  safeBlockHash: ZERO_HASH,
  finalizedBlockHash: ZERO_HASH,
});

export const payloadRequest = (fork: ForkPostBellatrix): PayloadRequest => ({
  fork,
  slot: 9,
  parent: { blockHash: fromHex(HASH), blockNumber: 6 },
  parentBeaconBlockRoot: new Uint8Array(32).fill(1),
  timestamp: 255,
  prevRandao: new Uint8Array(32).fill(2),
  feeRecipient: new Uint8Array(20).fill(3),
  withdrawals: [{ index: 1, validatorIndex: 2, address: new Uint8Array(20).fill(4), amount: 5n }],
  ...(fork === ForkName.gloas && { targetGasLimit: 60_000_000 }),
});

export const payloadContext = {
  parentBeaconBlockRoot: new Uint8Array(32).fill(1),
  versionedHashes: [new Uint8Array(32).fill(2)],
  executionRequests: ssz.electra.ExecutionRequests.defaultValue(),
};

/** A getPayload result since V2. Older versions ignore extra members. */
export function builtJson(fork: ForkPostBellatrix) {
  return {
    executionPayload: samplePayloadJson(fork),
    blockValue: `0x400000000000000000`,
    blobsBundle: {
      commitments: [`0x${"c0".repeat(48)}`],
      proofs: Array.from(
        { length: fork === ForkName.fulu || fork === ForkName.gloas ? 128 : 1 },
        () => `0x${"b0".repeat(48)}`,
      ),
      blobs: [`0x${"11".repeat(131_072)}`],
    },
    shouldOverrideBuilder: true,
    executionRequests: [`0x01${"01".repeat(20)}${"02".repeat(48)}0300000000000000`],
  };
}
