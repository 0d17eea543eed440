import type { routes } from "@lodestar/api";
import { EPOCHS_PER_HISTORICAL_VECTOR, ForkName } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateElectra,
  type CachedBeaconStateFulu,
  computeEpochAtSlot,
} from "@lodestar/state-transition";
import type { BeaconChain } from "../../../chain/chain.ts";
import { invalidParams } from "../../../errors/failure.ts";
import { encodeJson } from "../../../json/encode.ts";
import type { MethodResponse } from "../../../server/method-table.ts";
import type { MetaCodec } from "../../codecs.ts";
import type { ApiContext } from "../../context.ts";
import { type CallContext, defineEncoded, defineOperation, get, optional } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import {
  findState,
  metaOf,
  type ResolvedState,
  resolveState,
  resolveStateRoot,
  slotOrRoot,
  type VersionedMeta,
  versionedMetaOf,
} from "../../lookup.ts";
import { STATE_ID } from "../../params/common.ts";
import { stateId } from "../../params/identifiers.ts";
import { epoch, root } from "../../params/scalars.ts";
import { perChain } from "../../per-chain.ts";
import { requireForkAt } from "../../preconditions.ts";
import { snapshotsOf } from "../../registry-snapshots.ts";
import { either, list, nothing, object, shape } from "../../schemas.ts";
import { StateStreams } from "../../state-streams.ts";

const getGenesis = defineOperation("beacon.getGenesis", {
  number: 1,
  name: "get_v1_beacon_genesis",
  summary: "Time, validators root and fork version of the chain's genesis.",
  result: {
    name: "genesis",
    schema: object({
      genesis_time: shape("Uint64"),
      genesis_validators_root: shape("Root"),
      genesis_fork_version: shape("Version"),
    }),
  },
  failures: [],
  rest: [get("/eth/v1/beacon/genesis")],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  handler: async ({ chain: { config, genesis } }) => ({
    data: {
      genesisTime: genesis.time,
      genesisValidatorsRoot: genesis.validatorsRoot,
      genesisForkVersion: config.GENESIS_FORK_VERSION,
    },
  }),
});

