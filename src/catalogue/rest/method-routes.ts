import type { MethodTable } from "../../server/method-table.ts";
import type { RestRoute } from "../../server/rest/route-table.ts";
import { type Entry, get, post, type RestTwin } from "../entry.ts";
import { dataAnswer } from "./answer.ts";
import { callMethod, submit } from "./method-call.ts";

/** Paths of the standard's first versions whose methods have a newer twin, by the method that answers them. */
const MORE_PATHS: Record<string, RestTwin[]> = {
  get_v1_beacon_blocks_blockId: [get("/eth/v1/beacon/blocks/{block_id}")],
  get_v1_debug_beacon_states_stateId: [get("/eth/v1/debug/beacon/states/{state_id}")],
  get_v1_validator_block: [get("/eth/v1/validator/blocks/{slot}")],
  post_v2_beacon_blinded_blocks: [post("/eth/v1/beacon/blinded_blocks")],
  // As the interface document writes it.
  get_v1_node_peers_peerId: [get("/eth/v1/node/peer/{peer_id}")],
};

/**
 * The operations that the vocabulary of @lodestar/api does not have, or has no handler for: they are answered by the methods
 * of the catalogue. `served` has the others.
 */
export function methodRoutes(
  entries: readonly Entry[],
  methods: MethodTable,
  served: readonly RestRoute[],
): RestRoute[] {
  const taken = new Set(served.map(({ verb, path }) => `${verb} ${path}`));
  const routes: RestRoute[] = [];
  for (const entry of entries) {
    for (const twin of twinsOf(entry)) {
      if (taken.has(`${twin.verb} ${twin.path}`)) continue;
      taken.add(`${twin.verb} ${twin.path}`);
      const newer = entry.submission ? undefined : served.find(({ verb, path }) => isPath(entry.rest, verb, path));
      routes.push(methodRoute(entry, twin, methods, newer));
    }
  }
  return routes;
}

function isPath(twin: RestTwin | null, verb: string, path: string): boolean {
  return twin?.verb === verb && twin.path === path;
}

function twinsOf({ name, rest }: Entry): RestTwin[] {
  return [...(rest ? [rest] : []), ...(MORE_PATHS[name] ?? [])];
}

/** `newer` is the path that the standard put in place of this one: SSZ is the same there. */
function methodRoute(entry: Entry, { verb, path }: RestTwin, methods: MethodTable, newer?: RestRoute): RestRoute {
  const method = methods.find(entry.name)!;
  const takesList = entry.params.some(({ each }) => each);
  return {
    verb,
    path,
    answers: entry.submission ? [] : (newer?.answers ?? ["json"]),
    accepts: verb === "POST" ? ["json"] : [],
    async handle(request) {
      if (entry.submission) return submit(entry, path, method, request, takesList);
      if (newer && request.format === "ssz") return newer.handle(request);
      return dataAnswer(await callMethod(entry, path, method, request), request);
    },
  };
}
