import type { Api } from "../../src/api/api.ts";
import { send } from "../../src/server/http/http.test-support.ts";
import type { ErrorObject } from "../../src/server/jsonrpc/errors.ts";
import type { Params } from "../../src/server/method-table.ts";
import { type ServedApi, serveApi } from "../support/served-api.ts";

export interface SocketAnswer {
  result?: unknown;
  error?: ErrorObject;
  meta?: Record<string, unknown>;
  headers: Record<string, string | string[] | undefined>;
}

export interface ServedDoor {
  url: string;
  /** What the door has logged. */
  log: ServedApi["log"];
  /** Makes a call that asks for its metadata. */
  call(method: string, params: Params): Promise<SocketAnswer>;
  close(): Promise<void>;
}

/** The real door in front of an api, on a port of its own. */
export async function serveDoor(api: Api): Promise<ServedDoor> {
  const { jsonRpcUrl: url, log, close } = await serveApi(api);
  return {
    url,
    log,
    call: async (method, params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
      const { headers, text } = await send(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      return { ...(JSON.parse(text) as Omit<SocketAnswer, "headers">), headers };
    },
    close,
  };
}
