import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { decodeRequests, encodeRequests } from "./execution-requests.ts";

const bytes = (size: number, fill: number) => new Uint8Array(size).fill(fill);

it("encodes requests as their type bytes with SSZ, without empty lists", () => {
  const deposit = (index: bigint) => ({
    pubkey: bytes(48, 1),
    withdrawalCredentials: bytes(32, 2),
    amount: 32e9,
    signature: bytes(96, 3),
    index,
  });
  const deposits = [deposit(5n), deposit(2n ** 64n - 1n)];
  const withdrawals = [{ sourceAddress: bytes(20, 4), validatorPubkey: bytes(48, 5), amount: 2n ** 63n }];
  const consolidations = [{ sourceAddress: bytes(20, 6), sourcePubkey: bytes(48, 7), targetPubkey: bytes(48, 8) }];
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  const all = { deposits, withdrawals, consolidations };
  expect(encodeRequests(all)).toEqual([
    Uint8Array.of(0, ...DepositRequests.serialize(deposits)),
    Uint8Array.of(1, ...WithdrawalRequests.serialize(withdrawals)),
    Uint8Array.of(2, ...ConsolidationRequests.serialize(consolidations)),
  ]);
  expect(decodeRequests(ForkName.electra, encodeRequests(all))).toEqual(all);
  const some = { deposits: [], withdrawals, consolidations: [] };
  expect(encodeRequests(some)).toHaveLength(1);
  expect(decodeRequests(ForkName.fulu, encodeRequests(some))).toEqual(some);
  expect(() => decodeRequests(ForkName.fulu, [Uint8Array.of(1, 2, 3)])).toThrow("Requests of type 1 have 2 bytes.");
});

it("encodes the requests of builders since gloas", () => {
  const builderDeposit = {
    pubkey: bytes(48, 1),
    withdrawalCredentials: bytes(32, 2),
    amount: 2e9,
    signature: bytes(96, 3),
  };
  const builderExit = { sourceAddress: bytes(20, 4), pubkey: bytes(48, 5) };
  const { BuilderDepositRequests, BuilderExitRequests, ExecutionRequests } = ssz.gloas;
  const none = ExecutionRequests.defaultValue();
  const some = { ...none, builderDeposits: [builderDeposit, builderDeposit], builderExits: [builderExit] };
  const encoded = encodeRequests(some);
  expect(encoded).toEqual([
    Uint8Array.of(3, ...BuilderDepositRequests.serialize(some.builderDeposits)),
    Uint8Array.of(4, ...BuilderExitRequests.serialize(some.builderExits)),
  ]);
  expect(decodeRequests(ForkName.gloas, encoded)).toEqual(some);
  expect(decodeRequests(ForkName.gloas, [])).toEqual(none);
});
