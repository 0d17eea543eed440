import type { routes } from "@lodestar/api";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { GeneralValidatorStatus, ValidatorStatus } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { notFound } from "../../../errors/failure.ts";
import { type SharedStream, type StreamDescriptor, writeElement, writeOrStream } from "../../../json/shared-stream.ts";
import { statusSet } from "../../../json/validator-status.ts";
import type { Chunks } from "../../../json/writers/registry-chunks.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import type { MetaCodec } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import { type CallContext, defineOperation, get, optional, post, required } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { metaOf, type ResolvedState, resolveState, type StateMeta } from "../../lookup.ts";
import { STATE_ID, VALIDATOR_IDS } from "../../params/common.ts";
import { validatorId, validatorStatus } from "../../params/identifiers.ts";
import { registryFilter } from "../../params/registry-filter.ts";
import { uniqueArrayOf } from "../../params/scalars.ts";
import { snapshotsOf } from "../../registry-snapshots.ts";
import { list, object, shape } from "../../schemas.ts";
import { balancesAt, indexInRegistry, indicesInRegistry, validatorsAt } from "./registry.ts";

interface BalancesQuery {
  stateId: routes.beacon.StateId;
  /** Unknown ids are ignored. An empty list selects all validators. */
  validatorIds?: routes.beacon.state.ValidatorId[];
}

interface ValidatorsQuery extends BalancesQuery {
  /** Statuses and status groups. An empty list selects all statuses. */
  statuses?: (ValidatorStatus | GeneralValidatorStatus)[];
}

/** Maximum number of ids per call. The Beacon API has a limit of 64, but only because of the length of URLs. */
const MAX_VALIDATOR_IDS = 16_384;
const ID = optional(
  uniqueArrayOf(validatorId, { noun: "validator ids", maxItems: MAX_VALIDATOR_IDS }),
  "Validators by index or public key. Default: all.",
  { name: "id" },
);
const IDS = { ...VALIDATOR_IDS, name: "ids" };

const VALIDATORS = { name: "validators", schema: list(shape("StateValidator")) };
const BALANCES = { name: "balances", schema: list(object({ index: shape("Uint64"), balance: shape("Uint64") })) };

/** Returns the encoders for a list of validators. `describe` returns the stream for a selection. */
function listEncoders(describe: (selection: ValidatorSelection, format: "json" | "ssz") => Promise<StreamDescriptor>) {
  const respond = async (chain: BeaconChain, query: BalancesQuery, format: "json" | "ssz", call?: CallContext) => {
    const selection = await selectValidators(chain, query, call);
    return { data: bodyOf(selection, await describe(selection, format)), meta: metaOf(selection.resolved) };
  };
  return {
    async json({ chain }: ApiContext, query: BalancesQuery, codec: { meta: MetaCodec<StateMeta> }, call?: CallContext) {
      const { data, meta } = await respond(chain, query, "json", call);
      return { body: data, ...encodeMeta(codec.meta, meta) };
    },
    ssz: ({ chain }: ApiContext, query: BalancesQuery, call?: CallContext) => respond(chain, query, "ssz", call),
  };
}

const BALANCE_ENCODERS = listEncoders(async ({ indices, balances }, format) => ({
  writer: format === "ssz" ? "balancesSsz" : "balances",
  input: { indices, balanceChunks: await balances() },
}));

const getStateValidators = defineOperation("beacon.getStateValidators", {
  number: 5,
  name: "get_v1_beacon_states_stateId_validators",
  summary: "Validators of a state with their balances and statuses, by index.",
  params: {
    stateId: STATE_ID,
    validatorIds: ID,
    statuses: optional(
      uniqueArrayOf(validatorStatus, { noun: "statuses" }),
      "Statuses or status groups of the validators. Default: all.",
      { name: "status" },
    ),
  },
  result: VALIDATORS,
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: (chain) => ["head", ["2", chain.pubkey(5)], ["active", "pending_queued"]] },
  json: ({ chain }, query, codec, call) => writeValidators(chain, query, codec.meta, call),
});

const postStateValidators = defineOperation("beacon.postStateValidators", {
  name: "post_v1_beacon_states_stateId_validators",
  summary: "Like get_v1_beacon_states_stateId_validators, for any number of ids.",
  params: {
    stateId: STATE_ID,
    filter: required(registryFilter(validatorStatus), "Ids and statuses of the validators. Default: all.", {
      defaultBody: {},
    }),
  },
  result: VALIDATORS,
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: ["head", { ids: ["2", "5"], statuses: ["active"] }] },
  json: ({ chain }, query, codec, call) => writeValidators(chain, filtered(query), codec.meta, call),
});

