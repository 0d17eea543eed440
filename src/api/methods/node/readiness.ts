import { defineMethod, get } from "../../definition.ts";
import { boolean, object } from "../../schemas.ts";

interface Readiness {
  ready: boolean;
  warmed_up: boolean;
  synced: boolean;
  database_writable: boolean;
  execution_online: boolean;
}

const READY = 200;
const NOT_READY = 503;

const getReadiness = defineMethod({
  name: "getReadiness",
  summary: "Readiness of the node and of its parts. REST responds with 200 if it is ready and 503 if not.",
  result: {
    name: "readiness",
    schema: object({
      ready: boolean,
      warmed_up: boolean,
      synced: boolean,
      database_writable: boolean,
      execution_online: boolean,
    }),
  },
  failures: [],
  rest: [get("/fanal/v1/ready")],
  cost: "cheap",
  access: "read",
  isProbe: true,
  example: {},
  handler({ chain, health }): Readiness {
    const parts = {
      warmed_up: health.isWarmedUp,
      synced: !chain.status.isSyncing,
      database_writable: health.isDatabaseWritable,
      execution_online: !chain.status.executionOffline,
    };
    return { ready: Object.values(parts).every((isReady) => isReady), ...parts };
  },
  restStatusOf: (readiness) => ((readiness as Readiness).ready ? READY : NOT_READY),
});

export const readinessMethods = [getReadiness] as const;
