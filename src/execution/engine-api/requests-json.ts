import { CONSOLIDATION_REQUEST_TYPE, DEPOSIT_REQUEST_TYPE, WITHDRAWAL_REQUEST_TYPE } from "@lodestar/params";
import { type ExecutionRequests, ssz } from "@lodestar/types";
import { type JsonValue, toData, UnexpectedValueError } from "../json-value.ts";

/** Encodes execution requests per EIP-7685: the type byte and SSZ of each non-empty list, ordered by type. */
export function requestsToJson({ deposits, withdrawals, consolidations }: ExecutionRequests): string[] {
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  const lists: [type: number, body: Uint8Array][] = [
    [DEPOSIT_REQUEST_TYPE, DepositRequests.serialize(deposits)],
    [WITHDRAWAL_REQUEST_TYPE, WithdrawalRequests.serialize(withdrawals)],
    [CONSOLIDATION_REQUEST_TYPE, ConsolidationRequests.serialize(consolidations)],
  ];
  return lists
    .filter(([, body]) => body.length > 0)
    .map(([type, body]) => toData(Buffer.concat([Uint8Array.of(type), body])));
}

export function requestsFromJson(json: JsonValue): ExecutionRequests {
  const requests = ssz.electra.ExecutionRequests.defaultValue();
  let previous = -1;
  for (const [position, item] of json.list().entries()) {
    const bytes = item.byteList();
    const [type = -1] = bytes;
    const where = `executionRequests[${position}]`;
    if (bytes.length < 2) throw new UnexpectedValueError(`${where} is empty, empty lists must be omitted`);
    if (type <= previous) throw new UnexpectedValueError(`${where} has type ${type}, but types must be ascending`);
    previous = type;
    try {
      readList(requests, type, bytes.subarray(1));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UnexpectedValueError(`${where} cannot be decoded: ${reason}`);
    }
  }
  return requests;
}

function readList(requests: ExecutionRequests, type: number, body: Uint8Array): void {
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  switch (type) {
    case DEPOSIT_REQUEST_TYPE:
      requests.deposits = DepositRequests.deserialize(body);
      return;
    case WITHDRAWAL_REQUEST_TYPE:
      requests.withdrawals = WithdrawalRequests.deserialize(body);
      return;
    case CONSOLIDATION_REQUEST_TYPE:
      requests.consolidations = ConsolidationRequests.deserialize(body);
      return;
    default:
      throw new Error(`unknown type ${type}`);
  }
}
