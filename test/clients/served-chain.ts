import { afterAll, beforeAll } from "vitest";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";

const HEAD_SLOT = 9;

/** Expected values that clients read from the chain. */
interface ServedChain {
  readonly url: string;
  readonly headSlot: string;
  readonly headRoot: string;
}

/** The JSON-RPC server of a paused dev chain, shared by all tests of a file. */
export function serveChain(): ServedChain {
  let opened: OpenedDevChain | undefined;
  let servers: ServedApi | undefined;
  const served = { url: "", headSlot: String(HEAD_SLOT), headRoot: "" };
  beforeAll(async () => {
    opened = await startQuietDevChain(HEAD_SLOT);
    const { devChain } = opened;
    servers = await serveApi(devChain.api);
    served.url = servers.jsonRpcUrl;
    served.headRoot = devChain.chain.head.root;
  });
  afterAll(async () => {
    await servers?.close();
    await opened?.close();
  });
  return served;
}

/** A call with a well-formed, unknown reference. Its error has data. */
export const UNKNOWN_BLOCK = { method: "get_v1_beacon_headers_blockId", params: [`0x${"11".repeat(32)}`] };
export const NOT_FOUND = { code: -32001, data: { status: 404 } };
export const INVALID_PARAMS = { code: -32602, data: { status: 400 } };
export const METHOD_NOT_FOUND = { code: -32601, data: { status: 404 } };
