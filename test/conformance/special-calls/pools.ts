import { ForkName } from "@lodestar/params";
import type { ExampleDevChain } from "../../support/api/example-chain.ts";
import {
  answers,
  fails,
  INVALID,
  LAST_UINT64,
  nothing,
  REJECTED,
  ROOT,
  type SignedJson,
  type SpecialCall,
} from "./special-call.ts";

interface AttestationJson {
  data: { slot: string; beacon_block_root: string };
}
const attestationWith = async (chain: ExampleDevChain, changes: Record<string, unknown>) => {
  const [attestation] = (await chain.attestations()) as unknown as [AttestationJson];
  return [{ ...attestation, data: { ...attestation.data, ...changes } }];
};

/** Special calls of the pool methods. */
export const POOL_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  post_v1_beacon_pool_attestations: [
    fails("an unknown block", REJECTED, (chain) => attestationWith(chain, { beacon_block_root: ROOT })),
    fails("a slot that has not come", REJECTED, (chain) => attestationWith(chain, { slot: String(chain.slot + 9) })),
    fails("no attestations", INVALID, () => [[]]),
  ],
  get_v1_beacon_pool_attestations: [
    answers("a slot that has not come", [], (chain) => [chain.slot + 1]),
    answers("a committee that no slot has", [], () => [null, LAST_UINT64]),
  ],
  post_v1_beacon_pool_attester_slashings: [
    fails("attestations that agree", REJECTED, (chain) => {
      const { attestation_1 } = chain.attesterSlashing(1, 2) as { attestation_1: unknown };
      return [{ attestation_1, attestation_2: attestation_1 }];
    }),
    fails("validators that do not exist", REJECTED, (chain) => {
      const slashing = chain.attesterSlashing(1, 2) as Record<string, Record<string, unknown>>;
      const of = (name: string) => ({ ...slashing[name], attesting_indices: ["98", "99"] });
      return [{ attestation_1: of("attestation_1"), attestation_2: of("attestation_2") }];
    }),
  ],
  post_v1_beacon_pool_proposer_slashings: [
    fails("one header twice", REJECTED, (chain) => {
      const { signed_header_1 } = chain.proposerSlashing(1) as { signed_header_1: unknown };
      return [{ signed_header_1, signed_header_2: signed_header_1 }];
    }),
    fails("a proposer that does not exist", REJECTED, (chain) => {
      const slashing = chain.proposerSlashing(1) as Record<string, SignedJson>;
      const of = ({ message, signature }: SignedJson) => ({ message: { ...message, proposer_index: "99" }, signature });
      return [{ signed_header_1: of(slashing.signed_header_1!), signed_header_2: of(slashing.signed_header_2!) }];
    }),
  ],
  post_v1_beacon_pool_voluntary_exits: [
    fails("a validator that does not exist", REJECTED, (chain) => {
      const { signature } = chain.voluntaryExit(1);
      return [{ message: { epoch: "4", validator_index: "99" }, signature }];
    }),
    fails("an epoch that has not come", REJECTED, (chain) => {
      const { signature } = chain.voluntaryExit(1);
      return [{ message: { epoch: String(chain.epoch + 1), validator_index: "1" }, signature }];
    }),
  ],
  post_v1_beacon_pool_sync_committees: [
    nothing("no messages"),
    fails(
      "a validator that does not exist",
      REJECTED,
      async (chain) => {
        const [message] = await chain.syncCommitteeMessages();
        return [[{ ...message, validator_index: "99" }]];
      },
      ForkName.fulu,
    ),
  ],
  get_v2_beacon_pool_attestations: [
    answers("a slot that has not come", [], (chain) => [chain.slot + 1]),
    answers("the last of all slots", [], () => [LAST_UINT64]),
    answers("a committee that no slot has", [], () => [null, LAST_UINT64]),
  ],
  post_v2_beacon_pool_attestations: [
    nothing("no attestations"),
    fails("attestations of another fork than is said", INVALID, async (chain) => [
      await chain.attestations(),
      chain.fork === ForkName.phase0 ? ForkName.electra : ForkName.deneb,
    ]),
    fails("an attestation to an unknown block", REJECTED, async (chain) => {
      const [attestation] = (await chain.attestations()) as unknown as [{ data: object }];
      return [[{ ...attestation, data: { ...attestation.data, beacon_block_root: ROOT } }]];
    }),
  ],
  post_v2_beacon_pool_attester_slashings: [
    fails("one attestation twice", REJECTED, (chain) => {
      const { attestation_1 } = chain.attesterSlashing(1);
      return [{ attestation_1, attestation_2: attestation_1 }];
    }),
    fails(
      "a slashing of a later fork than is said",
      INVALID,
      (chain) => [chain.attesterSlashing(1), ForkName.phase0],
      ForkName.fulu,
    ),
  ],
  post_v1_beacon_pool_bls_to_execution_changes: [
    nothing("no changes"),
    fails(
      "a validator that does not exist",
      REJECTED,
      (chain) => {
        const { message, signature } = chain.credentialsChange(13) as { message: object; signature: string };
        return [[{ message: { ...message, validator_index: "99" }, signature }]];
      },
      ForkName.fulu,
    ),
  ],
  get_v1_beacon_pool_payload_attestations: [fails("a slot before gloas", INVALID, () => ["1"], ForkName.fulu)],
  post_v1_beacon_pool_payload_attestations: [
    nothing("no votes"),
    fails("a validator that does not exist", REJECTED, async (chain) => {
      const [vote] = await chain.payloadAttestations();
      return [[{ ...vote, validator_index: "99" }]];
    }),
    fails("another slot than the current one", REJECTED, async (chain) => {
      const [vote] = await chain.payloadAttestations();
      return [[{ ...vote, data: { ...(vote!.data as object), slot: LAST_UINT64 } }]];
    }),
  ],
};
