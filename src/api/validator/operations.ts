import { routes } from "@lodestar/api";
import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import { type Attestation, type BlockContents, ProducedBlockSource, type phase0, ssz } from "@lodestar/types";
import { byStatus, extension, standard, standardFamily } from "../operation.ts";
import type { ProduceBlockV2Meta } from "./production.ts";
import type { ValidatorApi } from "./validator.ts";

/** The validator handlers with their encoders. */
export function createValidatorOperations(config: ChainForkConfig, handlers: ValidatorApi) {
  const definitions = routes.validator.getDefinitions(config);
  const {
    getAttesterDutiesOf,
    getSyncCommitteeDutiesOf,
    produceBlockV2,
    produceBlockV3Of,
    getAggregatedAttestation,
    subscribeToCommittees,
    getExecutionPayloadBid,
    ...standardMethods
  } = handlers;
  const blockCodec = definitions.produceBlockV3.resp.data;
  const versionMeta = definitions.getAggregatedAttestationV2.resp.meta;
  /** What the third version's codecs want to know of a block to encode it as the second version did. */
  const unblinded = (version: ForkName) => ({
    version,
    executionPayloadBlinded: false,
    executionPayloadSource: ProducedBlockSource.engine,
    executionPayloadValue: 0n,
    consensusBlockValue: 0n,
  });

  return {
    ...standardFamily(definitions, standardMethods),
    getAttesterDutiesOf: standard(definitions.getAttesterDuties, getAttesterDutiesOf),
    getSyncCommitteeDutiesOf: standard(definitions.getSyncCommitteeDuties, getSyncCommitteeDutiesOf),
    produceBlockV2: standard(
      {
        resp: {
          data: {
            toJson: (data: BlockContents, { version }) => blockCodec.toJson(data, unblinded(version)),
            deserialize: (bytes, { version }) => blockCodec.deserialize(bytes, unblinded(version)) as BlockContents,
          },
          meta: {
            // Validator clients of the second version's time read the value under this name, and some insist on it.
            toJson: (meta: ProduceBlockV2Meta) => ({
              ...(versionMeta.toJson(meta) as object),
              block_value: meta.executionPayloadValue.toString(),
            }),
            toHeadersObject: (meta: ProduceBlockV2Meta) => versionMeta.toHeadersObject(meta),
          },
        },
      },
      produceBlockV2,
    ),
    produceBlockV3Of: standard(definitions.produceBlockV3, produceBlockV3Of),
    /** Only ever of a fork before electra. */
    getAggregatedAttestation: standard(
      {
        resp: {
          data: {
            toJson: (data: Attestation) => ssz.phase0.Attestation.toJson(data as phase0.Attestation),
            deserialize: (bytes) => ssz.phase0.Attestation.deserialize(bytes),
          },
          meta: definitions.produceAttestationData.resp.meta,
        },
      },
      getAggregatedAttestation,
    ),
    getExecutionPayloadBid: extension(getExecutionPayloadBid),
    subscribeToCommittees: byStatus(subscribeToCommittees, () => true),
  };
}
