import type { MethodDefinition } from "./definition.ts";
import { blobMethods, columnMethods } from "./methods/blocks/blobs.ts";
import { blockPublicationMethods } from "./methods/blocks/block-publication.ts";
import { blockMethods } from "./methods/blocks/blocks.ts";
import { envelopePublicationMethods } from "./methods/blocks/envelope-publication.ts";
import { envelopeMethods } from "./methods/blocks/envelopes.ts";
import { rewardMethods } from "./methods/blocks/rewards.ts";
import { chainHeadMethods } from "./methods/chain/chain-head.ts";
import { chainTimeMethods } from "./methods/chain/chain-time.ts";
import { depositSnapshotMethods, eth1Methods } from "./methods/chain/eth1.ts";
import { eventMethods } from "./methods/chain/events.ts";
import { lightClientMethods } from "./methods/chain/light-client.ts";
import { anvilChainMethods } from "./methods/dev/anvil-chain.ts";
import { anvilTimeMethods } from "./methods/dev/anvil-time.ts";
import { devBranchMethods } from "./methods/dev/branches.ts";
import { devBuilderMethods } from "./methods/dev/builders.ts";
import { devDumpMethods } from "./methods/dev/dumps.ts";
import { evmControlMethods } from "./methods/dev/evm-control.ts";
import { devKeysMethods } from "./methods/dev/keys.ts";
import { devOperationMethods } from "./methods/dev/operations.ts";
import { devPayloadMethods } from "./methods/dev/payloads.ts";
import { devSnapshotMethods } from "./methods/dev/snapshots.ts";
import { devTimeMethods } from "./methods/dev/time.ts";
import { devValidatorMethods } from "./methods/dev/validators.ts";
import { ethAccountMethods } from "./methods/eth/accounts.ts";
import { ethBlockMethods } from "./methods/eth/blocks.ts";
import { ethCallMethods } from "./methods/eth/calls.ts";
import { ethChainMethods } from "./methods/eth/chain.ts";
import { ethFeeMethods } from "./methods/eth/fees.ts";
import { ethLogMethods } from "./methods/eth/logs.ts";
import { ethRawMethods } from "./methods/eth/raw.ts";
import { ethStateMethods } from "./methods/eth/state.ts";
import { ethTraceMethods } from "./methods/eth/traces.ts";
import { ethTransactionMethods } from "./methods/eth/transactions.ts";
import { configMethods } from "./methods/node/config.ts";
import { discoverMethod } from "./methods/node/discover.ts";
import { networkMethods } from "./methods/node/network.ts";
import { nodeMethods } from "./methods/node/node.ts";
import { readinessMethods } from "./methods/node/readiness.ts";
import { attestationPoolMethods } from "./methods/pools/attestations.ts";
import { blsToExecutionChangePoolMethods } from "./methods/pools/bls-to-execution-changes.ts";
import { executionBidPoolMethods } from "./methods/pools/execution-bids.ts";
import { payloadAttestationPoolMethods } from "./methods/pools/payload-attestations.ts";
import { slashingPoolMethods } from "./methods/pools/slashings.ts";
import { voluntaryExitPoolMethods } from "./methods/pools/voluntary-exits.ts";
import { stateBuilderMethods } from "./methods/states/builders.ts";
import { committeeMethods } from "./methods/states/committees.ts";
import { debugMethods } from "./methods/states/debug.ts";
import { proofMethods } from "./methods/states/proofs.ts";
import { stateMethods, wholeStateMethods } from "./methods/states/states.ts";
import { validatorPageMethods } from "./methods/states/validator-page.ts";
import { validatorMethods } from "./methods/states/validators.ts";
import { withdrawalMethods } from "./methods/states/withdrawals.ts";
import { attestationProductionMethods } from "./methods/validator/attestation-production.ts";
import { blockProductionMethods } from "./methods/validator/block-production.ts";
import { gloasBlockMethods } from "./methods/validator/block-v4.ts";
import { builderPreferencesMethods } from "./methods/validator/builder-preferences.ts";
import { dutyMethods } from "./methods/validator/duties.ts";
import { executionBidMethods } from "./methods/validator/execution-bid.ts";
import { payloadAttestationMethods } from "./methods/validator/payload-attestations.ts";
import { proposerPreferencesMethods } from "./methods/validator/proposer-preferences.ts";
import { subscriptionMethods } from "./methods/validator/subscriptions.ts";
import { syncCommitteeMethods } from "./methods/validator/sync-committee.ts";
import type { MethodGroup } from "./openrpc.ts";

