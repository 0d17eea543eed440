import { BYTES_PER_LOGS_BLOOM, MAX_EXTRA_DATA_BYTES } from "@lodestar/params";
import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import { EngineUnavailableError } from "../engine.ts";
import { JsonRpcFailure, JsonRpcResponseError } from "../json-rpc-client.ts";
import { JsonValue, UnexpectedValueError } from "../json-value.ts";
import { authorizedClient, JWT_SECRET_HINT } from "./endpoint.ts";
import { timeoutMs } from "./methods.ts";

/** Genesis block of an execution chain, using the field names of a payload. It has no transactions or withdrawals. */
export interface GenesisBlock {
  parentHash: Uint8Array;
  feeRecipient: Uint8Array;
  stateRoot: Uint8Array;
  receiptsRoot: Uint8Array;
  logsBloom: Uint8Array;
  prevRandao: Uint8Array;
  blockNumber: number;
  gasLimit: number;
  gasUsed: number;
  timestamp: number;
  extraData: Uint8Array;
  baseFeePerGas: bigint;
  blockHash: Uint8Array;
  blobGasUsed: bigint;
  excessBlobGas: bigint;
}

export interface ExecutionGenesis {
  /** URL origin of the client. */
  origin: string;
  chainId: number;
  block: GenesisBlock;
  /** Number of the newest block; 0 on a fresh chain. */
  latestNumber: number;
}

interface ReadingOptions {
  /** Defaults to the system timers. */
  timers?: Timers;
  /** Aborts the requests. */
  signal?: AbortSignal;
}

/** Reads the genesis of the first available client. Rejects with an `EngineUnavailableError` if none is available. */
export async function readExecutionGenesis(
  urls: readonly string[],
  jwtSecret: Uint8Array,
  { timers = SYSTEM_TIMERS, signal }: ReadingOptions = {},
): Promise<ExecutionGenesis> {
  const failures: string[] = [];
  for (const url of urls) {
    const client = authorizedClient(url, () => jwtSecret, timers);
    const ask = async (method: string, params: readonly unknown[]) =>
      new JsonValue(await client.call(method, params, { timeoutMs: timeoutMs(method), signal }), "result");
    try {
      const chainId = (await ask("eth_chainId", [])).number();
      const block = genesisFromJson(await ask("eth_getBlockByNumber", ["0x0", false]));
      const latest = await ask("eth_getBlockByNumber", ["latest", false]);
      return { origin: client.origin, chainId, block, latestNumber: latest.member("number").number() };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UnexpectedValueError) {
        failures.push(`The chain of ${client.origin} is unusable: ${error.message}.`);
      } else if (error instanceof JsonRpcFailure && error.kind === "unauthorized") {
        failures.push(`The execution client at ${client.origin} rejected the JWT: ${JWT_SECRET_HINT}.`);
      } else if (error instanceof JsonRpcFailure || error instanceof JsonRpcResponseError) {
        failures.push(error.message);
      } else {
        throw error;
      }
    } finally {
      client.close();
    }
  }
  throw new EngineUnavailableError(failures.join(" "));
}

/** Fields introduced by forks after genesis are absent. */
function genesisFromJson(json: JsonValue): GenesisBlock {
  const quantity = (name: string, bits: number) => {
    const value = json.member(name);
    return value.isAbsent ? 0n : value.bigint(bits);
  };
  return {
    parentHash: json.member("parentHash").bytes(32),
    feeRecipient: json.member("miner").bytes(20),
    stateRoot: json.member("stateRoot").bytes(32),
    receiptsRoot: json.member("receiptsRoot").bytes(32),
    logsBloom: json.member("logsBloom").bytes(BYTES_PER_LOGS_BLOOM),
    prevRandao: json.member("mixHash").bytes(32),
    blockNumber: json.member("number").number(),
    gasLimit: json.member("gasLimit").number(),
    gasUsed: json.member("gasUsed").number(),
    timestamp: json.member("timestamp").number(),
    extraData: json.member("extraData").byteList(MAX_EXTRA_DATA_BYTES),
    baseFeePerGas: quantity("baseFeePerGas", 256),
    blockHash: json.member("hash").bytes(32),
    blobGasUsed: quantity("blobGasUsed", 64),
    excessBlobGas: quantity("excessBlobGas", 64),
  };
}
