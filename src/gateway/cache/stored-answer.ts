import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { headersOfBody } from "./headers-of-body.ts";
import type { WholeResponse } from "./lasting.ts";

/** The form of what is stored; whoever changes it gives it another number, by which other gateways leave it alone. */
export const STORED_FORM = 1;

/** A shorter body gains too little. */
const COMPRESSED_FROM_BYTES = 512;
/** No longer body is stored, nor taken for one that was. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Form, checksum, whether the body is compressed, and where it begins. */
const CHECKSUM_AT = 1;
const CHECKSUM_BYTES = 16;
const FLAG_AT = CHECKSUM_AT + CHECKSUM_BYTES;
const HEAD_LENGTH_AT = FLAG_AT + 1;
const HEAD_AT = HEAD_LENGTH_AT + 4;

interface Head {
  upstream: string;
  status: number;
  headers: Record<string, string>;
}

const compress = promisify<Buffer, object, Buffer>(brotliCompress);
const decompress = promisify<Buffer, object, Buffer>(brotliDecompress);

/** The bytes of an answer for the key. */
export async function encodeAnswer(key: string, { upstream, status, headers, body }: WholeResponse): Promise<Buffer> {
  const head: Head = {
    upstream,
    status,
    headers: headersOfBody(headers),
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const isCompressed = body.length >= COMPRESSED_FROM_BYTES;
  const bodyBytes = isCompressed ? await compress(body, QUICKLY) : body;
  const stored = Buffer.concat([Buffer.alloc(HEAD_AT), headBytes, bodyBytes]);
  stored[0] = STORED_FORM;
  stored[FLAG_AT] = Number(isCompressed);
  stored.writeUInt32LE(headBytes.length, HEAD_LENGTH_AT);
  checksum(key, stored).copy(stored, CHECKSUM_AT);
  return stored;
}

const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Undefined for anything but what was stored for that very key, whole. */
export async function decodeAnswer(key: string, stored: Buffer): Promise<WholeResponse | undefined> {
  if (stored.length < HEAD_AT || stored[0] !== STORED_FORM) return undefined;
  if (!checksum(key, stored).equals(stored.subarray(CHECKSUM_AT, FLAG_AT))) return undefined;
  const bodyAt = HEAD_AT + stored.readUInt32LE(HEAD_LENGTH_AT);
  const head = JSON.parse(stored.toString("utf8", HEAD_AT, bodyAt)) as Head;
  const body = stored.subarray(bodyAt);
  const isCompressed = stored[FLAG_AT] === 1;
  return { ...head, kept: "cache", body: isCompressed ? await decompress(body, AT_MOST) : body };
}

const AT_MOST = { maxOutputLength: MAX_BODY_BYTES };

/** Of all that follows it, and of the key, so that what was stored under another one is not taken for it. */
function checksum(key: string, stored: Buffer): Buffer {
  const digest = createHash("sha256").update(key).update("\0").update(stored.subarray(FLAG_AT)).digest();
  return digest.subarray(0, CHECKSUM_BYTES);
}
