import { Tree } from "@chainsafe/persistent-merkle-tree";
import type { ContainerType } from "@chainsafe/ssz";
import type { BeaconConfig } from "@lodestar/config";
import { type ForkPostAltair, ForkSeq } from "@lodestar/params";
import { executionPayloadToPayloadHeader } from "@lodestar/state-transition";
import { upgradeLightClientHeader } from "@lodestar/state-transition/light-client";
import type { BeaconBlock, bellatrix, deneb, LightClientHeader } from "@lodestar/types";

type BodyType = ContainerType<Record<string, never>>;

/** capella/light-client/full-node.md, block_to_light_client_header, in the form of the block's own fork. */
export function blockToLightClientHeader(config: BeaconConfig, block: BeaconBlock): LightClientHeader {
  const { slot, proposerIndex, parentRoot, stateRoot, body } = block;
  const bodyType = config.getForkTypes(slot).BeaconBlockBody as unknown as BodyType;
  const view = bodyType.toView(body as never);
  const beacon = { slot, proposerIndex, parentRoot, stateRoot, bodyRoot: view.hashTreeRoot() };
  const forkSeq = config.getForkSeq(slot);
  if (forkSeq < ForkSeq.capella) return { beacon };
  const { executionPayload } = body as bellatrix.BeaconBlockBody;
  const { gindex } = bodyType.getPathInfo(["executionPayload"]);
  return {
    beacon,
    execution: executionPayloadToPayloadHeader(forkSeq, executionPayload),
    executionBranch: new Tree(view.node).getSingleProof(gindex),
  } as LightClientHeader;
}

/** A header as objects of a later fork hold it. */
export function headerInFork(config: BeaconConfig, fork: ForkPostAltair, header: LightClientHeader): LightClientHeader {
  if (config.getForkSeq(header.beacon.slot) >= ForkSeq[fork]) return header;
  // The upgrade writes into what it is given.
  const copy = { ...header } as deneb.LightClientHeader;
  if (copy.execution) copy.execution = { ...copy.execution };
  return upgradeLightClientHeader(config, fork, copy);
}