const getStateValidator = defineOperation("beacon.getStateValidator", {
  number: 6,
  name: "get_v1_beacon_states_stateId_validators_validatorId",
  summary: "A validator of a state with its balance and status.",
  params: { stateId: STATE_ID, validatorId: required(validatorId, "Validator index or public key.") },
  result: { name: "validator", schema: shape("StateValidator") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validators/{validator_id}")],
  cost: "state",
  access: "read",
  dependsOn: "head",
  elementOf: "get_v1_beacon_states_stateId_validators",
  example: { params: (chain) => ["head", chain.pubkey(2)] },
  async json({ chain }, { stateId, validatorId }, codec, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { state } = resolved;
    const index = indexInRegistry(state, validatorId);
    if (index === undefined) throw notFound(`The state of slot ${state.slot} has no validator ${validatorId}.`);
    const list = await describeValidators(selectionOf(resolved, Uint32Array.of(index)));
    return { body: writeElement(list, 0)!, ...encodeMeta(codec.meta, metaOf(resolved)) };
  },
});

const getStateValidatorBalances = defineOperation("beacon.getStateValidatorBalances", {
  number: 7,
  name: "get_v1_beacon_states_stateId_validator_balances",
  summary: "Validator balances of a state, by index.",
  params: { stateId: STATE_ID, validatorIds: ID },
  result: BALANCES,
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/validator_balances", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: ["head", ["0", "1", "2"]] },
  ...BALANCE_ENCODERS,
});

const postStateValidatorBalances = defineOperation("beacon.postStateValidatorBalances", {
  name: "post_v1_beacon_states_stateId_validator_balances",
  summary: "Like get_v1_beacon_states_stateId_validator_balances, for any number of ids.",
  params: { stateId: STATE_ID, validatorIds: IDS },
  result: BALANCES,
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validator_balances", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: (chain) => ["head", ["1", chain.pubkey(2)]] },
  ...BALANCE_ENCODERS,
});

const postStateValidatorIdentities = defineOperation("beacon.postStateValidatorIdentities", {
  name: "post_v1_beacon_states_stateId_validator_identities",
  summary: "Indices, public keys and activation epochs of validators, by index.",
  params: { stateId: STATE_ID, validatorIds: IDS },
  result: {
    name: "identities",
    schema: list(object({ index: shape("Uint64"), pubkey: shape("Pubkey"), activation_epoch: shape("Uint64") })),
  },
  failures: ["not-found"],
  rest: [post("/eth/v1/beacon/states/{state_id}/validator_identities", { ssz: "response" })],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: ["head", ["0", "1"]] },
  ...listEncoders(async ({ indices, validators }, format) => ({
    writer: format === "ssz" ? "identitiesSsz" : "identities",
    input: { indices, validatorChunks: await validators() },
  })),
});

export const validatorMethods = [
  getStateValidators,
  getStateValidator,
  getStateValidatorBalances,
  postStateValidators,
  postStateValidatorBalances,
  postStateValidatorIdentities,
] as const;

/** The requested validators and the source of their serialized data. */
interface ValidatorSelection {
  resolved: ResolvedState;
  /** Undefined if all validators in the state are selected. */
  indices: Uint32Array | undefined;
  validators(): Promise<Chunks>;
  balances(): Promise<Chunks>;
}

async function selectValidators(
  chain: BeaconChain,
  { stateId, validatorIds = [] }: BalancesQuery,
  call?: CallContext,
): Promise<ValidatorSelection> {
  const resolved = await resolveState(chain, stateId, call);
  const { state } = resolved;
  if (validatorIds.length > 0) return selectionOf(resolved, await indicesInRegistry(state, validatorIds));
  const snapshots = snapshotsOf(chain);
  return {
    resolved,
    indices: undefined,
    validators: () => snapshots.validators(state, call?.signal),
    balances: () => snapshots.balances(state, call?.signal),
  };
}

/** Selects validators to be read from the state itself rather than from a snapshot. */
function selectionOf(resolved: ResolvedState, indices: Uint32Array): ValidatorSelection {
  const { state } = resolved;
  return {
    resolved,
    indices,
    validators: () => validatorsAt(state, indices),
    balances: () => balancesAt(state, indices),
  };
}

async function writeValidators(
  chain: BeaconChain,
  query: ValidatorsQuery,
  meta: MetaCodec<StateMeta>,
  call?: CallContext,
): Promise<MethodResponse> {
  const selection = await selectValidators(chain, query, call);
  const body = bodyOf(selection, await describeValidators(selection, query.statuses));
  return { body, ...encodeMeta(meta, metaOf(selection.resolved)) };
}

async function describeValidators(
  { resolved, indices, validators, balances }: ValidatorSelection,
  statuses: ValidatorsQuery["statuses"] = [],
): Promise<StreamDescriptor> {
  const input = {
    indices,
    validatorChunks: await validators(),
    balanceChunks: await balances(),
    epoch: computeEpochAtSlot(resolved.state.slot),
    statuses: statusSet(statuses),
  };
  return { writer: "validators", input };
}

function bodyOf({ resolved, indices }: ValidatorSelection, descriptor: StreamDescriptor): Buffer | SharedStream {
  return writeOrStream(descriptor, indices?.length ?? resolved.state.validators.length);
}

function filtered({
  stateId,
  filter,
}: {
  stateId: routes.beacon.StateId;
  filter: { ids?: routes.beacon.state.ValidatorId[]; statuses?: ValidatorsQuery["statuses"] };
}): ValidatorsQuery {
  return { stateId, validatorIds: filter.ids, statuses: filter.statuses };
}
