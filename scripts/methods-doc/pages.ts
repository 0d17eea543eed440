import type { MethodDefinition } from "../../src/api/definition.ts";
import { methods as allMethods } from "../../src/api/method-groups.ts";
import { blobMethods, columnMethods } from "../../src/api/methods/blocks/blobs.ts";
import { blockPublicationMethods } from "../../src/api/methods/blocks/block-publication.ts";
import { blockMethods } from "../../src/api/methods/blocks/blocks.ts";
import { envelopePublicationMethods } from "../../src/api/methods/blocks/envelope-publication.ts";
import { envelopeMethods } from "../../src/api/methods/blocks/envelopes.ts";
import { rewardMethods } from "../../src/api/methods/blocks/rewards.ts";
import { chainHeadMethods } from "../../src/api/methods/chain/chain-head.ts";
import { chainTimeMethods } from "../../src/api/methods/chain/chain-time.ts";
import { depositSnapshotMethods, eth1Methods } from "../../src/api/methods/chain/eth1.ts";
import { eventMethods } from "../../src/api/methods/chain/events.ts";
import { lightClientMethods } from "../../src/api/methods/chain/light-client.ts";
import { anvilChainMethods } from "../../src/api/methods/dev/anvil-chain.ts";
import { anvilTimeMethods } from "../../src/api/methods/dev/anvil-time.ts";
import { devBranchMethods } from "../../src/api/methods/dev/branches.ts";
import { devBuilderMethods } from "../../src/api/methods/dev/builders.ts";
import { devDumpMethods } from "../../src/api/methods/dev/dumps.ts";
import { evmControlMethods } from "../../src/api/methods/dev/evm-control.ts";
import { devKeysMethods } from "../../src/api/methods/dev/keys.ts";
import { devOperationMethods } from "../../src/api/methods/dev/operations.ts";
import { devPayloadMethods } from "../../src/api/methods/dev/payloads.ts";
import { devSnapshotMethods } from "../../src/api/methods/dev/snapshots.ts";
import { devTimeMethods } from "../../src/api/methods/dev/time.ts";
import { devValidatorMethods } from "../../src/api/methods/dev/validators.ts";
import { ethAccountMethods } from "../../src/api/methods/eth/accounts.ts";
import { ethBlockMethods } from "../../src/api/methods/eth/blocks.ts";
import { ethCallMethods } from "../../src/api/methods/eth/calls.ts";
import { ethChainMethods } from "../../src/api/methods/eth/chain.ts";
import { ethFeeMethods } from "../../src/api/methods/eth/fees.ts";
import { ethLogMethods } from "../../src/api/methods/eth/logs.ts";
import { ethRawMethods } from "../../src/api/methods/eth/raw.ts";
import { ethStateMethods } from "../../src/api/methods/eth/state.ts";
import { ethTraceMethods } from "../../src/api/methods/eth/traces.ts";
import { ethTransactionMethods } from "../../src/api/methods/eth/transactions.ts";
import { configMethods } from "../../src/api/methods/node/config.ts";
import { networkMethods } from "../../src/api/methods/node/network.ts";
import { nodeMethods } from "../../src/api/methods/node/node.ts";
import { readinessMethods } from "../../src/api/methods/node/readiness.ts";
import { attestationPoolMethods } from "../../src/api/methods/pools/attestations.ts";
import { blsToExecutionChangePoolMethods } from "../../src/api/methods/pools/bls-to-execution-changes.ts";
import { executionBidPoolMethods } from "../../src/api/methods/pools/execution-bids.ts";
import { payloadAttestationPoolMethods } from "../../src/api/methods/pools/payload-attestations.ts";
import { slashingPoolMethods } from "../../src/api/methods/pools/slashings.ts";
import { voluntaryExitPoolMethods } from "../../src/api/methods/pools/voluntary-exits.ts";
import { stateBuilderMethods } from "../../src/api/methods/states/builders.ts";
import { committeeMethods } from "../../src/api/methods/states/committees.ts";
import { debugMethods } from "../../src/api/methods/states/debug.ts";
import { proofMethods } from "../../src/api/methods/states/proofs.ts";
import { stateMethods, wholeStateMethods } from "../../src/api/methods/states/states.ts";
import { validatorPageMethods } from "../../src/api/methods/states/validator-page.ts";
import { validatorMethods } from "../../src/api/methods/states/validators.ts";
import { withdrawalMethods } from "../../src/api/methods/states/withdrawals.ts";
import { attestationProductionMethods } from "../../src/api/methods/validator/attestation-production.ts";
import { blockProductionMethods } from "../../src/api/methods/validator/block-production.ts";
import { gloasBlockMethods } from "../../src/api/methods/validator/block-v4.ts";
import { builderPreferencesMethods } from "../../src/api/methods/validator/builder-preferences.ts";
import { dutyMethods } from "../../src/api/methods/validator/duties.ts";
import { executionBidMethods } from "../../src/api/methods/validator/execution-bid.ts";
import { payloadAttestationMethods } from "../../src/api/methods/validator/payload-attestations.ts";
import { proposerPreferencesMethods } from "../../src/api/methods/validator/proposer-preferences.ts";
import { subscriptionMethods } from "../../src/api/methods/validator/subscriptions.ts";
import { syncCommitteeMethods } from "../../src/api/methods/validator/sync-committee.ts";

