import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import type { Slot } from "@lodestar/types";
import { invalidParams } from "../../errors/failure.ts";
import type { RestRequest } from "../../server/rest/route-table.ts";
import type { RequestCodec } from "../codecs.ts";
import { VERSION_HEADER } from "../params/consensus-version.ts";

type SszRequest = Pick<RestRequest, "params" | "headers" | "body">;

const HEADER = VERSION_HEADER.toLowerCase();

/** Parses an SSZ body into arguments for an operation. `noun` describes the body in errors. */
export function readSszBody(
  request: SszRequest,
  codec: RequestCodec,
  { noun, config }: { noun: string; config: ChainForkConfig },
): unknown {
  try {
    const decoded = decode(request, codec);
    if (!isExact(decoded)) throw new InexactBodyError();
    return decoded;
  } catch (cause) {
    if (cause instanceof InexactBodyError) throw invalidParams(cause.message);
    const version = request.headers[HEADER]?.toLowerCase();
    const other = version === undefined ? undefined : otherVersion(request, codec, config);
    if (other) {
      throw invalidParams(
        `The ${VERSION_HEADER} header is ${version}, but the body is a ${other.fork} object of slot ${other.slot}.`,
        { cause },
      );
    }
    const ofFork = version === undefined ? "" : ` of the fork ${version}`;
    throw invalidParams(`The body is not a valid SSZ encoding of ${noun}${ofFork}.`, { cause });
  }
}

function decode({ params, headers, body }: SszRequest, codec: RequestCodec): unknown {
  // This must be a plain Uint8Array, because the codecs rely on `slice` making a copy.
  return codec.parseReqSsz?.({ params, query: {}, headers, body: new Uint8Array(body ?? []) });
}

/** Returns the fork whose types can decode the body and to which the body's slot belongs. */
function otherVersion(
  request: SszRequest,
  codec: RequestCodec,
  config: ChainForkConfig,
): { fork: ForkName; slot: Slot } | undefined {
  for (const { name: fork } of config.forksAscendingEpochOrder) {
    try {
      const { params, body, headers } = request;
      const slot = firstSlot(decode({ params, body, headers: { ...headers, [HEADER]: fork } }, codec));
      if (slot !== undefined && config.getForkName(slot) === fork) return { fork, slot };
    } catch {
      // The body does not belong to this fork.
    }
  }
  return undefined;
}

class InexactBodyError extends Error {
  constructor() {
    super("The body contains an integer above 2^53-1, which is not supported.");
    this.name = "InexactBodyError";
  }
}

/** Returns true if no integer was rounded. Infinity stands for the maximum, as in FAR_FUTURE_EPOCH. */
function isExact(value: unknown): boolean {
  if (typeof value === "number") return value <= Number.MAX_SAFE_INTEGER || value === Number.POSITIVE_INFINITY;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return true;
  return Object.values(value).every(isExact);
}

/** Returns the slot of the first object that has one. Every body that depends on the fork contains a slot. */
function firstSlot(value: unknown): Slot | undefined {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  if ("slot" in value) return Math.min(Number(value.slot), Number.MAX_SAFE_INTEGER);
  for (const member of Object.values(value)) {
    const slot = firstSlot(member);
    if (slot !== undefined) return slot;
  }
  return undefined;
}
