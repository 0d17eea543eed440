import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import type { UpstreamResponse } from "../upstream/upstream-call.ts";
import type { BufferedResponse } from "./cache-lifetime.ts";

/** Version of the stored format, part of the key prefix. Must be incremented when the format changes. */
export const CODEC_VERSION = 2;

/** Compressing shorter bodies saves too little. */
const MIN_COMPRESSED_BYTES = 512;
/** Larger bodies are neither stored nor decompressed. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Layout: version, checksum, compression flag, length of the metadata, metadata, body. */
const CHECKSUM_AT = 1;
const CHECKSUM_BYTES = 16;
const FLAG_AT = CHECKSUM_AT + CHECKSUM_BYTES;
const HEAD_LENGTH_AT = FLAG_AT + 1;
const HEAD_AT = HEAD_LENGTH_AT + 4;

interface StoredMetadata {
  upstream: string;
  status: number;
  headers: Record<string, string>;
  /** The `validationKind` of the response. Undefined if validation was off. */
  validatedAs: string | undefined;
}

const compress = promisify<Buffer, object, Buffer>(brotliCompress);
const decompress = promisify<Buffer, object, Buffer>(brotliDecompress);

/** Encodes a response for a key. */
export async function encodeResponse(
  key: string,
  { upstream, status, headers, body, validatedAs }: BufferedResponse,
): Promise<Buffer> {
  const head: StoredMetadata = {
    upstream,
    status,
    headers: cacheableHeaders(headers),
    validatedAs,
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const isCompressed = body.length >= MIN_COMPRESSED_BYTES;
  const bodyBytes = isCompressed ? await compress(body, FAST_COMPRESSION) : body;
  const stored = Buffer.concat([Buffer.alloc(HEAD_AT), headBytes, bodyBytes]);
  stored[0] = CODEC_VERSION;
  stored[FLAG_AT] = Number(isCompressed);
  stored.writeUInt32LE(headBytes.length, HEAD_LENGTH_AT);
  checksum(key, stored).copy(stored, CHECKSUM_AT);
  return stored;
}

const FAST_COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Decodes a stored response. Returns undefined unless it is intact and was stored for the same key. */
export async function decodeResponse(key: string, stored: Buffer): Promise<BufferedResponse | undefined> {
  if (stored.length < HEAD_AT || stored[0] !== CODEC_VERSION) return undefined;
  if (!checksum(key, stored).equals(stored.subarray(CHECKSUM_AT, FLAG_AT))) return undefined;
  const bodyAt = HEAD_AT + stored.readUInt32LE(HEAD_LENGTH_AT);
  const head = JSON.parse(stored.toString("utf8", HEAD_AT, bodyAt)) as StoredMetadata;
  const body = stored.subarray(bodyAt);
  const isCompressed = stored[FLAG_AT] === 1;
  return { ...head, cachedIn: "cache", body: isCompressed ? await decompress(body, DECOMPRESSION_LIMIT) : body };
}

const DECOMPRESSION_LIMIT = { maxOutputLength: MAX_BODY_BYTES };

/** Covers the key too, so that an entry under another key is rejected. */
function checksum(key: string, stored: Buffer): Buffer {
  const digest = createHash("sha256").update(key).update("\0").update(stored.subarray(FLAG_AT)).digest();
  return digest.subarray(0, CHECKSUM_BYTES);
}

const BODY_HEADERS = ["content-type", "cache-control", "etag"];

/** Returns the headers that are stored with a body. */
export function cacheableHeaders(headers: UpstreamResponse["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => BODY_HEADERS.includes(name) || name.startsWith("eth-")),
  );
}
