import type { CompositeTypeAny } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { encodeJson } from "../json/encode.ts";
import { streamSszJson } from "../json/ssz-json-stream.ts";
import type { Answer } from "../server/method-table.ts";
import { versionedMetaOf } from "./beacon/blocks.ts";
import { createBeaconOperations } from "./beacon/operations.ts";
import type { ChainView } from "./chain-view.ts";
import { stateMeta } from "./debug.ts";
import type { Handlers } from "./handlers.ts";
import { type ResolvedState, resolveState } from "./identifiers.ts";
import { identityOfFork } from "./node.ts";
import {
  besideData,
  byStatus,
  encodeResponse,
  extension,
  type Operation,
  standard,
  standardFamily,
} from "./operation.ts";
import { createValidatorOperations } from "./validator/operations.ts";

export type Operations = ReturnType<typeof createOperations>;

/** Every handler with its encoder: what the doors call. */
export function createOperations(chain: ChainView, handlers: Handlers) {
  const beacon = routes.beacon.getDefinitions(chain.config);
  const node = routes.node.getDefinitions(chain.config);
  const config = routes.config.getDefinitions(chain.config);
  const debug = routes.debug.getDefinitions(chain.config);

  const { getHealth, ...nodeMethods } = handlers.node;
  const { getSpecPreset, ...configMethods } = handlers.config;
  const { extensions } = handlers;

  /** A state is far too large to be one JSON text. */
  const streamState = (resolved: ResolvedState): Answer => {
    const { state } = resolved;
    state.commit();
    return {
      body: streamSszJson(state.type as CompositeTypeAny, state.node),
      ...besideData(debug.getStateV2.resp.meta, stateMeta(chain, resolved)),
    };
  };

  const getStateV2: Operation<{ stateId: routes.beacon.StateId }> = async ({ stateId }) =>
    streamState(await resolveState(chain, stateId));

  return {
    beacon: createBeaconOperations(chain, handlers.beacon),
    validator: createValidatorOperations(chain.config, handlers.validator),
    lightclient: standardFamily(routes.lightclient.getDefinitions(chain.config), handlers.lightclient),
    node: {
      ...standardFamily(node, nodeMethods),
      getNetworkIdentity: standard(identityOfFork(node.getNetworkIdentity, chain), handlers.node.getNetworkIdentity),
      getHealth: byStatus(getHealth, (status) => ({ health: status })),
    },
    config: {
      ...standardFamily(config, configMethods),
      getSpecPreset: extension<void>(getSpecPreset),
    },
    debug: {
      getDebugChainHeadsV2: standard(debug.getDebugChainHeadsV2, handlers.debug.getDebugChainHeadsV2),
      getDebugForkChoice: standard(debug.getDebugForkChoice, handlers.debug.getDebugForkChoice),
      getDebugDataColumnSidecars: standard(debug.getDebugDataColumnSidecars, handlers.debug.getDebugDataColumnSidecars),
      getDebugChainHeads: extension<void>(handlers.debug.getDebugChainHeads),
      getStateV2,
    },
    extensions: {
      getBeaconHead: extension<void>(extensions.getBeaconHead),
      getChainHead: extension<void>(extensions.getChainHead),
      getNodeVersion: extension<void>(extensions.getNodeVersion),
      getSyncing: extension<void>(extensions.getSyncing),
      setLogLevel: extension(extensions.setLogLevel),
      setGraffiti: extension(extensions.setGraffiti),
      getBeaconBlock: async (args: Parameters<typeof extensions.getBeaconBlock>[0]): Promise<Answer> => {
        const block = await extensions.getBeaconBlock(args);
        if (block === null) return { body: encodeJson(null) };
        return encodeResponse(beacon.getBlockV2, { data: block.signed, meta: versionedMetaOf(chain, block) });
      },
      getBeaconState: async (args: Parameters<typeof extensions.getBeaconState>[0]): Promise<Answer> => {
        const resolved = await extensions.getBeaconState(args);
        return resolved === null ? { body: encodeJson(null) } : streamState(resolved);
      },
    },
    network: {
      getPooledPeers: extension<void>(handlers.network.getPooledPeers),
      getNetworkPeerId: extension<void>(handlers.network.getNetworkPeerId),
      getNetworkPeers: extension<void>(handlers.network.getNetworkPeers),
      getNetworkEnr: extension<void>(handlers.network.getNetworkEnr),
      getGossipSubPeers: extension<void>(handlers.network.getGossipSubPeers),
    },
    eth1: {
      getEth1Chain: extension<void>(handlers.eth1.getEth1Chain),
      getEth1ProposalData: extension<void>(handlers.eth1.getEth1ProposalData),
    },
    futures: { getFutures: extension<void>(handlers.futures.getFutures) },
  };
}
