import { invalidParams } from "../../failure.ts";
import type { MethodTable } from "../../server/method-table.ts";
import type { RestRequest, RestRoute } from "../../server/rest/route-table.ts";
import { dataAnswer } from "./answer.ts";

/** The second is where existing scripts look for them. */
const NAMESPACES = ["/fanal", "/nimbus"];

/** The paths of the interface document's section 4.7, by the method that answers them. */
const READS: Record<string, string> = {
  "/v1/beacon/head": "getBeaconHead",
  "/v1/chain/head": "getChainHead",
  "/v1/node/version": "getNodeVersion",
  "/v1/network/peers": "peers",
  "/v1/syncmanager/status": "getSyncing",
  "/v1/eth1/chain": "getEth1Chain",
  "/v1/eth1/proposal_data": "getEth1ProposalData",
  "/v1/debug/chronos/futures": "debug_getChronosFutures",
  "/v1/debug/gossip/peers": "debug_getGossipSubPeers",
};

/** Their bodies are plain text. */
const WRITES: Record<string, string> = {
  "/v1/chronicles/settings": "setLogLevel",
  "/v1/graffiti": "setGraffiti",
};

export function extensionRoutes(table: MethodTable): RestRoute[] {
  const route = (verb: RestRoute["verb"], path: string, name: string): RestRoute => ({
    verb,
    path,
    answers: ["json"],
    accepts: [],
    async handle(request) {
      const params = verb === "POST" ? [textOf(request)] : [];
      return dataAnswer(await table.find(name)!.call(params), request);
    },
  });
  return NAMESPACES.flatMap((namespace) => [
    ...Object.entries(READS).map(([path, name]) => route("GET", namespace + path, name)),
    ...Object.entries(WRITES).map(([path, name]) => route("POST", namespace + path, name)),
  ]);
}

/** The body as it is, whatever its type is said to be: command line tools call text a form. */
function textOf({ body }: RestRequest): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw invalidParams("The body must be text in UTF-8.", { cause });
  }
}