const getStateRoot = defineOperation("beacon.getStateRoot", {
  number: 2,
  name: "get_v1_beacon_states_root",
  aliases: ["get_v1_beacon_states_stateId_root"],
  summary: "The hash tree root of a state.",
  params: { stateId: STATE_ID },
  result: { name: "root", schema: object({ root: shape("Root") }) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/root")],
  cost: "state",
  access: "read",
  dependsOn: "head",
  example: { params: ["head"] },
  async handler({ chain }, { stateId }, call) {
    const { root, ...meta } = await resolveStateRoot(chain, stateId, call);
    return { data: { root }, meta: metaOf(meta) };
  },
});

const getStateFork = defineOperation("beacon.getStateFork", {
  number: 3,
  name: "get_v1_beacon_states_fork",
  aliases: ["get_v1_beacon_states_stateId_fork"],
  summary: "The fork of a state.",
  params: { stateId: STATE_ID },
  result: { name: "fork", schema: shape("Fork") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/fork")],
  cost: "state",
  access: "read",
  dependsOn: "head",
  example: { params: ["finalized"] },
  async handler({ chain }, { stateId }, call) {
    const resolved = await resolveState(chain, stateId, call);
    return { data: resolved.state.fork.toValue(), meta: metaOf(resolved) };
  },
});

const getStateFinalityCheckpoints = defineOperation("beacon.getStateFinalityCheckpoints", {
  number: 4,
  name: "get_v1_beacon_states_finality_checkpoints",
  aliases: ["get_v1_beacon_states_stateId_finality_checkpoints"],
  summary: "The justified and finalized checkpoints of a state.",
  params: { stateId: STATE_ID },
  result: {
    name: "checkpoints",
    schema: object({
      previous_justified: shape("Checkpoint"),
      current_justified: shape("Checkpoint"),
      finalized: shape("Checkpoint"),
    }),
  },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/finality_checkpoints")],
  cost: "state",
  access: "read",
  dependsOn: "head",
  example: { params: ["head"] },
  async handler({ chain }, { stateId }, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { previousJustifiedCheckpoint, currentJustifiedCheckpoint, finalizedCheckpoint } = resolved.state;
    return {
      data: {
        previousJustified: previousJustifiedCheckpoint.toValue(),
        currentJustified: currentJustifiedCheckpoint.toValue(),
        finalized: finalizedCheckpoint.toValue(),
      },
      meta: metaOf(resolved),
    };
  },
});

const getStateRandao = defineOperation("beacon.getStateRandao", {
  name: "get_v1_beacon_states_stateId_randao",
  summary: "The RANDAO mix of an epoch in a state.",
  params: { stateId: STATE_ID, epoch: optional(epoch, "Epoch. Default: the epoch of the state.") },
  result: { name: "randao", schema: object({ randao: shape("Root") }) },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/states/{state_id}/randao")],
  cost: "state",
  access: "read",
  example: { params: (chain) => ["head", String(chain.epoch - 1)] },
  async handler({ chain }, { stateId, epoch: givenEpoch }, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { state } = resolved;
    const stateEpoch = computeEpochAtSlot(state.slot);
    const epoch = givenEpoch ?? stateEpoch;
    // The vector is a ring (phase0/beacon-chain.md, get_randao_mix).
    if (epoch > stateEpoch || epoch + EPOCHS_PER_HISTORICAL_VECTOR <= stateEpoch) {
      throw invalidParams(
        `The state of epoch ${stateEpoch} does not have the RANDAO mix of epoch ${epoch}, only those of its own epoch and ` +
          `the ${EPOCHS_PER_HISTORICAL_VECTOR - 1} epochs before it.`,
      );
    }
    return {
      data: { randao: state.randaoMixes.get(epoch % EPOCHS_PER_HISTORICAL_VECTOR) },
      meta: metaOf(resolved),
    };
  },
});

/**
 * Members common to operations that return a field of the state from a fork on. `noun` is the plural name of the field,
 * for errors.
 */
function stateField<Data>(fork: ForkName, noun: string, read: (state: CachedBeaconStateAllForks) => Data) {
  return {
    params: { stateId: STATE_ID },
    failures: ["not-found"],
    cost: "state",
    access: "read",
    since: fork,
    example: { params: ["head"] },
    async handler({ chain }: ApiContext, { stateId }: { stateId: routes.beacon.StateId }, call?: CallContext) {
      const resolved = await resolveState(chain, stateId, call);
      const { state } = resolved;
      requireForkAt(chain.config, fork, state.slot, noun);
      return { data: read(state), meta: versionedMetaOf(chain, state.slot, resolved) };
    },
  } as const;
}

const getPendingConsolidations = defineOperation("beacon.getPendingConsolidations", {
  name: "get_v1_beacon_states_stateId_pending_consolidations",
  summary: "Pending consolidations of a state; from electra on.",
  result: {
    name: "consolidations",
    schema: list(object({ source_index: shape("Uint64"), target_index: shape("Uint64") })),
  },
  rest: [get("/eth/v1/beacon/states/{state_id}/pending_consolidations", { ssz: "response" })],
  ...stateField(ForkName.electra, "Pending consolidations", (state) =>
    (state as CachedBeaconStateElectra).pendingConsolidations.toValue(),
  ),
});

const getPendingDeposits = defineOperation("beacon.getPendingDeposits", {
  name: "get_v1_beacon_states_stateId_pending_deposits",
  summary: "Pending deposits of a state; from electra on.",
  result: {
    name: "deposits",
    schema: list(
      object({
        pubkey: shape("Pubkey"),
        withdrawal_credentials: shape("Root"),
        amount: shape("Uint64"),
        signature: shape("Signature"),
        slot: shape("Uint64"),
      }),
    ),
  },
  rest: [get("/eth/v1/beacon/states/{state_id}/pending_deposits", { ssz: "response" })],
  ...stateField(ForkName.electra, "Pending deposits", (state) =>
    (state as CachedBeaconStateElectra).pendingDeposits.toValue(),
  ),
});

const getPendingPartialWithdrawals = defineOperation("beacon.getPendingPartialWithdrawals", {
  name: "get_v1_beacon_states_stateId_pending_partial_withdrawals",
  summary: "Pending partial withdrawals of a state; from electra on.",
  result: {
    name: "withdrawals",
    schema: list(
      object({
        validator_index: shape("Uint64"),
        amount: shape("Uint64"),
        withdrawable_epoch: shape("Uint64"),
      }),
    ),
  },
  rest: [get("/eth/v1/beacon/states/{state_id}/pending_partial_withdrawals", { ssz: "response" })],
  ...stateField(ForkName.electra, "Pending partial withdrawals", (state) =>
    (state as CachedBeaconStateElectra).pendingPartialWithdrawals.toValue(),
  ),
});

const getProposerLookahead = defineOperation("beacon.getProposerLookahead", {
  name: "get_v1_beacon_states_stateId_proposer_lookahead",
  summary: "Proposers of the state's epoch and the next one, by slot; from fulu on.",
  result: { name: "proposers", schema: list(shape("Uint64")) },
  rest: [get("/eth/v1/beacon/states/{state_id}/proposer_lookahead", { ssz: "response" })],
  ...stateField(ForkName.fulu, "Proposer lookaheads", (state) =>
    (state as CachedBeaconStateFulu).proposerLookahead.toValue(),
  ),
});

const getState = defineOperation("debug.getStateV2", {
  number: 45,
  name: "get_v1_debug_beacon_states_stateId",
  aliases: ["get_v2_debug_beacon_states_stateId"],
  summary: "A full state.",
  params: { stateId: STATE_ID },
  result: { name: "state", schema: shape("BeaconState") },
  failures: ["not-found"],
  rest: [
    get("/eth/v2/debug/beacon/states/{state_id}", { ssz: "response" }),
    get("/eth/v1/debug/beacon/states/{state_id}", { ssz: "response" }),
  ],
  cost: "heavy",
  access: "debug",
  example: { params: ["finalized"] },
  json: async ({ chain }, { stateId }, codec, call) =>
    streamState(chain, await resolveState(chain, stateId, call), codec.meta, call),
  async ssz({ chain }, { stateId }, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { state } = resolved;
    const data = await stateStreamsOf(chain).ssz(state, call?.signal);
    return { data, meta: versionedMetaOf(chain, state.slot, resolved) };
  },
});

const getBeaconState = defineEncoded({
  number: 56,
  name: "getBeaconState",
  summary: "The state of a slot or root; null if there is none.",
  params: {
    slot: optional(stateId, "Slot of the canonical chain, or any other state id."),
    root: optional(root, "Root of a state, if no slot is given."),
  },
  result: { name: "state", schema: either(shape("BeaconState"), nothing) },
  failures: [],
  cost: "heavy",
  access: "debug",
  example: { params: (chain) => [String(chain.slot - 1)] },
  codec: (codecs) => codecs.debug.getStateV2.resp,
  async json({ chain }, args, codec, call) {
    const resolved = await findState(chain, slotOrRoot("getBeaconState", args), call);
    return resolved === null ? { body: encodeJson(null) } : streamState(chain, resolved, codec.meta, call);
  },
});

const stateStreamsOf = perChain((chain) => new StateStreams(snapshotsOf(chain)));

async function streamState(
  chain: BeaconChain,
  resolved: ResolvedState,
  meta: MetaCodec<VersionedMeta>,
  call: CallContext | undefined,
): Promise<MethodResponse> {
  const { state } = resolved;
  return {
    body: await stateStreamsOf(chain).json(state, call?.signal),
    ...encodeMeta(meta, versionedMetaOf(chain, state.slot, resolved)),
  };
}

export const stateMethods = [
  getGenesis,
  getStateRoot,
  getStateFork,
  getStateFinalityCheckpoints,
  getStateRandao,
  getPendingConsolidations,
  getPendingDeposits,
  getPendingPartialWithdrawals,
  getProposerLookahead,
] as const;

export const wholeStateMethods = [getState, getBeaconState] as const;
