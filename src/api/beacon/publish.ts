import { HttpStatusCode, type routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { SignedBeaconBlock } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { BlockRejection } from "../../chain/import/block-rejection.ts";
import { validateGossipBlock } from "../../chain/validation/block.ts";
import { GossipRefusal } from "../../chain/validation/outcome.ts";
import { rejected } from "../../errors.ts";
import { requireSynced } from "../gate.ts";

export type PublishApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "publishBlockV2">;

export function createPublishApi(chain: BeaconChain): PublishApi {
  return {
    async publishBlockV2({ signedBlockContents }) {
      const { imported } = await publishBlock(chain, signedBlockContents.signedBlock);
      return { status: imported ? HttpStatusCode.OK : HttpStatusCode.ACCEPTED };
    },
  };
}

/** The block passed the gossip rules; it may still have turned out not to be a valid block. */
export type Publication = { imported: true } | { imported: false; rejection: BlockRejection };

/** Takes a signed block from outside: first the gossip rules, which decide whether it may be spread, then the import. */
export async function publishBlock(chain: BeaconChain, signed: SignedBeaconBlock): Promise<Publication> {
  requireSynced(chain);
  try {
    await validateGossipBlock(chain.validation, signed);
  } catch (error) {
    if (!(error instanceof GossipRefusal)) throw error;
    if (error.known) return { imported: true };
    throw rejected(`The block was rejected: ${error.message}`, { detail: error.message });
  }
  try {
    await chain.importBlock(signed);
    return { imported: true };
  } catch (error) {
    if (error instanceof BlockRejection) return { imported: false, rejection: error };
    throw error;
  }
}
