import { ListCompositeType } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type ForkName, forkAll } from "@lodestar/params";
import {
  type Attestation,
  type AttesterSlashing,
  type altair,
  type capella,
  type gloas,
  type phase0,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import type { AddOutcome } from "./aggregate-set.ts";
import type { AttestationPool } from "./attestation-pool.ts";
import type { HeldOperations } from "./held-operations.ts";
import type { PayloadAttestationPool } from "./payload-attestation-pool.ts";
import type { SyncCommitteePool } from "./sync-committee-pool.ts";

/** Operations of one kind as an SSZ list. */
export interface DumpedOperations {
  /** For attester slashings, includes the fork, which determines their encoding. */
  kind: "proposer-slashings" | `attester-slashings/${ForkName}` | "voluntary-exits" | "bls-to-execution-changes";
  bytes: Uint8Array;
}

interface OperationReceiver {
  addProposerSlashing(slashing: phase0.ProposerSlashing): AddOutcome;
  addAttesterSlashing(slashing: AttesterSlashing, fork: ForkName): AddOutcome;
  addVoluntaryExit(exit: phase0.SignedVoluntaryExit): AddOutcome;
  addBlsToExecutionChange(change: capella.SignedBLSToExecutionChange): AddOutcome;
}

/** The limit of an SSZ list affects its root, not its encoding. */
const LIST_LIMIT = 2 ** 32;
const ProposerSlashings = new ListCompositeType(ssz.phase0.ProposerSlashing, LIST_LIMIT);
const VoluntaryExits = new ListCompositeType(ssz.phase0.SignedVoluntaryExit, LIST_LIMIT);
const BlsToExecutionChanges = new ListCompositeType(ssz.capella.SignedBLSToExecutionChange, LIST_LIMIT);
const attesterSlashingsOf = (fork: ForkName) =>
  new ListCompositeType(sszTypesFor(fork).AttesterSlashing as typeof ssz.electra.AttesterSlashing, LIST_LIMIT);

export function writeDump(operations: HeldOperations): DumpedOperations[] {
  const dumped: DumpedOperations[] = [];
  const proposerSlashings = Array.from(operations.proposerSlashings.values(), ({ operation }) => operation);
  if (proposerSlashings.length > 0) {
    dumped.push({ kind: "proposer-slashings", bytes: ProposerSlashings.serialize(proposerSlashings) });
  }
  const byFork = Map.groupBy(operations.attesterSlashings.values(), ({ fork }) => fork);
  for (const [fork, slashings] of byFork) {
    const bytes = attesterSlashingsOf(fork).serialize(slashings.map(({ operation }) => operation));
    dumped.push({ kind: `attester-slashings/${fork}`, bytes });
  }
  const voluntaryExits = Array.from(operations.voluntaryExits.values(), ({ operation }) => operation);
  if (voluntaryExits.length > 0) {
    dumped.push({ kind: "voluntary-exits", bytes: VoluntaryExits.serialize(voluntaryExits) });
  }
  const changes = [...operations.blsToExecutionChanges.values()];
  if (changes.length > 0) {
    dumped.push({ kind: "bls-to-execution-changes", bytes: BlsToExecutionChanges.serialize(changes) });
  }
  return dumped;
}

export function readDump(
  dumped: Iterable<{ readonly kind: string; readonly bytes: Uint8Array }>,
  receiver: OperationReceiver,
): void {
  for (const { kind, bytes } of dumped) {
    const [family, fork] = kind.split("/");
    switch (family) {
      case "proposer-slashings":
        for (const slashing of ProposerSlashings.deserialize(bytes)) receiver.addProposerSlashing(slashing);
        break;
      case "attester-slashings":
        for (const slashing of attesterSlashingsOf(toForkName(fork)).deserialize(bytes)) {
          receiver.addAttesterSlashing(slashing, toForkName(fork));
        }
        break;
      case "voluntary-exits":
        for (const exit of VoluntaryExits.deserialize(bytes)) receiver.addVoluntaryExit(exit);
        break;
      case "bls-to-execution-changes":
        for (const change of BlsToExecutionChanges.deserialize(bytes)) receiver.addBlsToExecutionChange(change);
        break;
      default:
        throw new Error(`Unknown kind of stored operations "${kind}".`);
    }
  }
}

function toForkName(name: string | undefined): ForkName {
  const fork = forkAll.find((known) => known === name);
  if (fork === undefined) throw new Error(`Unknown fork of stored attester slashings "${name}".`);
  return fork;
}

/** Attestations for a slot, or all contributions, as an SSZ list. The slot determines the encoding. */
interface StoredAttestations {
  kind: string;
  bytes: Uint8Array;
}

export interface PooledAttestations {
  attestations: Attestation[];
  contributions: altair.SyncCommitteeContribution[];
  payloadAttestations: gloas.PayloadAttestation[];
}

const ATTESTATIONS = "attestations";
const CONTRIBUTIONS = "contributions";
const PAYLOAD_ATTESTATIONS = "payload-attestations";
const Contributions = new ListCompositeType(ssz.altair.SyncCommitteeContribution, LIST_LIMIT);
const PayloadAttestations = new ListCompositeType(ssz.gloas.PayloadAttestation, LIST_LIMIT);

export function writeAttestations(
  config: BeaconConfig,
  pools: {
    attestations: AttestationPool;
    syncCommittee: SyncCommitteePool;
    payloadAttestations: PayloadAttestationPool;
  },
): StoredAttestations[] {
  const stored: StoredAttestations[] = pools.attestations.slots().map((slot) => ({
    kind: `${ATTESTATIONS}/${slot}`,
    bytes: attestationsOf(config, slot).serialize(pools.attestations.list({ slot })),
  }));
  const contributions = pools.syncCommittee.list();
  if (contributions.length > 0) stored.push({ kind: CONTRIBUTIONS, bytes: Contributions.serialize(contributions) });
  const payloadAttestations = pools.payloadAttestations.list();
  if (payloadAttestations.length > 0) {
    stored.push({ kind: PAYLOAD_ATTESTATIONS, bytes: PayloadAttestations.serialize(payloadAttestations) });
  }
  return stored;
}

export function isStoredAttestations({ kind }: StoredAttestations): boolean {
  return kind === CONTRIBUTIONS || kind === PAYLOAD_ATTESTATIONS || kind.startsWith(`${ATTESTATIONS}/`);
}

/** Decodes stored attestations into `pooled`. */
export function readAttestations(
  config: BeaconConfig,
  { kind, bytes }: StoredAttestations,
  pooled: PooledAttestations,
): void {
  if (kind === CONTRIBUTIONS) {
    pooled.contributions.push(...Contributions.deserialize(bytes));
    return;
  }
  if (kind === PAYLOAD_ATTESTATIONS) {
    pooled.payloadAttestations.push(...PayloadAttestations.deserialize(bytes));
    return;
  }
  const slot = Number(kind.slice(ATTESTATIONS.length + 1));
  pooled.attestations.push(...attestationsOf(config, slot).deserialize(bytes));
}

function attestationsOf(config: BeaconConfig, slot: number): ListCompositeType<typeof ssz.phase0.Attestation> {
  return new ListCompositeType(config.getForkTypes(slot).Attestation as typeof ssz.phase0.Attestation, LIST_LIMIT);
}
