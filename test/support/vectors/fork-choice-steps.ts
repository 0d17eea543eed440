import { isDeepStrictEqual } from "node:util";
import type { ForkName } from "@lodestar/params";
import {
  type Attestation,
  type AttesterSlashing,
  type BeaconBlock,
  type bellatrix,
  type fulu,
  type gloas,
  type RootHex,
  type SignedBeaconBlock,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import type { Checkpoint } from "../../../src/chain/fork-choice/types.ts";
import type { VectorCase } from "./vector-case.ts";

export const PAYLOAD_STATUS = { empty: 0, full: 1, pending: 2 } as const;
type PayloadStatus = (typeof PAYLOAD_STATUS)[keyof typeof PAYLOAD_STATUS];

interface ViableHead {
  root: RootHex;
  /** In Gwei. */
  weight: number;
  /** Since gloas. */
  payloadStatus?: PayloadStatus;
}

type Awaitable<T> = T | Promise<T>;

/** One value per position of the payload timeliness committee; null without a vote. */
export type PayloadVotes = readonly (boolean | null)[];

/**
 * Fork choice under test. Handlers throw if the specification's handler of the same name would fail an assertion.
 * Blocks bring their own attestations, slashings and payload attestations.
 */
export interface ForkChoiceSubject {
  /** True for errors that mean "this input is invalid". Other errors fail the case. */
  isRefusal(error: unknown): boolean;

  /** Unix time in seconds. */
  onTick(time: number): Awaitable<void>;
  /** `columns` is undefined if the block needs none, and empty if they are not available. */
  onBlock(block: SignedBeaconBlock, columns?: fulu.DataColumnSidecar[]): Awaitable<void>;
  onAttestation(attestation: Attestation): Awaitable<void>;
  onAttesterSlashing(slashing: AttesterSlashing): Awaitable<void>;
  onExecutionPayloadEnvelope?(
    envelope: gloas.SignedExecutionPayloadEnvelope,
    columns?: gloas.DataColumnSidecar[],
  ): Awaitable<void>;
  onPayloadAttestationMessage?(message: gloas.PayloadAttestationMessage): Awaitable<void>;
  onPowBlock?(block: bellatrix.PowBlock): Awaitable<void>;

  /** get_head; the payload status exists since gloas. */
  head(): Awaitable<{ slot: number; root: RootHex; payloadStatus?: PayloadStatus }>;
  time(): number;
  genesisTime(): number;
  justifiedCheckpoint(): Checkpoint;
  finalizedCheckpoint(): Checkpoint;
  /** The zero root without a boost. */
  proposerBoostRoot(): RootHex;
  /** get_proposer_head for the current slot. */
  proposerHead(): Awaitable<RootHex>;
  /** Leaves of get_filtered_block_tree with their weights, in any order. */
  viableHeads?(): Awaitable<ViableHead[]>;
  payloadTimelinessVotes?(blockRoot: RootHex): PayloadVotes;
  payloadDataAvailabilityVotes?(blockRoot: RootHex): PayloadVotes;
}

/** Anchor of a case: state and block for get_forkchoice_store. */
export interface ForkChoiceAnchor {
  fork: ForkName;
  stateBytes: Uint8Array;
  block: BeaconBlock;
}

/** Step of steps.yaml; exactly one of the fields but `valid` and `columns` is present. */
interface Step {
  tick?: number;
  block?: string;
  attestation?: string;
  attester_slashing?: string;
  execution_payload?: string;
  payload_attestation_message?: string;
  pow_block?: string;
  checks?: Record<string, unknown>;
  /** Defaults to true. */
  valid?: boolean;
  columns?: string[];
}

export function forkChoiceAnchor(vector: VectorCase): ForkChoiceAnchor {
  const fork = vector.path.fork as ForkName;
  const block: BeaconBlock = vector.ssz("anchor_block", sszTypesFor(fork).BeaconBlock);
  return { fork, stateBytes: vector.bytes("anchor_state"), block };
}

/**
 * Runs the steps of a `fork_choice` case (tests/formats/fork_choice of the specification). Throws at the first step
 * that is not as expected. Returns the number of steps.
 */
export async function runForkChoiceSteps(vector: VectorCase, subject: ForkChoiceSubject): Promise<number> {
  const steps = vector.yaml<Step[]>("steps");
  for (const [index, step] of steps.entries()) {
    try {
      await runStep(vector, step, subject);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const { checks, ...input } = step;
      const what = checks ? "checks" : JSON.stringify(input);
      throw new Error(`Step ${index} of ${vector.id}, ${what.slice(0, 200)}: ${reason}`, { cause });
    }
  }
  return steps.length;
}

async function runStep(vector: VectorCase, step: Step, subject: ForkChoiceSubject): Promise<void> {
  if (step.checks) {
    for (const [name, expected] of Object.entries(step.checks)) await check(name, expected, subject);
    return;
  }
  // Outside the try block: an unreadable file is not a refusal.
  const apply = handlerOf(vector, step, subject);
  let refusal: unknown;
  try {
    await apply();
  } catch (error) {
    if (!subject.isRefusal(error)) throw error;
    refusal = error;
  }
  const isValid = step.valid ?? true;
  if (isValid && refusal !== undefined) throw refusal;
  if (!isValid && refusal === undefined) throw new Error("accepted, but invalid");
}

/** Reads the input of a step. Returns the call of its handler. */
function handlerOf(vector: VectorCase, step: Step, subject: ForkChoiceSubject): () => Awaitable<void> {
  const fork = vector.path.fork as ForkName;
  const types = sszTypesFor(fork);
  if (step.tick !== undefined) {
    const { tick } = step;
    return () => subject.onTick(tick);
  }
  if (step.block !== undefined) {
    const block: SignedBeaconBlock = vector.ssz(step.block, types.SignedBeaconBlock);
    const columns = step.columns?.map((name) => vector.ssz(name, ssz.fulu.DataColumnSidecar));
    return () => subject.onBlock(block, columns);
  }
  if (step.attestation !== undefined) {
    const attestation: Attestation = vector.ssz(step.attestation, types.Attestation);
    return () => subject.onAttestation(attestation);
  }
  if (step.attester_slashing !== undefined) {
    const slashing: AttesterSlashing = vector.ssz(step.attester_slashing, types.AttesterSlashing);
    return () => subject.onAttesterSlashing(slashing);
  }
  if (step.execution_payload !== undefined) {
    const envelope = vector.ssz(step.execution_payload, ssz.gloas.SignedExecutionPayloadEnvelope);
    const columns = step.columns?.map((name) => vector.ssz(name, ssz.gloas.DataColumnSidecar));
    return () => required(subject, "onExecutionPayloadEnvelope").call(subject, envelope, columns);
  }
  if (step.payload_attestation_message !== undefined) {
    const message = vector.ssz(step.payload_attestation_message, ssz.gloas.PayloadAttestationMessage);
    return () => required(subject, "onPayloadAttestationMessage").call(subject, message);
  }
  if (step.pow_block !== undefined) {
    const block = vector.ssz(step.pow_block, ssz.bellatrix.PowBlock);
    return () => required(subject, "onPowBlock").call(subject, block);
  }
  throw new Error("unknown kind of step");
}

interface HeadCheck {
  slot: number;
  root: RootHex;
  payload_status?: PayloadStatus;
}

interface ViableHeadCheck {
  root: RootHex;
  weight: number;
  payload_status?: PayloadStatus;
}

interface VotesCheck {
  block_root: RootHex;
  votes: PayloadVotes;
}

async function check(name: string, expected: unknown, subject: ForkChoiceSubject): Promise<void> {
  const [actual, wanted] = await valuesOf(name, expected, subject);
  if (isDeepStrictEqual(actual, wanted)) return;
  throw new Error(`${name} is ${JSON.stringify(actual)}, expected ${JSON.stringify(wanted)}`);
}

/** Returns the actual and the expected value of a check in a common form. */
async function valuesOf(name: string, expected: unknown, subject: ForkChoiceSubject): Promise<[unknown, unknown]> {
  switch (name) {
    case "head": {
      const { slot, root, payloadStatus } = await subject.head();
      const { payload_status } = expected as HeadCheck;
      const status = payload_status === undefined ? {} : { payload_status: payloadStatus };
      return [{ slot, root, ...status }, expected];
    }
    case "time":
      return [subject.time(), expected];
    case "genesis_time":
      return [subject.genesisTime(), expected];
    case "justified_checkpoint":
      return [plainCheckpoint(subject.justifiedCheckpoint()), expected];
    case "finalized_checkpoint":
      return [plainCheckpoint(subject.finalizedCheckpoint()), expected];
    case "proposer_boost_root":
      return [subject.proposerBoostRoot(), expected];
    case "get_proposer_head":
      return [await subject.proposerHead(), expected];
    case "viable_for_head_roots_and_weights": {
      const heads = await required(subject, "viableHeads").call(subject);
      const actual = heads.map(({ root, weight, payloadStatus }) => `${root} ${weight} ${payloadStatus}`);
      const wanted = (expected as ViableHeadCheck[]).map(
        (head) => `${head.root} ${head.weight} ${head.payload_status}`,
      );
      return [actual.sort(), wanted.sort()];
    }
    case "payload_timeliness_vote": {
      const { block_root, votes } = expected as VotesCheck;
      return [required(subject, "payloadTimelinessVotes").call(subject, block_root), votes];
    }
    case "payload_data_availability_vote": {
      const { block_root, votes } = expected as VotesCheck;
      return [required(subject, "payloadDataAvailabilityVotes").call(subject, block_root), votes];
    }
    default:
      throw new Error(`unknown check ${name}`);
  }
}

const plainCheckpoint = ({ epoch, root }: Checkpoint) => ({ epoch, root });

/** Handlers and checks that a subject has only for some forks. */
type OptionalPart = {
  [K in keyof ForkChoiceSubject]-?: undefined extends ForkChoiceSubject[K] ? K : never;
}[keyof ForkChoiceSubject];

function required<K extends OptionalPart>(subject: ForkChoiceSubject, name: K): NonNullable<ForkChoiceSubject[K]> {
  const part = subject[name];
  if (part === undefined) throw new Error(`the fork choice under test has no ${name}`);
  return part as NonNullable<ForkChoiceSubject[K]>;
}
