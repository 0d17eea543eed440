import { getClient } from "@lodestar/api";
import type { Api } from "../../src/api/api.ts";
import { serveApi } from "../support/served-api.ts";

export interface RestReply {
  status: number;
  headers: Headers;
  text: string;
}

/** Both doors before one api, each on a port of its own. */
export async function serveDoors(api: Api) {
  const { jsonRpcUrl, restUrl: url, methods, routes: table, log, close } = await serveApi(api);
  return {
    url,
    methods,
    table,
    /** What the doors have logged. */
    log,
    close,
    client: getClient({ baseUrl: url }, { config: api.chainConfig }),
    /** The whole text of the response to a call that asks for its metadata. */
    async call(method: string, params: unknown[]): Promise<string> {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, meta: true });
      const response = await fetch(jsonRpcUrl, {
        method: "POST",
        body,
        headers: { "Content-Type": "application/json" },
      });
      return response.text();
    },
    async ask(path: string, init?: RequestInit): Promise<RestReply> {
      const response = await fetch(url + path, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

export type ServedDoors = Awaited<ReturnType<typeof serveDoors>>;
