// Checks of the values of an answer against each other, the call and the network.

import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { ChainSpec } from "../network/chain-spec.ts";
import { memberOf } from "../upstream/client/json-fields.ts";
import { findForkOfStateViolation, isBefore, isFollowed, type StateFork, settledForkAt } from "./network-checks.ts";
import { attestationDataRoot, headerRoot, requestedRoot, wrongRoot } from "./requested-roots.ts";
import type { Rule } from "./schema-checks.ts";
import { DECIMAL, epochOf, slotOf } from "./slots.ts";

type Find = Rule["find"];

/** Of longer lists, only this many headers are hashed. */
const MAX_HASHED_HEADERS = 64;
/** A block has at most this many sidecars. */
const MAX_SIDECARS = 128;

interface Header {
  root: string;
  header: { message: unknown };
}

/** The root matches the header. */
export const HEADER_ROOT: Find = (scan, at, end) => {
  if (scan.elements++ >= MAX_HASHED_HEADERS) return undefined;
  const { root, header } = scan.parse(at, end) as Header;
  const expected = headerRoot(header.message);
  return root.toLowerCase() === expected ? undefined : `has root ${root}, but its header has ${expected}`;
};

/** The header has the requested root. */
export const headerOf =
  (param: string): Find =>
  (scan, at, end) => {
    const requested = scan.params[param];
    if (requestedRoot(requested) === undefined || scan.elements++ >= MAX_SIDECARS) return undefined;
    return wrongRoot(headerRoot(scan.parse(at, end)), param, requested);
  };

/** The attestation data have the requested root. */
export const REQUESTED_DATA: Find = (scan, at, end) => {
  const { attestation_data_root: requested } = scan.params;
  if (requestedRoot(requested) === undefined) return undefined;
  return wrongRoot(attestationDataRoot(scan.parse(at, end)), "attestation_data_root", requested);
};

/** The payload envelope, signed or not, belongs to the requested block. */
export const envelopeOf =
  (param: string): Find =>
  (scan, at, end) => {
    const requested = scan.params[param];
    if (requestedRoot(requested) === undefined) return undefined;
    const data = scan.parse(at, end);
    const root = memberOf(memberOf(data, "message") ?? data, "beacon_block_root");
    return wrongRoot(String(root).toLowerCase(), param, requested);
  };

interface Checkpoint {
  epoch: string;
}

interface AttestationData {
  slot: string;
  index: string;
  source: Checkpoint;
  target: Checkpoint;
}

/** The target epoch is that of the slot, and the source epoch is not later. */
export const ATTESTATION_TIMES: Find = (scan, at, end) => findTimeViolation(scan.parse(at, end) as AttestationData);

function findTimeViolation({ slot, source, target }: AttestationData): string | undefined {
  if (Number(target.epoch) !== epochOf(slot)) return `has target epoch ${target.epoch}, but slot ${slot}`;
  if (Number(source.epoch) <= Number(target.epoch)) return undefined;
  return `has source epoch ${source.epoch} after target epoch ${target.epoch}`;
}

/** Slot and epochs are consistent. The index is the requested committee before electra, and 0 from electra on. */
export const ATTESTATION_DATA: Find = (scan, at, end) => {
  const data = scan.parse(at, end) as AttestationData;
  return findAttestationViolation(data, scan.params.committee_index, scan.chainSpec);
};

/** In gloas, the index tells whether the payload of a block is present, as 0 or 1. */
export function findAttestationViolation(
  data: AttestationData,
  committee: string | undefined,
  chainSpec: ChainSpec | undefined,
): string | undefined {
  const violation = findTimeViolation(data);
  const slot = Number(data.slot);
  const fork = chainSpec && settledForkAt(chainSpec, slot);
  if (violation !== undefined || fork === undefined) return violation;
  const isBeforeElectra = isBefore(fork, "electra");
  if (isBeforeElectra && committee === undefined) return undefined;
  const expected = isBeforeElectra ? Number(committee) : 0;
  const mayBeLater = fork === "gloas" || !isFollowed(chainSpec!, slot);
  const index = Number(data.index);
  if (index === expected || (mayBeLater && index <= 1)) return undefined;
  return `has index ${data.index} instead of ${expected}`;
}

