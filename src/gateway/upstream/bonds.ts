import type { UpstreamRequest } from "../exchange.ts";
import { slotInJson } from "../slot-in-json.ts";

/** Beyond what is open at a time: requests that belong together come within a slot or two. */
const MAX_BONDS = 256;

/** Requests of one subject and slot belong together. */
export interface Bond {
  readonly subject: "attestation" | "sync committee" | "block";
  readonly slot: number;
}

/** What requests are about that belong together with others, by their paths. */
const GET_SUBJECTS: readonly [path: RegExp, subject: Bond["subject"]][] = [
  [/^\/eth\/v\d+\/validator\/(?:attestation_data|aggregate_attestation)\?(?:.*&)?slot=(\d+)/, "attestation"],
  [/^\/eth\/v\d+\/validator\/sync_committee_contribution\?(?:.*&)?slot=(\d+)/, "sync committee"],
  [/^\/eth\/v\d+\/validator\/(?:blinded_)?blocks\/(\d+)/, "block"],
];
const POST_SUBJECTS: readonly [path: RegExp, subject: Bond["subject"]][] = [
  [/^\/eth\/v\d+\/beacon\/pool\/attestations$/, "attestation"],
  [/^\/eth\/v\d+\/beacon\/pool\/sync_committees$/, "sync committee"],
  [/^\/eth\/v\d+\/beacon\/(?:blinded_)?blocks(?:\?|$)/, "block"],
];

/** What the request belongs to; undefined when it stands alone. */
export function bondOf({ verb, url, headers, body }: UpstreamRequest): Bond | undefined {
  if (verb === "GET") {
    // Most reads are about something else.
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

/** Whether it is a block without its payload, which nobody has but the upstream that produced it, unless a builder has. */
export function lacksPayload({ verb, url }: UpstreamRequest): boolean {
  return verb === "POST" && BLINDED.test(url);
}

const BLINDED = /^\/eth\/v\d+\/beacon\/blinded_blocks(?:\?|$)/;

/** A signed block begins with the place of its message, after four bytes and a signature, and with it comes its slot. */
const SIGNED_BLOCK_MESSAGE = 100;
/** From deneb on it comes with proofs and blobs, after the places of all three. */
const CONTENTS_BLOCK = 12;

function slotInSszBlock(body: Buffer): number | undefined {
  if (body.length < CONTENTS_BLOCK + SIGNED_BLOCK_MESSAGE + 8) return undefined;
  const first = body.readUInt32LE(0);
  if (first !== SIGNED_BLOCK_MESSAGE && first !== CONTENTS_BLOCK) return undefined;
  const message = first === CONTENTS_BLOCK ? CONTENTS_BLOCK + SIGNED_BLOCK_MESSAGE : SIGNED_BLOCK_MESSAGE;
  return Number(body.readBigUInt64LE(message));
}

/** Which upstreams gave the first of what belongs together. */
export class Bonds {
  readonly #onTied: ((bond: Bond, upstream: string) => void) | undefined;
  /** Those that were tied last are last. */
  readonly #upstreams = new Map<string, string>();

  /** `onTied` is told of what was not tied so before, for other processes to learn it. */
  constructor(onTied?: (bond: Bond, upstream: string) => void) {
    this.#onTied = onTied;
  }

  upstreamOf(bond: Bond): string | undefined {
    return this.#upstreams.get(keyOf(bond));
  }

  tie(bond: Bond, upstream: string): void {
    if (this.upstreamOf(bond) !== upstream) this.#onTied?.(bond, upstream);
    this.learn(bond, upstream);
  }

  /** It was tied in another process. */
  learn(bond: Bond, upstream: string): void {
    const key = keyOf(bond);
    this.#upstreams.delete(key);
    this.#upstreams.set(key, upstream);
    if (this.#upstreams.size <= MAX_BONDS) return;
    const [oldest] = this.#upstreams.keys();
    this.#upstreams.delete(oldest!);
  }
}

function keyOf({ subject, slot }: Bond): string {
  return `${subject} ${slot}`;
}
