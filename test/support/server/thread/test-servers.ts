import type { CallStats } from "../../../../src/server/call-stats.ts";
import { ServersThread } from "../../../../src/server/thread/main/servers-thread.ts";
import { createRecordingLogger, type LogRecord } from "../../log/recording-logger.ts";
import { type RequestInit, send } from "../http/http.ts";
import { TestApi } from "./test-api.ts";

export const ANY_PORT = { host: "127.0.0.1", port: 0 };

interface RpcResponse {
  result?: unknown;
  meta?: unknown;
  error?: { code: number; message: string; data: unknown };
}

/** Both servers in a thread of their own, with a `TestApi`. */
export class TestServers {
  readonly api = new TestApi();
  readonly log: LogRecord[] = [];
  readonly calls: CallStats[] = [];
  thread!: ServersThread;
  rpcUrl = "";
  restUrl = "";

  async start(): Promise<void> {
    this.thread = new ServersThread(createRecordingLogger(this.log), { servesRest: true });
    const urls = await this.thread.serve(this.api.served, {
      listen: { "json-rpc": ANY_PORT, rest: ANY_PORT },
      observe: (tallies) => this.calls.push(...tallies),
    });
    this.rpcUrl = urls["json-rpc"]!;
    this.restUrl = urls.rest!;
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  /** Sends a REST request. */
  readonly fetch = (path: string, init?: RequestInit) => send(this.restUrl, { path, ...init });

  /** Sends the body of a JSON-RPC request and returns that of the response. */
  readonly post = async (body: string): Promise<string> => {
    const headers = { "Content-Type": "application/json" };
    return (await send(this.rpcUrl, { method: "POST", headers, body })).text;
  };

  readonly call = async (method: string, params: unknown = [], others: object = {}): Promise<RpcResponse> =>
    JSON.parse(await this.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, ...others })));
}
