import { z } from "zod";
import type { PooledBlob } from "./blob-transactions.ts";
import type { BuiltBlock, PayloadContext } from "./evm.ts";
import type { ExecutionChain } from "./execution-chain.ts";
import { FORKS, type Fork, isSince } from "./forks.ts";
import { JsonRpcError } from "./json-rpc-error.ts";
import { type Method, type Methods, read } from "./methods.ts";
import {
  attributesV1,
  attributesV2,
  attributesV3,
  type BlobsBundle,
  type BuiltPayload,
  data,
  dataOf,
  type ExecutionPayload,
  forkchoiceState,
  type Hex,
  hash,
  type PayloadAttributes,
  payloadV1,
  payloadV2,
  payloadV3,
  toQuantity,
} from "./wire.ts";

/** First and last fork of a method version. */
type Forks = readonly [first: Fork, last: Fork];
const LATEST = FORKS.at(-1)!;

const MAX_BLOBS = 128;
const hashes = z.array(hash);
const payloadV1OrV2 = z.union([payloadV2, payloadV1]);
const attributesV1OrV2 = z.union([attributesV2, attributesV1]);

/** EIP-7685: types ascend strictly, and no request is empty. */
function readRequests(value: unknown): Hex[] {
  const requests = read(z.array(data), value, "executionRequests");
  const types = requests.map((request) => Number.parseInt(request.slice(2, 4), 16));
  if (requests.some((request) => request.length <= "0x00".length)) {
    throw new JsonRpcError(-32602, "executionRequests: an empty request");
  }
  if (types.some((type, index) => index > 0 && type <= types[index - 1]!)) {
    throw new JsonRpcError(-32602, "executionRequests: the types do not ascend");
  }
  return requests;
}

function readBlobHashes(value: unknown): Hex[] {
  const asked = read(hashes, value, "versionedHashes");
  if (asked.length > MAX_BLOBS) throw new JsonRpcError(-38004, `at most ${MAX_BLOBS} blobs`);
  return asked;
}

function toPayload({ block }: BuiltBlock): ExecutionPayload {
  const { parentBeaconBlockRoot: _root, requestsHash: _requests, ...payload } = block.toExecutionPayload();
  return payload as ExecutionPayload;
}

const toBundle = (blobs: readonly PooledBlob[]): BlobsBundle => ({
  commitments: blobs.map(({ commitment }) => commitment),
  proofs: blobs.flatMap(({ proofs }) => proofs),
  blobs: blobs.map(({ blob }) => blob),
});

