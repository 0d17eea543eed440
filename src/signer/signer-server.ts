import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import type { SecretKey } from "@chainsafe/blst";
import type { BeaconConfig } from "@lodestar/config";
import type { ValidatorIndex } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { parsePubkey } from "../api/params/scalars.ts";
import { InvalidPayloadError } from "../api/params/ssz-payload.ts";
import type { SlashingProtection } from "../dev/validators/slashing-protection.ts";
import { JsonLimitError, JsonParseError, parseMessage } from "../json/parse.ts";
import type { Logger } from "../log/logger.ts";
import { type AccessOptions, AccessPolicy } from "../server/http/access/access-policy.ts";
import { HttpCore } from "../server/http/core.ts";
import type { Exchange } from "../server/http/exchange.ts";
import { HttpError, toErrorResponse } from "../server/http/http-error.ts";
import { readBody } from "../server/http/request/read-body.ts";
import { accepts, bodyFormat, MEDIA_TYPES, requirePlainBody } from "../server/http/response/negotiation.ts";
import { sendError, writeBody } from "../server/http/response/send.ts";
import { DEFAULT_HTTP_LIMITS, type HttpServer } from "../server/http/server.ts";
import { readSigningMessage } from "./signing-message.ts";
import { SlashableError, SlashingGuard } from "./slashing-guard.ts";

/** A validator's index and secret key. */
interface SigningKey {
  index: ValidatorIndex;
  secretKey: SecretKey;
}

/** Keys the signer signs with. */
export interface SignerKeys {
  /** Returns the public keys to offer to validator clients. */
  publicKeys(): Uint8Array[];
  /** Returns undefined if the secret key is unknown. */
  find(publicKey: Uint8Array): SigningKey | undefined;
  /** Returns true if the node itself performs the validator's duties. */
  isOnline(index: ValidatorIndex): boolean;
}

interface SignerServerOptions {
  config: BeaconConfig;
  keys: SignerKeys;
  protection: SlashingProtection;
  access?: AccessOptions | undefined;
  logger: Logger;
}

interface Response {
  status: number;
  type: string;
  body: string;
}

interface Route {
  verb: "GET" | "POST";
  /** Exact path, or a path prefix if it ends with a slash. */
  path: string;
  run(request: { req: IncomingMessage; rest: string; body: Buffer }): Response | Promise<Response>;
}

const TEXT = "text/plain; charset=utf-8";
const SLASHING_PROTECTION_STATUS = 412;
const RELOAD_NOTE = "The signer always uses the current keys of the chain.";

