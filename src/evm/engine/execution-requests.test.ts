import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { decodeRequests, encodeRequests, requireRequestsFit } from "./execution-requests.ts";

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
  expect(decodeRequests(encodeRequests(all))).toEqual(all);
  const some = { deposits: [], withdrawals, consolidations: [] };
  expect(encodeRequests(some)).toHaveLength(1);
  expect(decodeRequests(encodeRequests(some))).toEqual(some);
  expect(() => decodeRequests([Uint8Array.of(1, 2, 3)])).toThrow("Requests of type 1 have 2 bytes.");
});

it("names the contract whose requests a block cannot hold", () => {
  const depositContract = bytes(20, 0x42);
  const requests = (type: number, size: number) => [bytes(1 + size, 0).fill(type, 0, 1)];
  const { DepositRequests, WithdrawalRequests, ConsolidationRequests } = ssz.electra;
  const kinds = [
    { type: 0, size: 192, limit: DepositRequests.limit, contract: `0x${"42".repeat(20)}`, name: "deposit" },
    { type: 1, size: 76, limit: WithdrawalRequests.limit, contract: /0x0.*7002/, name: "withdrawal" },
    { type: 2, size: 116, limit: ConsolidationRequests.limit, contract: /0x0.*7251/, name: "consolidation" },
  ];
  for (const { type, size, limit, contract, name } of kinds) {
    const check = (length: number) => () => requireRequestsFit(requests(type, length), depositContract);
    expect(check(size * limit)).not.toThrow();
    expect(check(size * (limit + 1))).toThrow(`made ${limit + 1} ${name} requests, a block holds at most ${limit}`);
    expect(check(size + 1)).toThrow(`returned ${size + 1} bytes of ${name} requests, which have ${size} bytes each`);
    expect(check(1)).toThrow(expect.objectContaining({ contract: expect.stringMatching(contract) }));
  }
});
