import {
  BUILDER_DEPOSIT_REQUEST_TYPE,
  BUILDER_EXIT_REQUEST_TYPE,
  CONSOLIDATION_REQUEST_TYPE,
  DEPOSIT_REQUEST_TYPE,
  type ForkPostElectra,
  isForkPostGloas,
  WITHDRAWAL_REQUEST_TYPE,
} from "@lodestar/params";
import { type ExecutionRequests, type gloas, ssz } from "@lodestar/types";
import { type JsonValue, toData, UnexpectedValueError } from "../json-value.ts";

/** Encodes and decodes the requests of one type. */
interface RequestList {
  type: number;
  encode(requests: Partial<gloas.ExecutionRequests>): Uint8Array;
  decode(body: Uint8Array, requests: Partial<gloas.ExecutionRequests>): void;
}

function requestList<F extends keyof gloas.ExecutionRequests>(
  type: number,
  field: F,
  codec: {
    serialize(list: gloas.ExecutionRequests[F]): Uint8Array;
    deserialize(body: Uint8Array): gloas.ExecutionRequests[F];
  },
): RequestList {
  return {
    type,
    encode: ({ [field]: list }) => (list === undefined ? new Uint8Array(0) : codec.serialize(list)),
    decode: (body, requests) => {
      requests[field] = codec.deserialize(body);
    },
  };
}

const ELECTRA_LISTS: readonly RequestList[] = [
  requestList(DEPOSIT_REQUEST_TYPE, "deposits", ssz.electra.DepositRequests),
  requestList(WITHDRAWAL_REQUEST_TYPE, "withdrawals", ssz.electra.WithdrawalRequests),
  requestList(CONSOLIDATION_REQUEST_TYPE, "consolidations", ssz.electra.ConsolidationRequests),
];
const GLOAS_LISTS: readonly RequestList[] = [
  ...ELECTRA_LISTS,
  requestList(BUILDER_DEPOSIT_REQUEST_TYPE, "builderDeposits", ssz.gloas.BuilderDepositRequests),
  requestList(BUILDER_EXIT_REQUEST_TYPE, "builderExits", ssz.gloas.BuilderExitRequests),
];

/** Encodes execution requests per EIP-7685: the type byte and SSZ of each non-empty list, ordered by type. */
export function requestsToJson(requests: ExecutionRequests): string[] {
  return GLOAS_LISTS.map(({ type, encode }) => ({ type, body: encode(requests) }))
    .filter(({ body }) => body.length > 0)
    .map(({ type, body }) => toData(Buffer.concat([Uint8Array.of(type), body])));
}

export function requestsFromJson(fork: ForkPostElectra, json: JsonValue): ExecutionRequests {
  const { lists, requests } = isForkPostGloas(fork)
    ? { lists: GLOAS_LISTS, requests: ssz.gloas.ExecutionRequests.defaultValue() }
    : { lists: ELECTRA_LISTS, requests: ssz.electra.ExecutionRequests.defaultValue() };
  let previous = -1;
  for (const [position, item] of json.list().entries()) {
    const bytes = item.byteList();
    const [type = -1] = bytes;
    const where = `executionRequests[${position}]`;
    if (bytes.length < 2) throw new UnexpectedValueError(`${where} is empty, empty lists must be omitted`);
    if (type <= previous) throw new UnexpectedValueError(`${where} has type ${type}, but types must be ascending`);
    previous = type;
    const list = lists.find((each) => each.type === type);
    if (list === undefined) throw new UnexpectedValueError(`${where} has type ${type}, which ${fork} does not have`);
    try {
      list.decode(bytes.subarray(1), requests);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UnexpectedValueError(`${where} cannot be decoded: ${reason}`);
    }
  }
  return requests;
}
