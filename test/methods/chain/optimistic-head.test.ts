import { DOMAIN_SYNC_COMMITTEE } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import { openQuietDevChain } from "../../support/chain/dev-chain.ts";
import { SYNCING } from "../../support/execution/scripted-engine.ts";

const SLOT = 3;
const POINT_AT_INFINITY = `0xc0${"00".repeat(95)}`;

it("validators get nothing to sign while the payload of the head is unverified", async () => {
  const { devChain } = await openQuietDevChain(SLOT - 1, { forks: [{ fork: "electra", epoch: 0 }] });
  const { api, chain, clock } = devChain;
  const caller = new Caller(api);
  const byHand = new ByHand(devChain);
  const verified = chain.head;
  await clock.advanceTo(SLOT);

  const votes = await byHand.attestationsFor(SLOT, verified.root);
  await api.beacon.submitPoolAttestationsV2({ signedAttestations: votes.map(({ attestation }) => attestation) });
  const dataRoot = toRootHex(ssz.phase0.AttestationData.hashTreeRoot(votes[0]!.attestation.data));
  const signingRoot = byHand.signer.signingRoot(ssz.Root, fromHex(verified.root), DOMAIN_SYNC_COMMITTEE, SLOT);
  const members = new Set(chain.headState.epochCtx.currentSyncCommitteeIndexed.validatorIndices);
  const messages = Array.from(members, (validator) => ({
    slot: String(SLOT),
    beacon_block_root: verified.root,
    validator_index: String(validator),
    signature: toHex(byHand.signer.sign(validator, signingRoot)),
  }));
  await caller.call("post_v1_beacon_pool_sync_committees", [messages]);

  const calls: [name: string, params: unknown[]][] = [
    ["get_v1_validator_attestation_data", [SLOT, 0]],
    ["get_v2_validator_aggregate_attestation", [SLOT, dataRoot, 0]],
    ["get_v1_validator_sync_committee_contribution", [SLOT, 0, verified.root]],
    ["get_v1_validator_block", [SLOT + 1, POINT_AT_INFINITY, null, true]],
    ["get_v3_validator_blocks_slot", [SLOT + 1, POINT_AT_INFINITY, null, true]],
  ];
  for (const [name, params] of calls) await caller.call(name, params);

  const { root, signed } = byHand.sign(await byHand.produce(SLOT, verified.root));
  const syncing = [
    vi.spyOn(DevExecutionEngine.prototype, "notifyNewPayload").mockResolvedValue(SYNCING),
    vi
      .spyOn(DevExecutionEngine.prototype, "forkchoiceUpdated")
      .mockResolvedValue({ verdict: SYNCING, payloadId: null }),
  ];
  const catchUp = () => {
    for (const each of syncing) each.mockRestore();
  };
  onTestFinished(catchUp);
  await chain.importBlock(signed);
  expect(chain.head).toMatchObject({ root, execution: { status: "optimistic" } });

  for (const [name, params] of calls) {
    expect(await caller.error(name, params), name).toMatchObject({ code: -32002, data: { status: 503 } });
  }

  catchUp();
  await clock.advanceTo(SLOT + 1);
  await vi.waitFor(() => expect(chain.status.isOptimistic).toBe(false));
  calls[0] = ["get_v1_validator_attestation_data", [SLOT + 1, 0]];
  for (const [name, params] of calls) await caller.call(name, params);
});