/** engine_*, with the versions and error codes of the specification. */
export function engineMethods(chain: ExecutionChain): Methods {
  const requireFork = (timestamp: number, [first, last]: Forks) => {
    const fork = chain.forkAt(timestamp);
    if (!isSince(fork, first) || !isSince(last, fork)) throw new JsonRpcError(-38005, fork);
  };

  /** Versions 1 and 2: withdrawals are present exactly since Shanghai. */
  const requireWithdrawals = (
    { timestamp, withdrawals }: PayloadAttributes | ExecutionPayload,
    code: -32602 | -38003,
  ) => {
    const isWanted = isSince(chain.forkAt(Number(timestamp)), "shanghai");
    if (isWanted !== (withdrawals !== undefined)) throw new JsonRpcError(code, "withdrawals are there since Shanghai");
  };

  const newPayload =
    (
      schema: z.ZodType<ExecutionPayload>,
      forks: Forks,
      surroundings: (params: readonly unknown[]) => PayloadContext,
    ): Method =>
    (params) => {
      const payload = read(schema, params[0], "executionPayload");
      const around = surroundings(params);
      requireFork(Number(payload.timestamp), forks);
      requireWithdrawals(payload, -32602);
      return chain.newPayload(payload, around);
    };
  const beaconBlock = ([, versionedHashes, root]: readonly unknown[]) => ({
    versionedHashes: read(hashes, versionedHashes, "expectedBlobVersionedHashes"),
    parentBeaconBlockRoot: read(hash, root, "parentBeaconBlockRoot"),
  });

  const forkchoiceUpdated =
    (schema: z.ZodType<PayloadAttributes>, forks: Forks): Method =>
    ([state, value]) => {
      const readAttributes = () => {
        const attributes = read(schema, value, "payloadAttributes", -38003);
        requireFork(Number(attributes.timestamp), forks);
        requireWithdrawals(attributes, -38003);
        return attributes;
      };
      return chain.forkchoiceUpdated(
        read(forkchoiceState, state, "forkchoiceState"),
        value ? readAttributes : undefined,
      );
    };

  const getPayload =
    (forks: Forks, toAnswer: (built: BuiltBlock) => ExecutionPayload | BuiltPayload): Method =>
    async ([id]) => {
      const payloadId = read(dataOf(8), id, "payloadId");
      const timestamp = chain.timestampOf(payloadId);
      if (timestamp === undefined) throw new JsonRpcError(-38001);
      requireFork(timestamp, forks);
      return toAnswer(await chain.getPayload(payloadId));
    };
  const answerV2 = (built: BuiltBlock) => ({ executionPayload: toPayload(built), blockValue: toQuantity(built.value) });
  const answerV3 = (built: BuiltBlock) => ({
    ...answerV2(built),
    blobsBundle: toBundle(chain.blobsOf(built)),
    shouldOverrideBuilder: false,
  });
  const answerV4 = (built: BuiltBlock) => ({ ...answerV3(built), executionRequests: built.requests });

  const versioned: Methods = {
    engine_newPayloadV1: newPayload(payloadV1, ["paris", "paris"], () => ({})),
    engine_newPayloadV2: newPayload(payloadV1OrV2, ["paris", "shanghai"], () => ({})),
    engine_newPayloadV3: newPayload(payloadV3, ["cancun", "cancun"], beaconBlock),
    engine_newPayloadV4: newPayload(payloadV3, ["prague", LATEST], (params) => ({
      ...beaconBlock(params),
      executionRequests: readRequests(params[3]),
    })),
    engine_forkchoiceUpdatedV1: forkchoiceUpdated(attributesV1, ["paris", "paris"]),
    engine_forkchoiceUpdatedV2: forkchoiceUpdated(attributesV1OrV2, ["paris", "shanghai"]),
    engine_forkchoiceUpdatedV3: forkchoiceUpdated(attributesV3, ["cancun", LATEST]),
    engine_getPayloadV1: getPayload(["paris", "paris"], toPayload),
    engine_getPayloadV2: getPayload(["paris", "shanghai"], answerV2),
    engine_getPayloadV3: getPayload(["cancun", "cancun"], answerV3),
    engine_getPayloadV4: getPayload(["prague", "prague"], answerV4),
    engine_getPayloadV5: getPayload(["osaka", LATEST], answerV4),
    engine_getBlobsV1: ([asked]) => {
      requireFork(Number(chain.head.block.header.timestamp), ["paris", "prague"]);
      return readBlobHashes(asked).map((versionedHash) => {
        const found = chain.blob(versionedHash, "prague");
        return found ? { blob: found.blob, proof: found.proofs[0] } : null;
      });
    },
    engine_getBlobsV2: ([asked]) => {
      const found = readBlobHashes(asked).map((versionedHash) => chain.blob(versionedHash, "osaka"));
      return found.every((one) => one !== undefined) ? found.map(({ blob, proofs }) => ({ blob, proofs })) : null;
    },
    engine_getClientVersionV1: () => [
      { code: "EJ", name: "execution layer for tests", version: "10.1.3", commit: "0x00000000" },
    ],
  };
  return {
    ...versioned,
    engine_exchangeCapabilities: ([names]) => {
      read(z.array(z.string()), names, "methods");
      return Object.keys(versioned);
    },
  };
}
