import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { encodeJson } from "../../json/encode.ts";
import type { Answer } from "../../server/method-table.ts";
import type { Lasting, RestAnswer, RestRequest } from "../../server/rest/route-table.ts";
import type { ChainView } from "../chain-view.ts";
import type { ResponseCodec } from "../codecs.ts";
import type { ApiContext } from "../context.ts";
import { besideData, type Response } from "../encoding.ts";

type Codec = ResponseCodec<unknown, unknown>;

const START = Buffer.from('{"data":');
const END = Buffer.from("}");

/** The standard's body: an encoded result under `data`, and beside it its metadata. */
export function dataAnswer({ body, meta, headers }: Answer, request: RestRequest): RestAnswer {
  return {
    status: 200,
    headers,
    content: { format: "json", parts: [START, body, endOf(meta)] },
    lasting: lastingOf(request, meta),
  };
}

function endOf(meta: Answer["meta"]): Buffer {
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  return hasMeta ? Buffer.from(`,${JSON.stringify(meta).slice(1)}`) : END;
}

/** The body of an operation that puts data and metadata together in a way of its own. */
export function transformedAnswer(codec: Codec, { data, meta }: Response, request: RestRequest): RestAnswer {
  const body = codec.transform?.toResponse(codec.data.toJson(data, meta), codec.meta.toJson(meta));
  const beside = besideData(codec.meta, meta);
  return {
    status: 200,
    headers: beside.headers,
    content: { format: "json", parts: [encodeJson(body)] },
    lasting: lastingOf(request, beside.meta),
  };
}

/** The bytes of an SSZ value, with its metadata in headers. */
export function sszAnswer({ body, meta, headers }: Answer, request: RestRequest): RestAnswer {
  return {
    status: 200,
    headers,
    content: { format: "ssz", parts: [body] },
    lasting: lastingOf(request, meta),
  };
}

/** What is final never changes, but for the payloads in it that nobody has checked yet. */
function lastingOf(request: RestRequest, meta: Record<string, unknown> | undefined): Lasting {
  const isSettled = meta?.finalized === true && meta.execution_optimistic !== true;
  return isSettled ? lastingOfFinal(request) : "never";
}

/**
 * A root names one thing in all the world; a slot only within one chain, and a dev chain can be replaced by another at the
 * same address.
 */
function lastingOfFinal({ params }: RestRequest): Lasting {
  const id = params.state_id ?? params.block_id;
  if (id?.startsWith("0x")) return "forever";
  return id !== undefined && isSlot(id) ? "while-unchanged" : "never";
}

/**
 * All of an answer about a final state follows from the state, the request and the node's version, so that these make its
 * entity tag. Whoever holds the answer already need not wait for it to be made, nor for the state.
 */
export async function answerAboutState(
  { chain, version }: ApiContext,
  request: RestRequest,
  make: () => Promise<RestAnswer>,
): Promise<RestAnswer> {
  const identity = identityOfState(chain, request.params.state_id);
  const state = identity instanceof Promise ? await identity : identity;
  if (state === undefined) return make();
  const { tag, isHeld } = request.entity(`${version} ${state}`);
  if (isHeld) return { status: 304, lasting: lastingOfFinal(request), tag };
  return { ...(await make()), tag };
}

type IdentityOfState = string | undefined;

/** A state is known by its root or, at a given slot, by the last block before it; undefined for one that may yet be another. */
function identityOfState({ blocks, forkChoice }: ChainView, id = ""): IdentityOfState | Promise<IdentityOfState> {
  if (id.startsWith("0x")) return id;
  if (!isSlot(id) || Number(id) > computeStartSlotAtEpoch(forkChoice.finalized.epoch)) return undefined;
  return blocks.rootAtOrBefore(Number(id)).then((root) => root ?? undefined);
}

const isSlot = (id: string) => /^\d+$/.test(id);