const beacon = [
  ...validatorMethods,
  ...committeeMethods,
  ...stateMethods,
  ...blockPublicationMethods,
  ...blockMethods,
  ...blobMethods,
  ...withdrawalMethods,
  ...rewardMethods,
  ...depositSnapshotMethods,
  ...stateBuilderMethods,
  ...envelopeMethods,
  ...envelopePublicationMethods,
] as const;
const pools = [
  ...attestationPoolMethods,
  ...slashingPoolMethods,
  ...voluntaryExitPoolMethods,
  ...blsToExecutionChangePoolMethods,
  ...payloadAttestationPoolMethods,
  ...executionBidPoolMethods,
] as const;
const validator = [
  ...dutyMethods,
  ...blockProductionMethods,
  ...attestationProductionMethods,
  ...syncCommitteeMethods,
  ...subscriptionMethods,
  ...payloadAttestationMethods,
  ...gloasBlockMethods,
  ...executionBidMethods,
  ...proposerPreferencesMethods,
  ...builderPreferencesMethods,
] as const;
const node = [...nodeMethods, ...readinessMethods, ...networkMethods] as const;

/** Methods with typed handlers, for in-process callers. */
export const typedMethods = [
  ...beacon,
  ...pools,
  ...node,
  ...validator,
  ...configMethods,
  ...wholeStateMethods,
  ...debugMethods,
  ...columnMethods,
  ...lightClientMethods,
] as const;

/**
 * All methods, grouped for the documentation. Numbered methods are sorted into groups by number, and the other methods
 * follow in the group for their subject.
 */
export const methodGroups: readonly MethodGroup[] = groupByNumber([
  { title: "Beacon chain", lastNumber: 14, methods: beacon },
  { title: "Pools", lastNumber: 21, methods: pools },
  { title: "Node", lastNumber: 28, methods: node },
  { title: "Validator duties and production", lastNumber: 40, methods: validator },
  { title: "Config", lastNumber: 44, methods: configMethods },
  { title: "Debug", lastNumber: 46, methods: [...wholeStateMethods, ...debugMethods, ...columnMethods] },
  {
    title: "Extensions",
    lastNumber: 62,
    methods: [...chainHeadMethods, ...eth1Methods, ...chainTimeMethods, ...validatorPageMethods],
  },
  { title: "Light clients", methods: lightClientMethods },
  { title: "Proofs", methods: proofMethods },
  { title: "Events", methods: eventMethods },
  {
    title: "Dev chain",
    methods: [
      ...devTimeMethods,
      ...devValidatorMethods,
      ...devBranchMethods,
      ...devPayloadMethods,
      ...devBuilderMethods,
      ...devOperationMethods,
      ...devSnapshotMethods,
      ...devDumpMethods,
      ...devKeysMethods,
      ...anvilTimeMethods,
      ...anvilChainMethods,
      ...evmControlMethods,
    ],
  },
  {
    title: "Execution",
    methods: [
      ...ethChainMethods,
      ...ethFeeMethods,
      ...ethBlockMethods,
      ...ethTransactionMethods,
      ...ethLogMethods,
      ...ethStateMethods,
      ...ethCallMethods,
      ...ethTraceMethods,
      ...ethRawMethods,
      ...ethAccountMethods,
    ],
  },
  { title: "Discovery", methods: [discoverMethod(() => methodGroups)] },
]);

/** All methods. */
export const methods: readonly MethodDefinition[] = methodGroups.flatMap((group) => group.methods);

interface Section extends MethodGroup {
  /** Last number in the group. Undefined if the group has no numbered methods. */
  lastNumber?: number;
}

function groupByNumber(sections: readonly Section[]): MethodGroup[] {
  const numbered = sections
    .flatMap((section) => section.methods)
    .flatMap((method) => (method.number === undefined ? [] : [{ method, number: method.number }]))
    .sort((a, b) => a.number - b.number);
  let previousLast = 0;
  return sections.map((section) => {
    const { title, lastNumber = previousLast } = section;
    const first = previousLast + 1;
    previousLast = lastNumber;
    const ofNumbers = numbered.filter(({ number }) => number >= first && number <= lastNumber);
    const others = section.methods.filter(({ number }) => number === undefined);
    return { title, methods: [...ofNumbers.map(({ method }) => method), ...others] };
  });
}
