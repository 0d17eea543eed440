import type { HttpSuccessCodes, routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import type { ChainView } from "./chain-view.ts";
import type { NetworkView } from "./network-view.ts";

export type NodeApi = Pick<
  ApplicationMethods<routes.node.Endpoints>,
  "getPeerCount" | "getNodeVersion" | "getSyncingStatus" | "getHealth"
>;

const READY = 200;
const SYNCING = 206;

export function createNodeApi(
  chain: Pick<ChainView, "head" | "status">,
  network: NetworkView,
  version: string,
): NodeApi {
  return {
    async getPeerCount() {
      return { data: network.peerCounts() };
    },

    async getNodeVersion() {
      return { data: { version } };
    },

    async getSyncingStatus() {
      const { isSyncing, syncDistance, isOptimistic, executionOffline } = chain.status;
      return {
        data: {
          headSlot: chain.head.slot,
          syncDistance: isSyncing ? syncDistance : 0,
          isSyncing,
          isOptimistic,
          elOffline: executionOffline,
        },
      };
    },

    async getHealth({ syncingStatus }) {
      const status = healthOf(chain.status, syncingStatus ?? SYNCING);
      // The vocabulary allows success codes only, but a caller may have any code stand for "syncing".
      return { status: status as HttpSuccessCodes };
    },
  };
}

/** The standard's third answer, 503 for a node without a chain, cannot occur: the interface opens with a chain behind it. */
function healthOf(status: ChainView["status"], syncingCode: number): number {
  return status.isSyncing || status.isOptimistic || status.executionOffline ? syncingCode : READY;
}
