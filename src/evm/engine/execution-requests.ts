import { CONSOLIDATION_REQUEST_TYPE, DEPOSIT_REQUEST_TYPE, WITHDRAWAL_REQUEST_TYPE } from "@lodestar/params";
import { type ExecutionRequests, ssz } from "@lodestar/types";

/** Encodes execution requests by EIP-7685: for each non-empty list its type byte and SSZ, in the order of types. */
export function encodeRequests({ deposits, withdrawals, consolidations }: ExecutionRequests): Uint8Array[] {
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  const lists: [type: number, body: Uint8Array][] = [
    [DEPOSIT_REQUEST_TYPE, DepositRequests.serialize(deposits)],
    [WITHDRAWAL_REQUEST_TYPE, WithdrawalRequests.serialize(withdrawals)],
    [CONSOLIDATION_REQUEST_TYPE, ConsolidationRequests.serialize(consolidations)],
  ];
  return lists
    .filter(([, body]) => body.length > 0)
    .map(([type, body]) => new Uint8Array(Buffer.concat([Uint8Array.of(type), body])));
}

/** Decodes the requests of an executed block. */
export function decodeRequests(requests: readonly Uint8Array[]): ExecutionRequests {
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  const bodyOf = (type: number) => requests.find(([first]) => first === type)?.subarray(1) ?? new Uint8Array(0);
  return {
    deposits: DepositRequests.deserialize(bodyOf(DEPOSIT_REQUEST_TYPE)),
    withdrawals: WithdrawalRequests.deserialize(bodyOf(WITHDRAWAL_REQUEST_TYPE)),
    consolidations: ConsolidationRequests.deserialize(bodyOf(CONSOLIDATION_REQUEST_TYPE)),
  };
}
