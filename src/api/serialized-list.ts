import type { Type } from "@chainsafe/ssz";
import { sszJson } from "../json/ssz-json.ts";
import type { Answer } from "../server/method-table.ts";
import { OFFSET_BYTES } from "../ssz/tree.ts";
import type { MetaCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import type { SszResponse } from "./definition.ts";
import { besideData } from "./encoding.ts";
import { listBody } from "./list-body.ts";

/** A list of large values, such as blobs, that are at hand as SSZ. */
export interface SerializedList<T, Meta> {
  type: Type<T>;
  elements: readonly Uint8Array[];
  meta: Meta;
}

/** What a definition has to say of an operation that answers with such a list: it is written from the bytes, in JSON and in SSZ. */
export function answeringList<Args, T, Meta>(
  read: (context: ApiContext, args: Args) => Promise<SerializedList<T, Meta>>,
) {
  return {
    async handler(context: ApiContext, args: Args): Promise<{ data: T[]; meta: Meta }> {
      const { type, elements, meta } = await read(context, args);
      return { data: elements.map((bytes) => type.deserialize(bytes)), meta };
    },
    async json(context: ApiContext, args: Args, codec: { meta: MetaCodec<Meta> }): Promise<Answer> {
      const { type, elements, meta } = await read(context, args);
      return { body: await listBody(elements, (bytes) => sszJson(type, bytes)), ...besideData(codec.meta, meta) };
    },
    async ssz(context: ApiContext, args: Args): Promise<SszResponse> {
      const { type, elements, meta } = await read(context, args);
      return { data: elements.length === 0 ? new Uint8Array() : listSsz(type, elements), meta };
    },
  };
}

async function* listSsz(type: Type<unknown>, elements: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  if (type.fixedSize === null) yield offsetsOf(elements);
  for (const { buffer, byteOffset, byteLength } of elements) yield Buffer.from(buffer, byteOffset, byteLength);
}

/** Where each element of a list of variable size begins, which stands before the first of them. */
function offsetsOf(elements: readonly Uint8Array[]): Buffer {
  const offsets = Buffer.alloc(elements.length * OFFSET_BYTES);
  let at = offsets.length;
  for (const [index, { byteLength }] of elements.entries()) {
    offsets.writeUInt32LE(at, index * OFFSET_BYTES);
    at += byteLength;
  }
  return offsets;
}