type FinalityCheckpoints = Record<"previous_justified" | "current_justified" | "finalized", Checkpoint>;

/** The checkpoints are in order and not later than the state. */
export const CHECKPOINTS: Find = (scan, at, end) => {
  const { previous_justified, current_justified, finalized } = scan.parse(at, end) as FinalityCheckpoints;
  const [previous, current, final] = [previous_justified, current_justified, finalized].map(({ epoch }) =>
    Number(epoch),
  );
  if (previous! > current!) return `has previous justified epoch ${previous} after current justified epoch ${current}`;
  if (final! > current!) return `has finalized epoch ${final} after justified epoch ${current}`;
  const slot = slotOf(scan.params.state_id);
  if (slot === undefined || current! <= epochOf(slot)) return undefined;
  return `has justified epoch ${current}, but the state of slot ${slot} was requested`;
};

/** Without the parameter `epoch`, the slot of a committee is in the epoch of the state. */
export const COMMITTEE_OF_STATE: Find = (scan, at, end) => {
  const { state_id, epoch } = scan.params;
  const slot = slotOf(state_id);
  if (epoch !== undefined || slot === undefined) return undefined;
  const slotOfCommittee = scan.scalar(at, end);
  return epochOf(slotOfCommittee) === epochOf(slot)
    ? undefined
    : `is ${slotOfCommittee}, but the state of slot ${slot} was requested`;
};

/** The fork matches the schedule. */
export const FORK_OF_STATE: Find = (scan, at, end) => {
  const { params, chainSpec } = scan;
  const slot = slotOf(params.state_id);
  if (slot === undefined || chainSpec === undefined) return undefined;
  return findForkOfStateViolation(scan.parse(at, end) as StateFork, slot, chainSpec);
};

/** Requires the indices 0, 1, 2, … unless one of the parameters or a request body filters the list. */
export const ascendingIndices =
  (...filters: string[]): Find =>
  (scan, at, end) => {
    if (scan.requestBody !== undefined || filters.some((name) => scan.params[name] !== undefined)) return undefined;
    const expected = scan.elements++;
    const reported = scan.scalar(at, end);
    return Number(reported) === expected ? undefined : `is ${reported} instead of ${expected}`;
  };

/** A slot has one proposer. */
export const PROPOSER_SLOT: Find = (scan, at, end) => {
  const slot = scan.scalar(at, end);
  if (scan.seen.has(slot)) return `is ${slot}, as in another element`;
  scan.seen.add(slot);
  return undefined;
};

/** All slots of an epoch have a proposer, except slot 0. */
export const PROPOSER_SLOTS: Find = ({ params, seen }) => {
  if (params.epoch === undefined || !DECIMAL.test(params.epoch)) return undefined;
  const isWithoutGenesis = Number(params.epoch) === 0 && !seen.has("0");
  const expected = isWithoutGenesis ? SLOTS_PER_EPOCH - 1 : SLOTS_PER_EPOCH;
  return seen.size === expected ? undefined : `has proposers of ${seen.size} slots instead of ${SLOTS_PER_EPOCH}`;
};

/** The validator is in the request body. Accepts any validator if the body contains public keys. */
export const REQUESTED_VALIDATOR: Find = (scan, at, end) => {
  scan.requestedIds ??= parseIds(scan.requestBody);
  const validator = scan.scalar(at, end);
  if (scan.requestedIds.size === 0 || scan.requestedIds.has(validator)) return undefined;
  return `is ${validator}, which was not requested`;
};

/** Returns the ids of a request body. Empty if it is not a list of indices. */
function parseIds(body: Buffer | undefined): ReadonlySet<string> {
  try {
    const ids: unknown = JSON.parse(String(body));
    const indices = Array.isArray(ids) && ids.every((id) => DECIMAL.test(String(id))) ? ids : [];
    return new Set(indices.map((id) => String(BigInt(id as string))));
  } catch {
    return new Set();
  }
}
