import type { CompositeTypeAny } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import { encodeJson } from "../json/encode.ts";
import { streamSszJson } from "../json/ssz-json.ts";
import type { Answer } from "../server/method-table.ts";
import { versionedMetaOf } from "./beacon/blocks.ts";
import type { ChainView } from "./chain-view.ts";
import { stateMeta } from "./debug.ts";
import type { Handlers } from "./handlers.ts";
import { type ResolvedState, resolveState } from "./identifiers.ts";
import {
  besideData,
  byStatus,
  encodeResponse,
  extension,
  type Operation,
  standard,
  standardFamily,
} from "./operation.ts";

export type Operations = ReturnType<typeof createOperations>;

/** Every handler with its encoder: what the doors call. */
export function createOperations(chain: ChainView, handlers: Handlers) {
  const beacon = routes.beacon.getDefinitions(chain.config);
  const node = routes.node.getDefinitions(chain.config);
  const config = routes.config.getDefinitions(chain.config);
  const debug = routes.debug.getDefinitions(chain.config);
  const validator = routes.validator.getDefinitions(chain.config);

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
    beacon: {
      ...standardFamily(beacon, handlers.beacon),
      /** 200 for a block that was imported, 202 for one that was only broadcast. */
      publishBlockV2: byStatus(handlers.beacon.publishBlockV2, (status) => status),
      /** The first version's body has no `version` beside its data. */
      getBlockAttestations: standard(
        { resp: { ...beacon.getBlockAttestationsV2.resp, meta: beacon.getBlockRoot.resp.meta } },
        handlers.beacon.getBlockAttestationsV2,
      ),
    },
    validator: standardFamily(validator, handlers.validator),
    node: {
      ...standardFamily(node, nodeMethods),
      getHealth: byStatus(getHealth, (status) => ({ health: status })),
    },
    config: {
      ...standardFamily(config, configMethods),
      getSpecPreset: extension<void>(getSpecPreset),
    },
    debug: {
      getDebugChainHeadsV2: standard(debug.getDebugChainHeadsV2, handlers.debug.getDebugChainHeadsV2),
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
  };
}
