import { ForkName } from "@lodestar/params";
import { fromHex, toRootHex } from "@lodestar/utils";
import { createDevPayload, devBlockHash } from "../../src/execution/dev-payload.ts";
import { payloadFromJson, payloadToJson } from "../../src/execution/engine-api/payload-json.ts";
import { JsonValue } from "../../src/execution/json-value.ts";
import { ScriptedServer } from "../../src/execution/scripted-server.test-support.ts";

const FORK = ForkName.electra;

interface Attributes {
  timestamp: string;
  prevRandao: string;
  suggestedFeeRecipient: string;
  withdrawals: { index: string; validatorIndex: string; address: string; amount: string }[];
}

/**
 * An Engine API on loopback, of electra, that builds empty blocks on a genesis block of its own and takes those that have the right
 * hash. It stands for an execution client where it matters how one is connected, not what it executes.
 */
export class EngineServer {
  readonly server: ScriptedServer;
  readonly #numbers = new Map<string, number>();
  readonly #building: { head: string; attributes: Attributes }[] = [];
  /** Of the newest head that it was told. */
  headNumber = 0;

  constructor({
    genesisHash,
    timestamp = 0,
    chainId = 77,
  }: { genesisHash: string; timestamp?: number; chainId?: number }) {
    this.#numbers.set(genesisHash, 0);
    const hex = (bytes: number) => `0x${"00".repeat(bytes)}`;
    const genesis = {
      hash: genesisHash,
      parentHash: hex(32),
      miner: hex(20),
      stateRoot: `0x${"51".repeat(32)}`,
      receiptsRoot: hex(32),
      logsBloom: hex(256),
      mixHash: hex(32),
      number: "0x0",
      gasLimit: "0x1c9c380",
      gasUsed: "0x0",
      timestamp: `0x${timestamp.toString(16)}`,
      extraData: "0x",
      difficulty: "0x1",
      baseFeePerGas: "0x3b9aca00",
      blobGasUsed: "0x0",
      excessBlobGas: "0x0",
    };
    this.server = new ScriptedServer({
      engine_exchangeCapabilities: () => ["engine_newPayloadV4", "engine_forkchoiceUpdatedV3", "engine_getPayloadV4"],
      engine_getClientVersionV1: () => [{ code: "EJ", name: "test", version: "v1", commit: "fa4ff922" }],
      eth_chainId: () => `0x${chainId.toString(16)}`,
      eth_getBlockByNumber: () => genesis,
      engine_newPayloadV4: ([payload]) => this.#judge(payload),
      engine_forkchoiceUpdatedV3: ([state, attributes]) =>
        this.#setHead((state as { headBlockHash: string }).headBlockHash, attributes as Attributes | null),
      engine_getPayloadV4: ([id]) => this.#build(Number(id)),
    });
  }

  #judge(json: unknown) {
    const payload = payloadFromJson(FORK, new JsonValue(json, "payload"));
    const hash = toRootHex(payload.blockHash);
    if (!this.#numbers.has(toRootHex(payload.parentHash))) return status("SYNCING");
    if (toRootHex(devBlockHash(FORK, payload)) !== hash) return status("INVALID");
    this.#numbers.set(hash, payload.blockNumber);
    return status("VALID", hash);
  }

  #setHead(head: string, attributes: Attributes | null) {
    const number = this.#numbers.get(head);
    if (number === undefined) return { payloadStatus: status("SYNCING"), payloadId: null };
    this.headNumber = number;
    const id = attributes === null ? null : this.#building.push({ head, attributes }) - 1;
    const payloadId = id === null ? null : `0x${id.toString(16).padStart(16, "0")}`;
    return { payloadStatus: status("VALID", head), payloadId };
  }

  #build(id: number) {
    const { head, attributes } = this.#building[id]!;
    const payload = createDevPayload(
      {
        fork: FORK,
        slot: 0,
        parent: { blockHash: fromHex(head), blockNumber: null },
        parentBeaconBlockRoot: new Uint8Array(32),
        timestamp: Number(attributes.timestamp),
        prevRandao: fromHex(attributes.prevRandao),
        feeRecipient: fromHex(attributes.suggestedFeeRecipient),
        withdrawals: attributes.withdrawals.map(({ index, validatorIndex, address, amount }) => ({
          index: Number(index),
          validatorIndex: Number(validatorIndex),
          address: fromHex(address),
          amount: BigInt(amount),
        })),
      },
      fromHex(head),
      this.#numbers.get(head)! + 1,
    );
    return {
      executionPayload: payloadToJson(FORK, payload),
      blockValue: "0x0",
      blobsBundle: { commitments: [], proofs: [], blobs: [] },
      shouldOverrideBuilder: false,
      executionRequests: [],
    };
  }
}

const status = (word: string, latestValidHash: string | null = null) => ({
  status: word,
  latestValidHash,
  validationError: null,
});
