import { HttpStatusCode, type routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName, type ForkPostBellatrix, type ForkPreGloas, isForkPostBellatrix } from "@lodestar/params";
import { signedBeaconBlockToBlinded, signedBlindedBlockToFull } from "@lodestar/state-transition";
import type {
  bellatrix,
  ExecutionPayload,
  SignedBeaconBlock,
  SignedBlindedBeaconBlock,
  SignedBlockContents,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { unsupported } from "../../failure.ts";
import type { Broadcast } from "../../network/broadcast.ts";
import { requireForkAt } from "../fork-support.ts";
import { resolveBlock } from "../identifiers.ts";
import { versionedMetaOf } from "./blocks.ts";
import { publishBlock } from "./publish.ts";

export type BlindedBlocksApi = Pick<
  ApplicationMethods<routes.beacon.Endpoints>,
  "getBlindedBlock" | "publishBlindedBlockV2"
>;

export function createBlindedBlocksApi(chain: BeaconChain, broadcast: Broadcast): BlindedBlocksApi {
  return {
    async getBlindedBlock({ blockId }) {
      const block = await resolveBlock(chain, blockId);
      const meta = versionedMetaOf(chain, block);
      return { data: isForkPostBellatrix(meta.version) ? blinded(chain, block.signed) : block.signed, meta };
    },

    async publishBlindedBlockV2({ signedBlindedBlock, broadcastValidation }) {
      const contents = await unblinded(chain, signedBlindedBlock);
      const { imported } = await publishBlock({ chain, broadcast }, contents, broadcastValidation);
      return { status: imported ? HttpStatusCode.OK : HttpStatusCode.ACCEPTED };
    },
  };
}

function blinded({ config }: BeaconChain, signed: SignedBeaconBlock): SignedBlindedBeaconBlock {
  return signedBeaconBlockToBlinded(config, signed as SignedBeaconBlock<ForkPostBellatrix & ForkPreGloas>);
}

/** The whole block. There is no builder to ask, so the payload must be one that a block of the node has. */
async function unblinded(chain: BeaconChain, signed: SignedBlindedBeaconBlock): Promise<SignedBlockContents> {
  const { slot, body } = signed.message;
  requireForkAt(chain.config, ForkName.bellatrix, slot, "Execution payloads, which blinded blocks leave out,");
  const { blockHash } = body.executionPayloadHeader;
  const payload = await knownPayload(chain, slot, toRootHex(blockHash));
  if (payload === null) {
    throw unsupported(
      `The payload ${toRootHex(blockHash)} of the blinded block is not known to the node, which has no builder to get it from.`,
    );
  }
  return { signedBlock: signedBlindedBlockToFull(chain.config.getForkName(slot), signed, payload) };
}

async function knownPayload(chain: BeaconChain, slot: number, blockHash: string): Promise<ExecutionPayload | null> {
  const atSlot = await chain.blocks.atSlot(slot);
  for (const { signed } of atSlot) {
    const { executionPayload } = signed.message.body as bellatrix.BeaconBlockBody;
    if (toRootHex(executionPayload.blockHash) === blockHash) return executionPayload;
  }
  return null;
}
