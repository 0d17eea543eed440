import type { Type } from "@chainsafe/ssz";
import { sszJson } from "../json/ssz-json.ts";
import type { MethodResponse } from "../server/method-table.ts";
import { OFFSET_BYTES } from "../ssz/tree.ts";
import type { MetaCodec } from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import type { SszResponse } from "./definition.ts";
import { encodeMeta } from "./encoding.ts";
import { listBody } from "./list-body.ts";

/** A list of large values, such as blobs, each serialized as SSZ. */
interface SerializedList<Meta> {
  type: Type<unknown>;
  elements: readonly Uint8Array[];
  meta: Meta;
}

/**
 * Returns the encoders for an operation that returns a serialized list. Both JSON and SSZ are written from the bytes.
 */
export function serializedListEncoders<Args, Meta>(
  read: (context: ApiContext, args: Args) => Promise<SerializedList<Meta>>,
) {
  return {
    async json(context: ApiContext, args: Args, codec: { meta: MetaCodec<Meta> }): Promise<MethodResponse> {
      const { type, elements, meta } = await read(context, args);
      return { body: await listBody(elements, (bytes) => sszJson(type, bytes)), ...encodeMeta(codec.meta, meta) };
    },
    async ssz(context: ApiContext, args: Args): Promise<SszResponse> {
      const { type, elements, meta } = await read(context, args);
      return { data: elements.length === 0 ? new Uint8Array() : listSsz(type, elements), meta };
    },
  };
}

async function* listSsz(type: Type<unknown>, elements: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  if (type.fixedSize === null) yield encodeOffsets(elements);
  for (const { buffer, byteOffset, byteLength } of elements) yield Buffer.from(buffer, byteOffset, byteLength);
}

/** Encodes the offsets that precede the elements in the SSZ of a list with variable-size elements. */
function encodeOffsets(elements: readonly Uint8Array[]): Buffer {
  const offsets = Buffer.alloc(elements.length * OFFSET_BYTES);
  let at = offsets.length;
  for (const [index, { byteLength }] of elements.entries()) {
    offsets.writeUInt32LE(at, index * OFFSET_BYTES);
    at += byteLength;
  }
  return offsets;
}
