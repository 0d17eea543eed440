import type { CachedBeaconStateElectra } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../../../test/support/api/fake-chain.ts";
import { createApi } from "../../api.ts";

it("returns the pending queues in order", async () => {
  const chain = createFakeChain();
  const state = chain.headState as CachedBeaconStateElectra;
  const deposits = [1, 2].map((amount) => ({ ...ssz.electra.PendingDeposit.defaultValue(), amount }));
  const withdrawals = [{ validatorIndex: 3, amount: 4n, withdrawableEpoch: 5 }];
  const consolidations = [{ sourceIndex: 6, targetIndex: 7 }];
  for (const deposit of deposits) state.pendingDeposits.push(ssz.electra.PendingDeposit.toViewDU(deposit));
  for (const item of withdrawals) {
    state.pendingPartialWithdrawals.push(ssz.electra.PendingPartialWithdrawal.toViewDU(item));
  }
  for (const item of consolidations) state.pendingConsolidations.push(ssz.electra.PendingConsolidation.toViewDU(item));
  state.commit();

  const api = createApi({ chain: asBeaconChain(chain), network: fakeNetwork(chain), setLogSpec: () => {} }).beacon;
  const stateId = "head";
  const meta = { version: "fulu", executionOptimistic: false };
  expect(await api.getPendingDeposits({ stateId })).toMatchObject({ data: deposits, meta });
  expect(await api.getPendingPartialWithdrawals({ stateId })).toMatchObject({ data: withdrawals, meta });
  expect(await api.getPendingConsolidations({ stateId })).toMatchObject({ data: consolidations, meta });
});