/** Page of the reference with the methods of one subject. */
export interface MethodPage {
  /** Name of the file in docs/methods, without its extension. */
  readonly name: string;
  readonly title: string;
  readonly methods: readonly MethodDefinition[];
}

const page = (name: string, title: string, ...methods: readonly MethodDefinition[][]): MethodPage => ({
  name,
  title,
  methods: methods.flat(),
});

/** All pages. The last one has the methods of no other. */
export function methodPages(): MethodPage[] {
  const pages = [
    page("states", "States", [...stateMethods], [...committeeMethods], [...stateBuilderMethods]),
    page("validators", "Validators of a state", [...validatorMethods], [...validatorPageMethods]),
    page(
      "blocks",
      "Blocks",
      [...blockMethods],
      [...blockPublicationMethods],
      [...envelopeMethods],
      [...envelopePublicationMethods],
    ),
    page("blobs", "Blobs and data columns", [...blobMethods], [...columnMethods]),
    page("rewards", "Rewards, withdrawals and deposits", [
      ...rewardMethods,
      ...withdrawalMethods,
      ...depositSnapshotMethods,
      ...eth1Methods,
    ]),
    page("pools", "Operation pools", [
      ...attestationPoolMethods,
      ...slashingPoolMethods,
      ...voluntaryExitPoolMethods,
      ...blsToExecutionChangePoolMethods,
      ...payloadAttestationPoolMethods,
      ...executionBidPoolMethods,
    ]),
    page("duties", "Validator duties", [
      ...dutyMethods,
      ...payloadAttestationMethods,
      ...proposerPreferencesMethods,
      ...builderPreferencesMethods,
      ...subscriptionMethods,
    ]),
    page("production", "Block and attestation production", [
      ...blockProductionMethods,
      ...gloasBlockMethods,
      ...executionBidMethods,
      ...attestationProductionMethods,
      ...syncCommitteeMethods,
    ]),
    page("events", "Events", [...eventMethods]),
    page("chain", "Head and time of the chain", [...chainHeadMethods], [...chainTimeMethods]),
    page("proofs", "Proofs", [...proofMethods]),
    page("light-clients", "Light clients", [...lightClientMethods]),
    page("node", "Node and network", [...nodeMethods], [...readinessMethods], [...networkMethods]),
    page("config", "Configuration", [...configMethods]),
    page("debug", "Debugging", [...wholeStateMethods], [...debugMethods]),
    page("dev-time", "Dev chain: time and branches", [...devTimeMethods], [...devBranchMethods]),
    page("dev-validators", "Dev chain: validators", [
      ...devValidatorMethods,
      ...devOperationMethods,
      ...devKeysMethods,
    ]),
    page("dev-payloads", "Dev chain: payloads and builders", [...devPayloadMethods], [...devBuilderMethods]),
    page("dev-snapshots", "Dev chain: snapshots and dumps", [...devSnapshotMethods], [...devDumpMethods]),
    page("anvil", "Dev chain: methods of Anvil and Hardhat", [
      ...anvilTimeMethods,
      ...anvilChainMethods,
      ...evmControlMethods,
    ]),
    page("eth-blocks", "Execution: blocks and fees", [...ethChainMethods, ...ethFeeMethods, ...ethBlockMethods]),
    page("eth-transactions", "Execution: transactions", [...ethTransactionMethods], [...ethAccountMethods]),
    page("eth-logs", "Execution: logs, filters and subscriptions", [...ethLogMethods]),
    page("eth-state", "Execution: accounts and calls", [...ethStateMethods], [...ethCallMethods]),
    page("eth-debug", "Execution: traces and raw data", [...ethTraceMethods], [...ethRawMethods]),
  ];
  const placed = pages.flatMap(({ methods }) => methods);
  const [twice] = placed.filter((method, index) => placed.indexOf(method) !== index);
  if (twice) throw new Error(`${twice.name} is on two pages of the reference.`);
  return [
    ...pages,
    page(
      "discovery",
      "Discovery and other methods",
      allMethods.filter((each) => !placed.includes(each)),
    ),
  ];
}
