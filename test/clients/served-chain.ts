import { afterAll, beforeAll } from "vitest";
import { createMethodTable } from "../../src/api/method-table.ts";
import { createRecordingLogger, type LogRecord } from "../../src/log/recording-logger.test-support.ts";
import type { HttpServer } from "../../src/server/http/server.ts";
import { createJsonRpcServer } from "../../src/server/jsonrpc/server.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/dev-chain.ts";

const HEAD_SLOT = 9;

/** Facts of the chain that clients are asked to find out. */
export interface ServedChain {
  readonly url: string;
  readonly headSlot: string;
  readonly headRoot: string;
}

/** The real door on a dev chain that stands still, for all tests of a file. */
export function serveChain(): ServedChain {
  const log: LogRecord[] = [];
  let opened: OpenedDevChain | undefined;
  let server: HttpServer | undefined;
  const served = { url: "", headSlot: String(HEAD_SLOT), headRoot: "" };
  beforeAll(async () => {
    opened = await startQuietDevChain(HEAD_SLOT);
    const { devChain } = opened;
    server = createJsonRpcServer({ table: createMethodTable(devChain.api), logger: createRecordingLogger(log) });
    served.url = (await server.listen({ host: "127.0.0.1", port: 0 })).url;
    served.headRoot = devChain.chain.head.root;
  });
  afterAll(async () => {
    await server?.close();
    await opened?.close();
  });
  return served;
}

/** A call whose parameter is well-formed and names nothing; its error carries data. */
export const UNKNOWN_BLOCK = { method: "get_v1_beacon_headers_blockId", params: [`0x${"11".repeat(32)}`] };
export const NOT_FOUND = { code: -32001, data: { status: 404 } };
export const INVALID_PARAMS = { code: -32602, data: { status: 400 } };
export const METHOD_NOT_FOUND = { code: -32601, data: { status: 404 } };
