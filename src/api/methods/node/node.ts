import { routes } from "@lodestar/api";
import { invalidParams } from "../../../errors/failure.ts";
import { LogSpecError } from "../../../log/log-spec.ts";
import type { ApiContext } from "../../context.ts";
import { defineMethod, defineOperation, get, optional, post, required } from "../../definition.ts";
import { graffiti, statusCode, text as textParam } from "../../params/scalars.ts";
import { paramSchema } from "../../params/schema.ts";
import { ACCEPTED, boolean, object, shape, text } from "../../schemas.ts";

const getNodeVersion = defineOperation("node.getNodeVersion", {
  number: 26,
  name: "get_v1_node_version",
  summary: "The node's name, version and platform.",
  result: { name: "version", schema: object({ version: text }) },
  failures: [],
  rest: [get("/eth/v1/node/version")],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  handler: async ({ version }) => ({ data: { version } }),
});

const UNKNOWN_COMMIT = "0x00000000";
const CLIENT_VERSION = object({ code: text, name: text, version: text, commit: text });

const getNodeVersionV2 = defineOperation("node.getNodeVersionV2", {
  name: "get_v2_node_version",
  summary: "Versions of the node and of its execution client, if known.",
  result: {
    name: "versions",
    schema: object({ beacon_node: CLIENT_VERSION }, { execution_client: CLIENT_VERSION }),
  },
  failures: [],
  rest: [get("/eth/v2/node/version")],
  cost: "cheap",
  access: "read",
  example: {},
  handler: async ({ version, health: { executionClient } }) => ({
    data: {
      beaconNode: clientVersion(version),
      ...(executionClient && { executionClient: { ...executionClient, code: knownCode(executionClient.code) } }),
    },
  }),
});

/** No client code is registered for Fanal, so it uses XX. The commit is reported as unknown. */
function clientVersion(text: string): routes.node.ClientVersion {
  const [name = text, version = ""] = text.split("/");
  return { code: routes.node.ClientCode.XX, name, version, commit: UNKNOWN_COMMIT };
}

function knownCode(code: string): routes.node.ClientCode {
  return Object.values(routes.node.ClientCode).find((candidate) => candidate === code) ?? routes.node.ClientCode.XX;
}

const getVersionText = defineMethod({
  number: 49,
  name: "getNodeVersion",
  summary: "The node's name, version and platform as one string.",
  result: { name: "version", schema: text },
  failures: [],
  rest: [get("/fanal/v1/node/version"), get("/nimbus/v1/node/version")],
  cost: "cheap",
  access: "read",
  dependsOn: "nothing",
  example: {},
  handler: ({ version }) => version,
});

const getSyncingStatus = defineOperation("node.getSyncingStatus", {
  number: 27,
  name: "get_v1_node_syncing",
  summary: "Sync status of the node, with the distance of its head to the current slot.",
  result: {
    name: "syncing",
    schema: object({
      head_slot: shape("Uint64"),
      sync_distance: shape("Uint64"),
      is_syncing: boolean,
      is_optimistic: boolean,
      el_offline: boolean,
    }),
  },
  failures: [],
  rest: [get("/eth/v1/node/syncing")],
  cost: "cheap",
  access: "read",
  dependsOn: "status",
  example: {},
  async handler({ chain }) {
    const { isSyncing, isOptimistic, executionOffline } = chain.status;
    // The sync distance of a synced node is 0, even if the last slots are empty.
    const syncDistance = isSyncing ? chain.status.syncDistance : 0;
    return {
      data: { headSlot: chain.head.slot, syncDistance, isSyncing, isOptimistic, elOffline: executionOffline },
    };
  },
});

const getSyncing = defineMethod({
  number: 51,
  name: "getSyncing",
  summary: "Returns true if the node is syncing.",
  result: { name: "is_syncing", schema: boolean },
  failures: [],
  rest: [get("/fanal/v1/syncmanager/status"), get("/nimbus/v1/syncmanager/status")],
  cost: "cheap",
  access: "read",
  dependsOn: "status",
  example: {},
  handler: ({ chain }) => chain.status.isSyncing,
});

const READY = 200;
const SYNCING = 206;

/** REST responds with this status itself, so informational statuses below 200 are invalid. */
const finalStatus = paramSchema("an HTTP status code from 200 to 599", { type: "integer" }, (value) =>
  typeof value === "string" && /^[2-5]\d\d$/.test(value) ? Number(value) : undefined,
);

const getHealth = defineOperation("node.getHealth", {
  number: 28,
  name: "get_v1_node_health",
  summary: "Health of the node as an HTTP status: 200 if it is ready, 206 if it is syncing.",
  params: {
    syncingStatus: optional(statusCode, "Status to return instead of 206 while syncing.", {
      restSchema: finalStatus,
    }),
  },
  result: { name: "health", schema: object({ health: { type: "integer" } }) },
  failures: [],
  rest: [get("/eth/v1/node/health")],
  cost: "cheap",
  access: "read",
  dependsOn: "status",
  isProbe: true,
  example: { params: [299] },
  resultForStatus: (status) => ({ health: status }),
  handler: async (context, { syncingStatus = SYNCING }) => ({ status: isReady(context) ? READY : syncingStatus }),
});

/** An uninitialized node would respond 503, which cannot happen because servers are started after the chain. */
function isReady({ chain }: Pick<ApiContext, "chain">): boolean {
  const { isSyncing, isOptimistic, executionOffline } = chain.status;
  return !(isSyncing || isOptimistic || executionOffline);
}

const setLogLevel = defineMethod({
  number: 57,
  name: "setLogLevel",
  summary: "Sets the log levels of the whole process, effective immediately.",
  params: {
    logSpec: required(textParam("a log specification"), "A level, then KEY:topic,topic parts separated by ;."),
  },
  result: ACCEPTED,
  failures: [],
  rest: [
    { ...post("/fanal/v1/chronicles/settings"), takesText: true },
    { ...post("/nimbus/v1/chronicles/settings"), takesText: true },
  ],
  cost: "cheap",
  access: "admin",
  example: { params: ["INFO; DEBUG:chain; DISABLED:rpc"] },
  handler({ setLogSpec }, { logSpec }) {
    try {
      setLogSpec(logSpec);
    } catch (cause) {
      if (cause instanceof LogSpecError) throw invalidParams(cause.message, { cause });
      throw cause;
    }
    return true;
  },
});

const setGraffiti = defineMethod({
  number: 58,
  name: "setGraffiti",
  summary: "Sets the default graffiti of produced blocks.",
  params: { graffiti: required(graffiti, "At most 32 bytes of text or hex.") },
  result: ACCEPTED,
  failures: [],
  rest: [
    { ...post("/fanal/v1/graffiti"), takesText: true },
    { ...post("/nimbus/v1/graffiti"), takesText: true },
  ],
  cost: "cheap",
  access: "admin",
  example: { params: ["hello from a reader"] },
  handler({ chain }, { graffiti }) {
    chain.graffiti.set(graffiti);
    return true;
  },
});

export const nodeMethods = [
  getNodeVersion,
  getSyncingStatus,
  getHealth,
  getNodeVersionV2,
  getVersionText,
  getSyncing,
  setLogLevel,
  setGraffiti,
] as const;
