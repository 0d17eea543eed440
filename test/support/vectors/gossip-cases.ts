import type { Type } from "@chainsafe/ssz";
import type { ForkName } from "@lodestar/params";
import {
  type AttesterSlashing,
  type SignedAggregateAndProof,
  type SignedBeaconBlock,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { blockRoot } from "../../../src/chain/blocks/block-encoding.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { validateGossipBlock } from "../../../src/chain/validation/block.ts";
import { GossipValidationError, type Outcome } from "../../../src/chain/validation/outcome.ts";
import { SYNCING, VALID } from "../execution/scripted-engine.ts";
import type { VectorCase } from "./vector-case.ts";
import { VectorChain } from "./vector-chain.ts";
import { vectorConfig } from "./vector-config.ts";

interface SeenBlock {
  block: string;
  /** The block fails the state transition. */
  failed?: boolean;
  payload_status?: "VALID" | "INVALIDATED" | "NOT_VALIDATED";
}

interface GossipMeta {
  topic: string;
  blocks?: SeenBlock[];
  finalized_checkpoint?: { epoch: number; root?: string; block?: string };
  /** Since genesis. */
  current_time_ms?: number;
  messages: Message[];
}

interface Message {
  message: string;
  offset_ms?: number;
  subnet_id?: number;
  expected: Verdict;
  reason?: string;
}

type Verdict = "valid" | "ignore" | "reject";

/** Runs a message through the validation of its topic. Throws a `GossipValidationError`. */
type Topic = (chain: BeaconChain, message: Message, vector: VectorCase) => Promise<unknown>;

function topic<T>(
  type: (fork: ForkName) => Type<T>,
  validate: (chain: BeaconChain, value: T, subnet: number) => Promise<unknown>,
): Topic {
  return (chain, { message, subnet_id = 0 }, vector) => {
    const value = vector.ssz(message, type(vector.path.fork as ForkName));
    return validate(chain, value, subnet_id);
  };
}

/** Throws the refusal of the only item of a batch. */
async function only(outcomes: Promise<Outcome<unknown>[]>): Promise<void> {
  const [outcome] = await outcomes;
  if (outcome?.ok === false) throw outcome.refusal;
}

const TOPICS: Readonly<Record<string, Topic>> = {
  beacon_block: topic<SignedBeaconBlock>(
    (fork) => sszTypesFor(fork).SignedBeaconBlock as Type<SignedBeaconBlock>,
    ({ validation }, block) => validateGossipBlock(validation, block),
  ),
  beacon_attestation: topic(
    () => ssz.electra.SingleAttestation,
    ({ processor }, attestation, subnet) => only(processor.attestations([attestation], [subnet])),
  ),
  beacon_aggregate_and_proof: topic<SignedAggregateAndProof>(
    () => ssz.electra.SignedAggregateAndProof,
    ({ processor }, aggregate) => only(processor.aggregates([aggregate], "gossip")),
  ),
  data_column_sidecar: topic(
    () => ssz.fulu.DataColumnSidecar,
    ({ sidecars }, sidecar, subnet) => sidecars.process(sidecar, subnet),
  ),
  sync_committee: topic(
    () => ssz.altair.SyncCommitteeMessage,
    ({ processor }, message, subnet) => only(processor.syncMessages([message], [subnet])),
  ),
  sync_committee_contribution_and_proof: topic(
    () => ssz.altair.SignedContributionAndProof,
    ({ processor }, contribution) => only(processor.contributions([contribution])),
  ),
  voluntary_exit: topic(
    () => ssz.phase0.SignedVoluntaryExit,
    ({ processor }, exit) => processor.voluntaryExit(exit, "gossip"),
  ),
  proposer_slashing: topic(
    () => ssz.phase0.ProposerSlashing,
    ({ processor }, slashing) => processor.proposerSlashing(slashing, "gossip"),
  ),
  attester_slashing: topic<AttesterSlashing>(
    () => ssz.electra.AttesterSlashing,
    ({ processor }, slashing) => processor.attesterSlashing(slashing, "gossip"),
  ),
  bls_to_execution_change: topic(
    () => ssz.capella.SignedBLSToExecutionChange,
    ({ processor }, change) => processor.blsToExecutionChange(change, "gossip"),
  ),
};

/**
 * Runs a case of `networking/gossip_*` (tests/formats/networking of the specification) on a whole chain. Throws at the
 * first message with another verdict than expected.
 */
export async function runGossipCase(vector: VectorCase): Promise<void> {
  const meta = vector.yaml<GossipMeta>("meta");
  const validate = TOPICS[meta.topic];
  if (!validate) throw new Error(`There is no validation of the topic ${meta.topic}.`);
  const state = sszTypesFor(vector.path.fork as ForkName).BeaconState.deserializeToViewDU(vector.bytes("state"));
  const config = vectorConfig(vector, state.genesisValidatorsRoot);
  const vectorChain = await VectorChain.open({ config, state });
  try {
    const { chain, clock } = vectorChain;
    for (const block of meta.blocks ?? []) await addBlock(vector, vectorChain, block);
    if (meta.finalized_checkpoint) finalize(vector, chain, meta.finalized_checkpoint);
    for (const [index, message] of meta.messages.entries()) {
      if (meta.current_time_ms !== undefined) {
        const now = clock.genesisTime + (meta.current_time_ms + (message.offset_ms ?? 0)) / 1000;
        clock.advanceTo(now);
        chain.forkChoice.onTick(clock.currentSlot);
      }
      const [verdict, refusal] = await verdictOf(() => validate(chain, message, vector));
      if (verdict !== message.expected) {
        const expected = `${message.expected}${message.reason === undefined ? "" : ` (${message.reason})`}`;
        const actual = `${verdict}${refusal === undefined ? "" : ` (${refusal.reason}: ${refusal.message})`}`;
        throw new Error(`Message ${index} of ${vector.id}: ${actual}, expected ${expected}`);
      }
    }
  } finally {
    await vectorChain.close();
  }
}

async function verdictOf(validate: () => Promise<unknown>): Promise<[Verdict, GossipValidationError?]> {
  try {
    await validate();
    return ["valid"];
  } catch (error) {
    if (error instanceof GossipValidationError) return [error.action, error];
    throw error;
  }
}

/** Imports a block that the node has seen. The anchor's block is known already. */
async function addBlock(vector: VectorCase, vectorChain: VectorChain, seen: SeenBlock): Promise<void> {
  const { chain, engine } = vectorChain;
  const types = sszTypesFor(vector.path.fork as ForkName);
  const signed = vector.ssz<SignedBeaconBlock>(seen.block, types.SignedBeaconBlock as Type<SignedBeaconBlock>);
  const root = blockRoot(chain.config, signed.message);
  if (seen.failed) {
    chain.validation.invalidBlocks.add(root);
    return;
  }
  if (chain.forkChoice.has(root)) return;
  engine.otherwise = seen.payload_status === undefined || seen.payload_status === "VALID" ? VALID : SYNCING;
  await vectorChain.importInSlot(signed);
  if (seen.payload_status === "INVALIDATED") chain.forkChoice.onInvalidPayload(root, null);
}

/** Gives fork choice a finalized checkpoint, which need not be on its chain. */
function finalize(
  vector: VectorCase,
  { forkChoice, config }: BeaconChain,
  checkpoint: NonNullable<GossipMeta["finalized_checkpoint"]>,
): void {
  const { epoch, block, root = "" } = checkpoint;
  const types = sszTypesFor(vector.path.fork as ForkName);
  const finalizedRoot =
    block === undefined
      ? root
      : blockRoot(
          config,
          vector.ssz<SignedBeaconBlock>(block, types.SignedBeaconBlock as Type<SignedBeaconBlock>).message,
        );
  const snapshot = forkChoice.capture();
  const finalized = { epoch, root: finalizedRoot };
  forkChoice.restore({ ...snapshot, checkpoints: { ...snapshot.checkpoints, finalized } });
}
