import type { UpstreamRequest } from "../upstream-call.ts";
import { slotInJson } from "./slot-in-json.ts";

/** More than the number of routes in use: related requests arrive within a slot or two. */
const MAX_ROUTES = 256;

/** Requests with the same subject and slot go to the same upstream. */
export interface RouteKey {
  readonly subject: "attestation" | "sync committee" | "block";
  readonly slot: number;
}

/** Paths of related requests. */
const GET_SUBJECTS: readonly [path: RegExp, subject: RouteKey["subject"]][] = [
  [/^\/eth\/v\d+\/validator\/(?:attestation_data|aggregate_attestation)\?(?:.*&)?slot=(\d+)/, "attestation"],
  [/^\/eth\/v\d+\/validator\/sync_committee_contribution\?(?:.*&)?slot=(\d+)/, "sync committee"],
  [/^\/eth\/v\d+\/validator\/(?:blinded_)?blocks\/(\d+)/, "block"],
];
const POST_SUBJECTS: readonly [path: RegExp, subject: RouteKey["subject"]][] = [
  [/^\/eth\/v\d+\/beacon\/pool\/attestations$/, "attestation"],
  [/^\/eth\/v\d+\/beacon\/pool\/sync_committees$/, "sync committee"],
  [/^\/eth\/v\d+\/beacon\/(?:blinded_)?blocks(?:\?|$)/, "block"],
];

/** Returns the route key of a request, or undefined if it is not sticky. */
export function routeKeyOf({ verb, url, headers, body }: UpstreamRequest): RouteKey | undefined {
  if (verb === "GET") {
    // Fast path for most reads.
    if (!url.includes("/validator/")) return undefined;
    for (const [path, subject] of GET_SUBJECTS) {
      const slot = path.exec(url)?.[1];
      if (slot !== undefined) return { subject, slot: Number(slot) };
    }
    return undefined;
  }
  const subject = POST_SUBJECTS.find(([path]) => path.test(url))?.[1];
  if (subject === undefined || body === undefined) return undefined;
  const isSsz = headers["content-type"]?.startsWith("application/octet-stream");
  const slot = isSsz ? (subject === "block" ? slotInSszBlock(body) : undefined) : slotInJson(body);
  return slot === undefined ? undefined : { subject, slot };
}

/** True for a blinded block. Only the upstream that produced it, or a builder, has its payload. */
export function isBlindedBlock({ verb, url }: UpstreamRequest): boolean {
  return verb === "POST" && BLINDED_BLOCK_PATH.test(url);
}

const BLINDED_BLOCK_PATH = /^\/eth\/v\d+\/beacon\/blinded_blocks(?:\?|$)/;

/**
 * Offset of the message in an SSZ `SignedBeaconBlock`: a 4-byte offset and the signature. The message starts with the
 * slot.
 */
const MESSAGE_OFFSET = 100;
/** From deneb on, the block follows the three offsets of `SignedBlockContents`. */
const CONTENTS_BLOCK_OFFSET = 12;

/** Returns the slot of a block, signed or with its contents. */
export function slotInSszBlock(body: Buffer): number | undefined {
  if (body.length < CONTENTS_BLOCK_OFFSET + MESSAGE_OFFSET + 8) return undefined;
  const first = body.readUInt32LE(0);
  if (first !== MESSAGE_OFFSET && first !== CONTENTS_BLOCK_OFFSET) return undefined;
  const message = first === CONTENTS_BLOCK_OFFSET ? CONTENTS_BLOCK_OFFSET + MESSAGE_OFFSET : MESSAGE_OFFSET;
  return Number(body.readBigUInt64LE(message));
}

/** Remembers which upstream served the first request of each route key. */
export class StickyRoutes {
  readonly #onPinned: ((routeKey: RouteKey, upstream: string) => void) | undefined;
  /** Least recently pinned first. */
  readonly #upstreams = new Map<string, string>();

  /** `onPinned` is called for new routes, to share them with other processes. */
  constructor(onPinned?: (routeKey: RouteKey, upstream: string) => void) {
    this.#onPinned = onPinned;
  }

  get(routeKey: RouteKey): string | undefined {
    return this.#upstreams.get(keyOf(routeKey));
  }

  pin(routeKey: RouteKey, upstream: string): void {
    if (this.get(routeKey) !== upstream) this.#onPinned?.(routeKey, upstream);
    this.applyRemote(routeKey, upstream);
  }

  /** Applies a route that another process has pinned. */
  applyRemote(routeKey: RouteKey, upstream: string): void {
    const key = keyOf(routeKey);
    this.#upstreams.delete(key);
    this.#upstreams.set(key, upstream);
    if (this.#upstreams.size <= MAX_ROUTES) return;
    const [oldest] = this.#upstreams.keys();
    this.#upstreams.delete(oldest!);
  }
}

function keyOf({ subject, slot }: RouteKey): string {
  return `${subject} ${slot}`;
}