/** Creates a server for the Web3Signer API, which validator clients use to sign remotely. */
export function createSignerServer({ config, keys, protection, access, logger }: SignerServerOptions): HttpServer {
  const policy = new AccessPolicy("rest", access);
  const guard = new SlashingGuard(protection);
  const limits = DEFAULT_HTTP_LIMITS;
  const core = new HttpCore({ logger, limits, policy, handle, respondWithError });
  let reloadedAt: string | undefined;

  const routes: readonly Route[] = [
    { verb: "GET", path: "/upcheck", run: () => ({ status: 200, type: TEXT, body: "OK" }) },
    { verb: "GET", path: "/healthcheck", run: () => json(200, { status: "UP", checks: [], outcome: "UP" }) },
    { verb: "GET", path: "/api/v1/eth2/publicKeys", run: () => json(200, keys.publicKeys().map(toHex)) },
    { verb: "POST", path: "/api/v1/eth2/sign/", run: ({ req, rest, body }) => sign(req, rest, body) },
    { verb: "GET", path: "/reload", run: () => json(200, reloadStatus()) },
    { verb: "POST", path: "/reload", run: reload },
  ];

  function handle(exchange: Exchange): void {
    const { req } = exchange.res;
    policy.authorize(req);
    const denialReason = policy.denialReason("submit", () => policy.isPrivileged(req));
    if (denialReason !== undefined) throw new HttpError(403, denialReason);
    const { route, rest } = find(req);
    readBody(
      req,
      exchange,
      { bytes: limits.bodyBytes },
      (body) => exchange.start(() => void answer(exchange, async () => route.run({ req, rest, body }))),
      (reason) => respondWithError(exchange, reason),
    );
  }

  function find({ method, url = "" }: IncomingMessage): { route: Route; rest: string } {
    const path = url.split("?", 1)[0]!;
    const here = routes.filter((route) =>
      route.path.endsWith("/") ? path.startsWith(route.path) : path === route.path,
    );
    const route = here.find(({ verb }) => verb === (method === "HEAD" ? "GET" : method));
    if (route) return { route, rest: path.slice(route.path.length) };
    if (here.length === 0) {
      const knownRoutes = routes.map((each) => `${each.verb} ${each.path}${each.path.endsWith("/") ? "PUBKEY" : ""}`);
      throw new HttpError(404, `Unknown path. The Web3Signer API has ${knownRoutes.join(", ")}.`);
    }
    const allowed = here.map(({ verb }) => verb).join(", ");
    throw new HttpError(405, `${here[0]!.path} requires the HTTP method ${allowed}.`, { Allow: allowed });
  }

  async function sign({ headers }: IncomingMessage, identifier: string, body: Buffer): Promise<Response> {
    const pubkey = parsePubkey(identifier);
    if (pubkey === undefined) {
      throw new HttpError(400, "The public key in the path is invalid: it has 96 hex digits, with or without 0x.");
    }
    const key = keys.find(fromHex(pubkey));
    if (!key) throw new HttpError(404, `The key of ${pubkey} is unknown. GET /api/v1/eth2/publicKeys lists the keys.`);
    requirePlainBody(headers["content-encoding"]);
    bodyFormat(headers["content-type"], ["json"]);
    const message = readMessage(body);
    try {
      await guard.record(key.index, message);
    } catch (error) {
      if (!(error instanceof SlashableError)) throw error;
      logger.info("Refused to sign a slashable message", { validator: key.index, reason: error.message });
      const isOnline = keys.isOnline(key.index);
      const advice = isOnline ? " This node runs the validator. --dev-validators leaves it to a client." : "";
      throw new HttpError(SLASHING_PROTECTION_STATUS, `${error.message}${advice}`);
    }
    const signature = toHex(key.secretKey.sign(message.signingRoot).toBytes());
    // As in Web3Signer, clients that send no Accept header get plain text.
    const wantsJson = headers.accept !== undefined && accepts(MEDIA_TYPES.json, headers.accept);
    return wantsJson ? json(200, { signature }) : { status: 200, type: TEXT, body: signature };
  }

  function readMessage(body: Buffer) {
    try {
      return readSigningMessage(parseMessage(body), config);
    } catch (error) {
      if (error instanceof JsonLimitError) throw new HttpError(400, error.message);
      if (error instanceof JsonParseError) throw new HttpError(400, `The body is not JSON: ${error.message}`);
      if (error instanceof InvalidPayloadError) throw new HttpError(400, `The signing request ${error.message}`);
      throw error;
    }
  }

  /** There is nothing to load: keys are looked up in the head state. */
  function reload(): Response {
    reloadedAt = new Date().toISOString();
    return json(202, { status: "accepted", message: RELOAD_NOTE });
  }

  function reloadStatus(): object {
    return reloadedAt === undefined ? { status: "idle" } : { status: "completed", lastOperationTime: reloadedAt };
  }

  function respondWithError(exchange: Exchange, reason: unknown): void {
    exchange.start(() => void answer(exchange, () => Promise.reject(reason)));
  }

  /** Sends the response returned by `work`. Never rejects. */
  async function answer(exchange: Exchange, work: () => Promise<Response>): Promise<void> {
    const { res } = exchange;
    if (exchange.isClosed) return;
    exchange.beginProcessing();
    if (core.isClosing) res.shouldKeepAlive = false;
    try {
      const { status, type, body } = await work();
      const bytes = Buffer.from(body);
      const headers = { "Content-Type": type, "Content-Length": bytes.length, "Cache-Control": "no-store" };
      if (!res.destroyed) {
        res.writeHead(status, headers);
        writeBody(res, [bytes], bytes.length);
      }
    } catch (error) {
      const { status, message, headers } = toErrorResponse(error);
      if (status === 500) logger.error("Signer request failed unexpectedly", { error: inspect(error) });
      exchange.discardBody();
      sendError(res, status, message, headers);
    }
    core.connections.finish(exchange);
  }

  return {
    listen: (where) => core.listen(where),
    load: () => core.load,
    close: () => core.close(() => {}),
  };
}

function json(status: number, value: unknown): Response {
  return { status, type: MEDIA_TYPES.json, body: JSON.stringify(value) };
}
