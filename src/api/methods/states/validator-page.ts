import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { getValidatorStatus, ssz, type ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { SingleFlight } from "../../../async/single-flight.ts";
import type { BeaconChain } from "../../../chain/chain.ts";
import { LruMap } from "../../../collections/lru-map.ts";
import { ANY_STATUS, statusSet } from "../../../json/validator-status.ts";
import { type CallContext, defineMethod, get, optional } from "../../definition.ts";
import { resolveState } from "../../lookup.ts";
import { STATE_ID } from "../../params/common.ts";
import { validatorStatus } from "../../params/identifiers.ts";
import { boolean, integerUpTo, stringEnum, uint64, uniqueArrayOf } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { perChain } from "../../per-chain.ts";
import { orderValidators, type RegistryQuery, VALIDATOR_SORT_KEYS } from "../../registry-order.ts";
import { snapshotsOf } from "../../registry-snapshots.ts";
import { described, list, object, shape } from "../../schemas.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
/** With a million validators, each order takes 4 MB. */
const MAX_ORDERS = 4;

const PUBKEY_START = /^0x([0-9a-fA-F]{0,96})$/;
const pubkeyStart = paramSchema(
  'the start of a public key: 0x and at most 96 hex digits, such as "0xa99a"',
  { type: "string", pattern: PUBKEY_START.source },
  (value) => (typeof value === "string" ? PUBKEY_START.exec(value)?.[1]?.toLowerCase() : undefined),
);

const getValidatorPage = defineMethod({
  name: "getValidatorPage",
  summary: "A page of the validators of a state, sorted and filtered, with the number of matching validators.",
  params: {
    stateId: STATE_ID,
    offset: optional(uint64, "Number of matching validators before the page. Default: 0."),
    limit: optional(
      integerUpTo(BigInt(MAX_LIMIT), `an integer from 0 to ${MAX_LIMIT}`),
      `Size of the page. Default: ${DEFAULT_LIMIT}.`,
    ),
    sort: optional(stringEnum(VALIDATOR_SORT_KEYS), "Sort key. Default: index."),
    descending: optional(boolean, "True for the reverse order. Default: false."),
    status: optional(
      uniqueArrayOf(validatorStatus, { noun: "statuses" }),
      "Statuses or status groups of the validators. Default: all.",
    ),
    pubkey: optional(pubkeyStart, "Start of the public keys. Default: all."),
  },
  result: {
    name: "page",
    schema: object({
      total: described(shape("Uint64"), "Number of matching validators."),
      validators: list(shape("StateValidator")),
    }),
  },
  failures: ["not-found"],
  rest: [get("/fanal/v1/beacon/states/{state_id}/validators")],
  cost: "heavy",
  access: "read",
  dependsOn: "head",
  example: { params: ["head", 0, 2, "balance", true, ["active"]] },
  async handler({ chain }, { stateId, offset = 0, limit = DEFAULT_LIMIT, descending = false, ...query }, call) {
    const { state } = await resolveState(chain, stateId, call);
    const sortedIndices = await readOrder(
      chain,
      state,
      {
        sort: query.sort ?? "index",
        statuses: statusSet(query.status ?? []),
        pubkeyPrefix: query.pubkey ?? "",
      },
      call,
    );
    const total = sortedIndices?.length ?? state.validators.length;
    const first = Math.min(offset, total);
    const positions = Array.from({ length: Math.min(limit, total - first) }, (_, row) => first + row);
    const indices = positions.map((position) => {
      const rank = descending ? total - 1 - position : position;
      return sortedIndices === undefined ? rank : sortedIndices[rank]!;
    });
    return { total: String(total), validators: indices.map((index) => validatorAt(state, index)) };
  },
});

class ValidatorOrders {
  readonly cached = new LruMap<string, Uint32Array>(MAX_ORDERS);
  readonly inFlight = new SingleFlight<string, Uint32Array>();
}

const ordersOf = perChain(() => new ValidatorOrders());

/** Returns the matching indices in order, or undefined for all validators sorted by index. */
async function readOrder(
  chain: BeaconChain,
  state: CachedBeaconStateAllForks,
  query: RegistryQuery,
  call: CallContext | undefined,
): Promise<Uint32Array | undefined> {
  if (query.sort === "index" && query.statuses === ANY_STATUS && query.pubkeyPrefix === "") return undefined;
  const { cached, inFlight } = ordersOf(chain);
  const key = [toRootHex(state.hashTreeRoot()), query.sort, query.statuses, query.pubkeyPrefix].join();
  const cachedOrder = cached.get(key);
  if (cachedOrder !== undefined) return cachedOrder;
  return inFlight.run(key, call?.signal, async (throwIfAborted, abortSignal) => {
    const snapshots = snapshotsOf(chain);
    const registry = {
      validators: await snapshots.validators(state, abortSignal()),
      balances: await snapshots.balances(state, abortSignal()),
      epoch: computeEpochAtSlot(state.slot),
    };
    const order = await orderValidators(registry, query, throwIfAborted);
    cached.set(key, order);
    return order;
  });
}

function validatorAt(state: CachedBeaconStateAllForks, index: ValidatorIndex) {
  const validator = state.validators.getReadonly(index).toValue();
  return {
    index: String(index),
    balance: String(state.balances.get(index)),
    status: getValidatorStatus(validator, computeEpochAtSlot(state.slot)),
    validator: ssz.phase0.Validator.toJson(validator),
  };
}

export const validatorPageMethods = [getValidatorPage] as const;
