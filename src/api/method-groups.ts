import type { Method } from "./definition.ts";
import { anvilNameMethods } from "./methods/anvil-names.ts";
import { attestationProductionMethods } from "./methods/attestation-production.ts";
import { blobMethods, columnMethods } from "./methods/blobs.ts";
import { blockProductionMethods } from "./methods/block-production.ts";
import { blockPublicationMethods } from "./methods/block-publication.ts";
import { blockMethods } from "./methods/blocks.ts";
import { chainHeadMethods } from "./methods/chain-head.ts";
import { chainTimeMethods } from "./methods/chain-time.ts";
import { committeeMethods } from "./methods/committees.ts";
import { configMethods } from "./methods/config.ts";
import { debugMethods } from "./methods/debug.ts";
import { devBranchMethods } from "./methods/dev-branches.ts";
import { devDumpMethods } from "./methods/dev-dumps.ts";
import { devKeysMethods } from "./methods/dev-keys.ts";
import { devOperationMethods } from "./methods/dev-operations.ts";
import { devSnapshotMethods } from "./methods/dev-snapshots.ts";
import { devTimeMethods } from "./methods/dev-time.ts";
import { devValidatorMethods } from "./methods/dev-validators.ts";
import { discoverMethod } from "./methods/discover.ts";
import { dutyMethods } from "./methods/duties.ts";
import { depositSnapshotMethods, eth1Methods } from "./methods/eth1.ts";
import { eventMethods } from "./methods/events.ts";
import { beaconGloasMethods, validatorGloasMethods } from "./methods/gloas.ts";
import { lightClientMethods } from "./methods/light-client.ts";
import { networkMethods } from "./methods/network.ts";
import { nodeMethods } from "./methods/node.ts";
import { poolMethods, syncCommitteePoolMethods } from "./methods/pools.ts";
import { proofMethods } from "./methods/proofs.ts";
import { readinessMethods } from "./methods/readiness.ts";
import { rewardMethods } from "./methods/rewards.ts";
import { stateMethods, wholeStateMethods } from "./methods/states.ts";
import { subscriptionMethods } from "./methods/subscriptions.ts";
import { syncCommitteeMethods } from "./methods/sync-committee.ts";
import { validatorMethods } from "./methods/validators.ts";
import { withdrawalMethods } from "./methods/withdrawals.ts";
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
  ...beaconGloasMethods,
] as const;
const validator = [
  ...dutyMethods,
  ...blockProductionMethods,
  ...attestationProductionMethods,
  ...syncCommitteePoolMethods,
  ...syncCommitteeMethods,
  ...subscriptionMethods,
  ...validatorGloasMethods,
] as const;
const node = [...nodeMethods, ...readinessMethods, ...networkMethods] as const;

/** Those that keep the types of their handlers, for callers inside the process. */
export const typedMethods = [
  ...beacon,
  ...poolMethods,
  ...node,
  ...validator,
  ...configMethods,
  ...wholeStateMethods,
  ...debugMethods,
  ...columnMethods,
  ...lightClientMethods,
] as const;

/**
 * Every method, in the groups that lists of methods have. A numbered method is in the group that its number belongs to, in
 * the order of the numbers; the others follow in the group of their subject.
 */
export const methodGroups: readonly MethodGroup[] = groupByNumber([
  { title: "Beacon chain", lastNumber: 14, methods: beacon },
  { title: "Pools", lastNumber: 21, methods: poolMethods },
  { title: "Node", lastNumber: 28, methods: node },
  { title: "Validator duties and production", lastNumber: 40, methods: validator },
  { title: "Config", lastNumber: 44, methods: configMethods },
  { title: "Debug", lastNumber: 46, methods: [...wholeStateMethods, ...debugMethods, ...columnMethods] },
  { title: "Extensions", lastNumber: 62, methods: [...chainHeadMethods, ...eth1Methods, ...chainTimeMethods] },
  { title: "Light clients", methods: lightClientMethods },
  { title: "Proofs", methods: proofMethods },
  { title: "Events", methods: eventMethods },
  {
    title: "Dev chain",
    methods: [
      ...devTimeMethods,
      ...devValidatorMethods,
      ...devBranchMethods,
      ...devOperationMethods,
      ...devSnapshotMethods,
      ...devDumpMethods,
      ...devKeysMethods,
      ...anvilNameMethods,
    ],
  },
  { title: "Discovery", methods: [discoverMethod(() => methodGroups)] },
]);

/** Everything that can be asked. */
export const methods: readonly Method[] = methodGroups.flatMap((group) => group.methods);

interface Section extends MethodGroup {
  /** The last number that belongs here; undefined for a section without numbered methods. */
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
