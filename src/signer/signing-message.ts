import { ContainerType, type Type } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_APPLICATION_BUILDER,
  DOMAIN_BEACON_ATTESTER,
  DOMAIN_BEACON_PROPOSER,
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_DEPOSIT,
  DOMAIN_RANDAO,
  DOMAIN_SELECTION_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  DOMAIN_VOLUNTARY_EXIT,
  ForkName,
  ForkSeq,
} from "@lodestar/params";
import { computeDomain, computeEpochAtSlot, computeSigningRoot, ZERO_HASH } from "@lodestar/state-transition";
import {
  type AggregateAndProof,
  type BeaconBlock,
  type DomainType,
  type Epoch,
  type phase0,
  type Slot,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { byteArrayEquals, toHex } from "@lodestar/utils";
import {
  InvalidPayloadError,
  type JsonObject,
  memberLocation,
  type PayloadLocation,
  readSszJson,
  rejectionReason,
  requireMember,
  requireObject,
  TOP_LEVEL,
} from "../api/params/ssz-payload.ts";
import { nearestName } from "../errors/nearest-name.ts";

/** Message to sign, taken from the body of a Web3Signer API request. */
export interface SigningMessage {
  signingRoot: Uint8Array;
  /** Set for messages that slashing conditions apply to. */
  slashable?: { block: { slot: Slot } } | { attestation: phase0.AttestationData };
}

/** Computes the domain for an epoch, using the fork given in the request. */
type DomainAt = (domain: DomainType, epoch: Epoch) => Uint8Array;

interface RequestContext {
  body: JsonObject;
  config: BeaconConfig;
  domainAt: DomainAt;
}

type MessageReader = (context: RequestContext) => SigningMessage;

const options = { jsonCase: "eth2" } as const;
const FORK_INFO = new ContainerType({ fork: ssz.phase0.Fork, genesisValidatorsRoot: ssz.Root }, options);
const AT_SLOT = new ContainerType({ slot: ssz.Slot }, options);
const AT_EPOCH = new ContainerType({ epoch: ssz.Epoch }, options);
const SYNC_MESSAGE = new ContainerType({ beaconBlockRoot: ssz.Root, slot: ssz.Slot }, options);
const DEPOSIT = new ContainerType({ ...ssz.phase0.DepositMessage.fields, genesisForkVersion: ssz.Version }, options);
// Allow integers of any size here, unlike in the chain's own types.
const HEADER = new ContainerType({ ...ssz.phase0.BeaconBlockHeader.fields, proposerIndex: ssz.UintBn64 }, options);
const REGISTRATION = new ContainerType(
  { ...ssz.bellatrix.ValidatorRegistrationV1.fields, gasLimit: ssz.UintBn64, timestamp: ssz.UintBn64 },
  options,
);

/** Forks by the names that requests use. */
const VERSIONS: ReadonlyMap<string, ForkName> = new Map(
  Object.values(ForkName).map((fork) => [fork.toUpperCase(), fork]),
);

const READERS: Readonly<Record<string, MessageReader>> = {
  AGGREGATION_SLOT({ body, domainAt }) {
    const { slot } = readMember(AT_SLOT, body, "aggregation_slot");
    return rootOf(ssz.Slot, slot, domainAt(DOMAIN_SELECTION_PROOF, computeEpochAtSlot(slot)));
  },
  AGGREGATE_AND_PROOF(context) {
    return aggregate(readMember(ssz.phase0.AggregateAndProof, context.body, "aggregate_and_proof"), context);
  },
  AGGREGATE_AND_PROOF_V2(context) {
    const { fork, versioned, location } = readVersioned(context.body, "aggregate_and_proof");
    const type = sszTypesFor(fork).AggregateAndProof as Type<AggregateAndProof>;
    return aggregate(readMember(type, versioned, "data", location), context, type);
  },
  ATTESTATION({ body, domainAt }) {
    const attestation = readMember(ssz.phase0.AttestationData, body, "attestation");
    const domain = domainAt(DOMAIN_BEACON_ATTESTER, attestation.target.epoch);
    return { ...rootOf(ssz.phase0.AttestationData, attestation, domain), slashable: { attestation } };
  },
  BLOCK({ body, domainAt }) {
    return block(ssz.phase0.BeaconBlock, readMember(ssz.phase0.BeaconBlock, body, "block"), domainAt);
  },
  BLOCK_V2({ body, domainAt }) {
    const { fork, versioned, location } = readVersioned(body, "beacon_block");
    if (Object.hasOwn(versioned, "block_header")) {
      return block(HEADER, readMember(HEADER, versioned, "block_header", location), domainAt);
    }
    const type = sszTypesFor(fork).BeaconBlock as Type<BeaconBlock>;
    return block(type, readMember(type, versioned, "block", location), domainAt);
  },
  DEPOSIT({ body }) {
    const { genesisForkVersion, ...deposit } = readMember(DEPOSIT, body, "deposit");
    const domain = computeDomain(DOMAIN_DEPOSIT, genesisForkVersion, ZERO_HASH);
    return rootOf(ssz.phase0.DepositMessage, deposit, domain);
  },
  RANDAO_REVEAL({ body, domainAt }) {
    const { epoch } = readMember(AT_EPOCH, body, "randao_reveal");
    return rootOf(ssz.Epoch, epoch, domainAt(DOMAIN_RANDAO, epoch));
  },
  SYNC_COMMITTEE_MESSAGE({ body, domainAt }) {
    const { beaconBlockRoot, slot } = readMember(SYNC_MESSAGE, body, "sync_committee_message");
    return rootOf(ssz.Root, beaconBlockRoot, domainAt(DOMAIN_SYNC_COMMITTEE, computeEpochAtSlot(slot)));
  },
  SYNC_COMMITTEE_SELECTION_PROOF({ body, domainAt }) {
    const type = ssz.altair.SyncAggregatorSelectionData;
    const data = readMember(type, body, "sync_aggregator_selection_data");
    return rootOf(type, data, domainAt(DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF, computeEpochAtSlot(data.slot)));
  },
  SYNC_COMMITTEE_CONTRIBUTION_AND_PROOF({ body, domainAt }) {
    const type = ssz.altair.ContributionAndProof;
    const message = readMember(type, body, "contribution_and_proof");
    const epoch = computeEpochAtSlot(message.contribution.slot);
    return rootOf(type, message, domainAt(DOMAIN_CONTRIBUTION_AND_PROOF, epoch));
  },
  VALIDATOR_REGISTRATION({ body, config }) {
    const registration = readMember(REGISTRATION, body, "validator_registration");
    return rootOf(
      REGISTRATION,
      registration,
      computeDomain(DOMAIN_APPLICATION_BUILDER, config.GENESIS_FORK_VERSION, ZERO_HASH),
    );
  },
  VOLUNTARY_EXIT({ body, config, domainAt }) {
    const exit = readMember(ssz.phase0.VoluntaryExit, body, "voluntary_exit");
    return rootOf(
      ssz.phase0.VoluntaryExit,
      exit,
      exitDomain(body, config) ?? domainAt(DOMAIN_VOLUNTARY_EXIT, exit.epoch),
    );
  },
};

/**
 * Reads the body of a signing request and computes its signing root. Throws an `InvalidPayloadError` whose message is a
 * predicate about the request, such as `has the unknown type …`.
 */
export function readSigningMessage(json: unknown, config: BeaconConfig): SigningMessage {
  const body = requireObject(json, TOP_LEVEL);
  const type = requireMember(body, "type", TOP_LEVEL);
  const reader = typeof type === "string" && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (!reader) throw unknownName("type", type, Object.keys(READERS));
  const message = reader({ body, config, domainAt: (domain, epoch) => domainOf(body, config, domain, epoch) });
  const declared = body.signingRoot ?? body.signing_root;
  const computed = toHex(message.signingRoot);
  if (declared !== undefined && String(declared).toLowerCase() !== computed) {
    throw new InvalidPayloadError(
      `has the signingRoot ${JSON.stringify(declared)}, but its message has ${computed}. ` +
        "The client may have another fork or preset.",
    );
  }
  return message;
}

function rootOf<T>(type: Type<T>, message: T, domain: Uint8Array): SigningMessage {
  return { signingRoot: computeSigningRoot(type, message, domain) };
}

function block<T extends { slot: Slot }>(type: Type<T>, message: T, domainAt: DomainAt): SigningMessage {
  const { slot } = message;
  const signed = rootOf(type, message, domainAt(DOMAIN_BEACON_PROPOSER, computeEpochAtSlot(slot)));
  return { ...signed, slashable: { block: { slot } } };
}

function aggregate<T extends { aggregate: { data: { slot: Slot } } }>(
  message: T,
  { domainAt }: RequestContext,
  type = ssz.phase0.AggregateAndProof as unknown as Type<T>,
): SigningMessage {
  const epoch = computeEpochAtSlot(message.aggregate.data.slot);
  return rootOf(type, message, domainAt(DOMAIN_AGGREGATE_AND_PROOF, epoch));
}

function readForkInfo(body: JsonObject, config: BeaconConfig): phase0.Fork {
  const { fork, genesisValidatorsRoot } = readMember(FORK_INFO, body, "fork_info");
  if (!byteArrayEquals(genesisValidatorsRoot, config.genesisValidatorsRoot)) {
    throw new InvalidPayloadError(
      `is for another chain: its genesis_validators_root is ${toHex(genesisValidatorsRoot)}, ` +
        `that of this chain is ${toHex(config.genesisValidatorsRoot)}.`,
    );
  }
  return fork;
}

/** Computes a domain using the fork given in the request (phase0/beacon-chain.md, get_domain). */
function domainOf(body: JsonObject, config: BeaconConfig, domain: DomainType, epoch: Epoch): Uint8Array {
  const fork = readForkInfo(body, config);
  const version = epoch < fork.epoch ? fork.previousVersion : fork.currentVersion;
  return computeDomain(domain, version, config.genesisValidatorsRoot);
}

/** Returns the Capella domain, which voluntary exits use since Deneb (EIP-7044); undefined before Deneb. */
function exitDomain(body: JsonObject, config: BeaconConfig): Uint8Array | undefined {
  const { currentVersion } = readForkInfo(body, config);
  const fork = config.forksAscendingEpochOrder.find(({ version }) => byteArrayEquals(version, currentVersion));
  if (!fork || fork.seq < ForkSeq.deneb) return undefined;
  return computeDomain(DOMAIN_VOLUNTARY_EXIT, config.CAPELLA_FORK_VERSION, config.genesisValidatorsRoot);
}

/** Reads an object whose `version` member determines the type of another member. */
function readVersioned(
  body: JsonObject,
  name: string,
): { fork: ForkName; versioned: JsonObject; location: PayloadLocation } {
  const location = memberLocation(TOP_LEVEL, name);
  const versioned = requireObject(requireMember(body, name, TOP_LEVEL), location);
  const version = requireMember(versioned, "version", location);
  const fork = typeof version === "string" ? VERSIONS.get(version.toUpperCase()) : undefined;
  if (!fork) throw unknownName(`${name}.version`, version, [...VERSIONS.keys()]);
  return { fork, versioned, location };
}

function readMember<T>(type: Type<T>, json: JsonObject, name: string, at: PayloadLocation = TOP_LEVEL): T {
  const value = readSszJson(type, requireMember(json, name, at), memberLocation(at, name));
  const imprecise = rejectionReason(value as object, "");
  if (imprecise !== "") throw new InvalidPayloadError(`cannot be signed. ${imprecise}`);
  return value;
}

function unknownName(path: string, value: unknown, known: readonly string[]): InvalidPayloadError {
  const nearest = typeof value === "string" ? nearestName(value.toUpperCase(), known) : undefined;
  const advice = nearest === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${nearest}"?`;
  const shown = JSON.stringify(value)?.slice(0, 40);
  return new InvalidPayloadError(`has the unknown ${path} ${shown}. ${advice}`);
}
