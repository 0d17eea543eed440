import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkName } from "@lodestar/params";
import type { deneb } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { notFound } from "../../errors.ts";
import { versionedHashesOf } from "../../execution/engine.ts";
import type { ChainView } from "../chain-view.ts";
import { requireForkAt, requireScheduled } from "../fork-support.ts";
import { resolveBlock } from "../identifiers.ts";

export type BlobsApi = Pick<ApplicationMethods<routes.beacon.Endpoints>, "getBlobs">;

const WHAT = "Blobs";

/** The node keeps no blobs, so it can only answer for blocks without any. */
export function createBlobsApi(chain: ChainView): BlobsApi {
  return {
    async getBlobs({ blockId, versionedHashes = [] }) {
      requireScheduled(chain.config, ForkName.deneb, WHAT);
      const block = await resolveBlock(chain, blockId);
      requireForkAt(chain.config, ForkName.deneb, block.slot, WHAT);
      const { blobKzgCommitments } = block.signed.message.body as deneb.BeaconBlockBody;
      const hashes = versionedHashesOf(blobKzgCommitments).map((hash) => toHex(hash));
      const wanted = new Set(versionedHashes.map((hash) => hash.toLowerCase()));
      const asked = wanted.size === 0 ? hashes : hashes.filter((hash) => wanted.has(hash));
      if (asked.length > 0) {
        throw notFound(
          `The block of slot ${block.slot} commits to ${asked.length} blobs that are asked for, but the node keeps no blobs.`,
        );
      }
      return { data: [], meta: { executionOptimistic: block.executionOptimistic, finalized: block.finalized } };
    },
  };
}
