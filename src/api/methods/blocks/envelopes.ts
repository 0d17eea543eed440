import type { Type } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { type gloas, ssz } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";
import { notFound } from "../../../errors/failure.ts";
import { sszJson } from "../../../json/ssz-json.ts";
import { defineOperation, get } from "../../definition.ts";
import { encodeMeta } from "../../encoding.ts";
import { resolveBlock, type VersionedMeta, versionedMetaOf } from "../../lookup.ts";
import { BLOCK_ID } from "../../params/common.ts";
import { requireForkAt } from "../../preconditions.ts";
import { shape } from "../../schemas.ts";

const ENVELOPE = ssz.gloas.SignedExecutionPayloadEnvelope as unknown as Type<gloas.SignedExecutionPayloadEnvelope>;

const getSignedExecutionPayloadEnvelope = defineOperation("beacon.getSignedExecutionPayloadEnvelope", {
  name: "get_v1_beacon_execution_payload_envelopes_blockId",
  summary: "The signed envelope with the execution payload of a block.",
  params: { blockId: BLOCK_ID },
  result: { name: "signed_envelope", schema: shape("SignedExecutionPayloadEnvelope") },
  failures: ["not-found"],
  rest: [get("/eth/v1/beacon/execution_payload_envelopes/{block_id}", { ssz: "response" })],
  cost: "cheap",
  access: "read",
  since: ForkName.gloas,
  // A payload may arrive after its block is final, so responses depend on the head.
  dependsOn: "head",
  example: { params: (chain) => [String(chain.slot - 1)] },
  handler: ({ chain }, { blockId }) => envelopeOf(chain, blockId),
  // Encoding from SSZ is many times faster than using the codec.
  async json({ chain }, { blockId }, codec) {
    const { data, meta } = await envelopeOf(chain, blockId);
    return { body: sszJson(ENVELOPE, ENVELOPE.serialize(data)), ...encodeMeta(codec.meta, meta) };
  },
});

export const envelopeMethods = [getSignedExecutionPayloadEnvelope] as const;

type BlockId = Parameters<typeof resolveBlock>[1];

async function envelopeOf(
  chain: BeaconChain,
  blockId: BlockId,
): Promise<{ data: gloas.SignedExecutionPayloadEnvelope; meta: VersionedMeta }> {
  const block = await resolveBlock(chain, blockId);
  const { root, slot, finalized } = block;
  requireForkAt(chain.config, ForkName.gloas, slot, "Execution payload envelopes");
  const data = await chain.payloadStore.get(root);
  if (data === null) throw notFound(`No execution payload is known for block ${root} of slot ${slot}.`);
  const executionOptimistic = chain.payloads.isNodeOptimistic({ root, payloadStatus: "full" });
  return {
    data,
    meta: versionedMetaOf(chain, slot, {
      // Fork choice no longer has the payloads of older blocks.
      executionOptimistic: chain.forkChoice.has(root) ? executionOptimistic : block.executionOptimistic,
      finalized,
    }),
  };
}
