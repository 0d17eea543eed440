import { type HttpSuccessCodes, routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { ForkSeq } from "@lodestar/params";
import { invalidParams, notFound } from "../errors.ts";
import type { NetworkView, Peer, PeerDirection, PeerState } from "../network/network-view.ts";
import { parsePeerId } from "../network/peer-id.ts";
import type { SyncView } from "../sync/sync.ts";
import type { ChainView } from "./chain-view.ts";

export type NodeApi = Pick<
  ApplicationMethods<routes.node.Endpoints>,
  | "getNetworkIdentity"
  | "getPeers"
  | "getPeer"
  | "getPeerCount"
  | "getNodeVersion"
  | "getNodeVersionV2"
  | "getSyncingStatus"
  | "getHealth"
>;

const UNKNOWN_COMMIT = "0x00000000";

const READY = 200;
const SYNCING = 206;

export interface NodeDependencies {
  chain: Pick<ChainView, "head" | "status" | "config" | "clock">;
  network: NetworkView;
  sync: SyncView;
  version: string;
}

export function createNodeApi({ chain, network, sync, version }: NodeDependencies): NodeApi {
  return {
    async getNetworkIdentity() {
      const { metadata, ...identity } = await network.identity();
      const { custodyGroupCount, ...common } = metadata;
      const hasCustody = chain.config.getForkSeq(chain.clock.currentSlot) >= ForkSeq.fulu;
      return { data: { ...identity, metadata: hasCustody ? { ...common, custodyGroupCount } : common } };
    },

    async getPeers({ state, direction }) {
      const peers = network.peers().filter((peer) => passes(state, peer.state) && passes(direction, peer.direction));
      return { data: peers.map(nodePeer), meta: { count: peers.length } };
    },

    async getPeer({ peerId }) {
      const known = await parsePeerId(peerId);
      if (known === undefined) {
        throw invalidParams('The parameter "peer_id" must be a libp2p peer id, in base58btc or as a CIDv1 in base32.');
      }
      const peer = network.peer(known);
      if (!peer) throw notFound(`The peer ${known} is not known.`);
      return { data: nodePeer(peer) };
    },

    async getPeerCount() {
      return { data: network.peerCounts() };
    },

    async getNodeVersion() {
      return { data: { version } };
    },

    /** The execution engine is not asked who it is; the standard lets it be left out. */
    async getNodeVersionV2() {
      return { data: { beaconNode: clientVersion(version) } };
    },

    async getSyncingStatus() {
      const { isSyncing, syncDistance } = sync;
      const { isOptimistic, executionOffline } = chain.status;
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
      const status = healthOf(sync, chain.status, syncingStatus ?? SYNCING);
      // The vocabulary allows success codes only, but a caller may have any code stand for "syncing".
      return { status: status as HttpSuccessCodes };
    },
  };
}

/** Clients without a code of their own have XX; a version that was not built from a commit names none. */
function clientVersion(text: string): routes.node.ClientVersion {
  const [name = text, version = ""] = text.split("/");
  return { code: routes.node.ClientCode.XX, name, version, commit: UNKNOWN_COMMIT };
}

type IdentityDefinition = ReturnType<typeof routes.node.getDefinitions>["getNetworkIdentity"];

/** The vocabulary knows metadata from altair on; phase0, which has no sync committees, has no bits for them either. */
export function identityOfFork(
  { resp }: IdentityDefinition,
  { config, clock }: Pick<ChainView, "config" | "clock">,
): Pick<IdentityDefinition, "resp"> {
  const toJson: typeof resp.data.toJson = (identity, meta) => {
    const json = resp.data.toJson(identity, meta) as { metadata: { syncnets?: string } };
    if (config.getForkSeq(clock.currentSlot) < ForkSeq.altair) delete json.metadata.syncnets;
    return json;
  };
  return { resp: { ...resp, data: { ...resp.data, toJson } } };
}

/** An empty list of words filters nothing out. */
function passes<Word extends PeerState | PeerDirection>(words: Word[] | undefined, word: Word | null): boolean {
  return words === undefined || words.length === 0 || (word !== null && words.includes(word));
}

function nodePeer({ peerId, enr, lastSeenP2pAddress, state, direction }: Peer): routes.node.NodePeer {
  return { peerId, enr, lastSeenP2pAddress, state, direction };
}

/** The standard's third answer, 503 for a node without a chain, cannot occur: the interface opens with a chain behind it. */
function healthOf(
  { isSyncing }: SyncView,
  { isOptimistic, executionOffline }: ChainView["status"],
  syncingCode: number,
): number {
  return isSyncing || isOptimistic || executionOffline ? syncingCode : READY;
}
