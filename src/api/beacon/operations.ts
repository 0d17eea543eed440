import { routes } from "@lodestar/api";
import type { Attestation, ValidatorIndex } from "@lodestar/types";
import { LruMap } from "../../chain/lru-map.ts";
import { streamPieces, writtenArrayPieces } from "../../json/json-stream.ts";
import { balanceJson, validatorJson } from "../../json/validator-json.ts";
import type { Answer } from "../../server/method-table.ts";
import type { ChainView } from "../chain-view.ts";
import {
  besideData,
  byStatus,
  extension,
  type Operation,
  standard,
  standardFamily,
  standardKept,
} from "../operation.ts";
import { perState } from "../per-state.ts";
import type { BeaconApi } from "./beacon.ts";
import { type CommitteesQuery, listCommittees } from "./committees.ts";
import { listIdentities, type ValidatorIdentity } from "./identities.ts";
import type { AttestationFilter } from "./pool.ts";
import { metaOf } from "./states.ts";
import {
  type BalancesQuery,
  findValidator,
  listBalances,
  listValidators,
  type SlicedList,
  type ValidatorQuery,
  type ValidatorsQuery,
  validatorAt,
} from "./validators.ts";

/** A list that can have no more items than this is written at once, which costs less than a stream. */
const MAX_ITEMS_AT_ONCE = 256;

/** Of each state, the encoded validators that were asked for one by one. */
const MAX_KEPT_VALIDATORS = 256;
const validatorBodies = perState(() => new LruMap<ValidatorIndex, Buffer>(MAX_KEPT_VALIDATORS));

/** The beacon handlers with their encoders. */
export function createBeaconOperations(chain: ChainView, handlers: BeaconApi) {
  const definitions = routes.beacon.getDefinitions(chain.config);
  const { publishBlockV2, publishBlindedBlockV2, publishValidatorBlock, getPoolAttestations, ...standardMethods } =
    handlers;
  const emptyMeta = definitions.getPoolProposerSlashings.resp.meta;

  const answerWithList = <Item>(list: SlicedList<Item>, write: (item: Item) => string): Answer => {
    const { slices, maxLength, resolved } = list;
    const pieces = writtenArrayPieces(slices, write);
    return {
      body: maxLength <= MAX_ITEMS_AT_ONCE ? Buffer.from(Array.from(pieces).join("")) : streamPieces(pieces),
      ...besideData(definitions.getStateValidators.resp.meta, metaOf(resolved)),
    };
  };
  const getStateValidator: Operation<ValidatorQuery> = async (query) => {
    const { resolved, index } = await findValidator(chain, query);
    const kept = validatorBodies(resolved.state);
    let body = kept.get(index);
    if (body === undefined) {
      body = Buffer.from(validatorJson(validatorAt(resolved.state, index)));
      kept.set(index, body);
    }
    return { body, ...besideData(definitions.getStateValidator.resp.meta, metaOf(resolved)) };
  };
  const getStateValidators: Operation<ValidatorsQuery> = async (query) =>
    answerWithList(await listValidators(chain, query), validatorJson);
  const getStateValidatorBalances: Operation<BalancesQuery> = async (query) =>
    answerWithList(await listBalances(chain, query), balanceJson);
  const postStateValidatorIdentities: Operation<BalancesQuery> = async (query) =>
    answerWithList(await listIdentities(chain, query), identityJson);
  const getEpochCommittees: Operation<CommitteesQuery> = async (query) =>
    answerWithList(await listCommittees(chain, query), committeeJson);

  return {
    ...standardFamily(definitions, standardMethods),
    getGenesis: standardKept(definitions.getGenesis, handlers.getGenesis),
    getStateFork: standardKept(definitions.getStateFork, handlers.getStateFork),
    getStateFinalityCheckpoints: standardKept(
      definitions.getStateFinalityCheckpoints,
      handlers.getStateFinalityCheckpoints,
    ),
    getBlockHeader: standardKept(definitions.getBlockHeader, handlers.getBlockHeader),
    getStateValidator,
    getStateValidators,
    postStateValidators: getStateValidators,
    getStateValidatorBalances,
    postStateValidatorBalances: getStateValidatorBalances,
    postStateValidatorIdentities,
    getEpochCommittees,
    /** 200 for a block that was imported, 202 for one that was only broadcast. */
    publishBlockV2: byStatus(publishBlockV2, (status) => status),
    publishBlindedBlockV2: byStatus(publishBlindedBlockV2, (status) => status),
    publishValidatorBlock: extension(publishValidatorBlock),
    /** The first versions' bodies have no `version` beside their data. */
    getBlockAttestations: standard(
      { resp: { ...definitions.getBlockAttestationsV2.resp, meta: definitions.getBlockRoot.resp.meta } },
      handlers.getBlockAttestationsV2,
    ),
    getPoolAttesterSlashings: standard(
      { resp: { ...definitions.getPoolAttesterSlashingsV2.resp, meta: emptyMeta } },
      handlers.getPoolAttesterSlashingsV2,
    ),
    /** A list without a version can hold attestations of several forks, each in its own form. */
    getPoolAttestations: extension(async (filter: AttestationFilter) => {
      const attestations = await getPoolAttestations(filter);
      return attestations.map((attestation) => attestationJson(chain, attestation));
    }),
  };
}

function identityJson(identity: ValidatorIdentity): string {
  return JSON.stringify(routes.beacon.state.ValidatorIdentityType.toJson(identity));
}

function committeeJson(committee: routes.beacon.state.EpochCommitteeResponse): string {
  return JSON.stringify(routes.beacon.state.EpochCommitteeResponseType.toJson(committee));
}

function attestationJson({ config }: ChainView, attestation: Attestation): unknown {
  const type = config.getForkTypes(attestation.data.slot).Attestation as { toJson(value: Attestation): unknown };
  return type.toJson(attestation);
}
