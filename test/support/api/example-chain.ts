import type { Type } from "@chainsafe/ssz";
import {
  DOMAIN_AGGREGATE_AND_PROOF,
  DOMAIN_APPLICATION_BUILDER,
  DOMAIN_CONTRIBUTION_AND_PROOF,
  DOMAIN_SELECTION_PROOF,
  DOMAIN_SYNC_COMMITTEE,
  DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF,
  ForkName,
  type ForkPreGloas,
  isForkPostDeneb,
  isForkPostElectra,
  isForkPostGloas,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SUBNET_SIZE,
  ZERO_HASH,
} from "@lodestar/params";
import { computeDomain, computeSigningRoot } from "@lodestar/state-transition";
import { type AggregateAndProof, type AttesterSlashing, type RootHex, ssz, sszTypesFor } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { HDNodeWallet, Mnemonic, type TransactionRequest } from "ethers";
import { type Api, createApi } from "../../../src/api/api.ts";
import type { ExampleChain } from "../../../src/api/example.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { blockHashOf } from "../../../src/chain/engine/forkchoice-state.ts";
import { genesisDeposits } from "../../../src/dev/genesis-deposits.ts";
import type { GenesisParameters } from "../../../src/dev/genesis-parameters.ts";
import { InteropKeys } from "../../../src/dev/interop-keys.ts";
import { TEST_MNEMONIC } from "../../../src/evm/accounts.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import { LocalNode } from "../../../src/network/local-node.ts";
import { offlineNetworkView } from "../../../src/network/network-view.ts";
import { openNodeKey } from "../../../src/network/node-key.ts";
import { ByHand } from "../chain/by-hand.ts";
import { type OpenedDevChain, QUIET, startQuietDevChain } from "../chain/dev-chain.ts";
import { EVM } from "../chain/evm-chain.ts";
import { SignedOperations } from "../chain/signed-operations.ts";
import { Caller } from "./caller.ts";
import { ExamplePayloads } from "./example-payloads.ts";
import { GOSSIP_PEERS, PENDING_FUTURE } from "./node-fixtures.ts";
import { CONNECTED_OUT, networkWith, PEERS } from "./peers.ts";

export type ExampleFork = ForkPreGloas | ForkName.gloas;

/** Last slot with a block of the dev chain. Two epochs are finalized then. */
const HISTORY_SLOTS = 5 * SLOTS_PER_EPOCH;
const VALIDATORS = 16;
/** In Gwei. */
const BUILDER_BALANCE = 100_000_000_000;
/** Deterministic: all random inputs are fixed. */
const GENESIS_TIME = 1_700_000_000;
/** Fixed wall clock time, as after a chain that was stopped for a while. */
const TIME_OF_DAY = GENESIS_TIME + 782.5;
const NODE_KEY = new Uint8Array(32).fill(7);
/** Contract that emits a log with the topic 1 at deployment. */
const LOGGING_CODE = "0x600160006000a100";
const FEE_RECIPIENT = `0x${"fe".repeat(20)}`;

type Json = Record<string, unknown>;

interface SyncDuty {
  validator_index: string;
  validator_sync_committee_indices: string[];
}

/**
 * A finalized, paused dev chain in the slot after its last block, with validator keys and signed objects. Identical in
 * every run.
 */
export class ExampleDevChain implements ExampleChain {
  readonly fork: ExampleFork;
  readonly api: Api;
  readonly caller: Caller;
  readonly byHand: ByHand;
  readonly operations: SignedOperations;
  /** The current slot, which has no block. */
  readonly slot = HISTORY_SLOTS + 1;
  readonly epoch = Math.floor(this.slot / SLOTS_PER_EPOCH);
  readonly validatorCount = VALIDATORS;
  readonly #opened: OpenedDevChain;

  /** Opens a chain. `network` adds fake peers and futures. An unfinalized chain has few blocks and opens faster. */
  static async open(
    fork: ExampleFork,
    { isInNetwork = true, isFinalized = true, hasEvm = false } = {},
  ): Promise<ExampleDevChain> {
    const forks = fork === ForkName.phase0 ? [] : [{ fork, epoch: 0 }];
    const options = {
      validators: VALIDATORS,
      forks,
      // Set explicitly, which avoids a warning.
      suggestedFeeRecipient: new Uint8Array(20),
      withdrawals: withdrawalsOn(fork),
      ...(isForkPostGloas(fork) && { builders: { count: 2, balance: BUILDER_BALANCE } }),
      genesisTime: GENESIS_TIME,
      timeOfDay: { nowSeconds: () => TIME_OF_DAY },
      ...(hasEvm && EVM),
    };
    const emptySlots = isFinalized ? 0 : HISTORY_SLOTS - 2;
    const quiet = hasEvm ? { speed: 4 } : QUIET;
    const opened = await startQuietDevChain(HISTORY_SLOTS, options, { emptySlots, quiet });
    const { devChain, db } = opened;
    const { chain, clock, config } = devChain;
    if (!hasEvm) await clock.advanceTo(HISTORY_SLOTS + 1);
    const batch = db.batch();
    batch.meta.putNodeKey(NODE_KEY);
    await batch.write();
    await readGenesisDeposits(chain, options);
    const alone = offlineNetworkView(new LocalNode({ key: await openNodeKey(db), config, clock }));
    const { setSpec: setLogSpec } = createLogger({
      format: "text",
      spec: "WARN",
      destination: { write: () => {} },
    });
    const surroundings = isInNetwork
      ? {
          network: { ...networkWith(PEERS, alone), gossipPeers: () => GOSSIP_PEERS },
          futures: { pending: () => [PENDING_FUTURE] },
        }
      : { network: alone };
    const example = new ExampleDevChain(
      fork,
      opened,
      createApi({
        chain,
        setLogSpec,
        control: () => devChain.control,
        eth: () => devChain.evm?.eth,
        ...surroundings,
      }),
    );
    if (hasEvm) {
      const created = await example.#signTransaction(0, { data: LOGGING_CODE });
      example.transactionHash = await example.caller.call("eth_sendRawTransaction", [created]);
      await devChain.control.time.advance({ slots: 1 });
    }
    return example;
  }

  private constructor(fork: ExampleFork, opened: OpenedDevChain, api: Api) {
    this.fork = fork;
    this.#opened = opened;
    this.api = api;
    this.caller = new Caller(api);
    this.byHand = new ByHand(opened.devChain);
    this.operations = new SignedOperations(opened.devChain);
  }

  readonly peerId = CONNECTED_OUT.peerId;
  readonly subscriptionId = "0x5a1d7c0de4b39f62";

  nextSlotSeconds(): number {
    const { clock } = this.chain;
    return clock.slotStartSeconds(clock.currentSlot + 1);
  }

  async takeSnapshot(): Promise<string> {
    return `0x${(await this.#opened.devChain.control.snapshots.take()).toString(16)}`;
  }

  async dump(): Promise<string> {
    return toHex(await this.#opened.devChain.control.dumps.dump());
  }

  get headRoot(): RootHex {
    return this.chain.head.root;
  }

  get executionHash(): string {
    return blockHashOf(this.chain.head)!;
  }

  /** Transaction of a chain with an EVM. */
  transactionHash = `0x${"00".repeat(32)}`;

  filterId(): Promise<string> {
    return this.caller.call("eth_newFilter", [{ fromBlock: "earliest" }]);
  }

  rawTransaction(): Promise<string> {
    return this.#signTransaction(1, { to: FEE_RECIPIENT, value: 1n });
  }

  async rawTransactionForNextSlot(): Promise<string> {
    const { evm, control } = this.#opened.devChain;
    const end = evm!.eth.subscribe({ kind: "newPendingTransactions" }, () => {
      end();
      void control.time.advance({ slots: 1 });
    });
    return this.rawTransaction();
  }

  async #signTransaction(account: number, fields: TransactionRequest): Promise<string> {
    const wallet = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(TEST_MNEMONIC), `m/44'/60'/0'/0/${account}`);
    const nonce = Number(await this.caller.call("eth_getTransactionCount", [wallet.address, "pending"]));
    const gas = { gasLimit: 100_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
    return wallet.signTransaction({ type: 2, chainId: 31_337n, nonce, ...gas, ...fields });
  }

  get chain() {
    return this.#opened.devChain.chain;
  }

  /** Logged warnings and errors of the chain. */
  get complaints(): readonly string[] {
    return this.#opened.complaints;
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  pubkey(index: number): string {
    return toHex(this.#opened.devChain.keys.publicKey(index)!);
  }

  async randaoReveal(): Promise<string> {
    const duties = await this.caller.call("get_v1_validator_duties_proposer", [this.epoch]);
    const proposer = Number(duties[this.slot % SLOTS_PER_EPOCH].validator_index);
    return toHex(this.byHand.signer.randaoReveal(proposer, this.slot));
  }

  signedBlock(): Promise<Json> {
    this.#block ??= this.#makeBlock();
    return this.#block;
  }
  #block: Promise<Json> | undefined;

  async #makeBlock(): Promise<Json> {
    const { signed } = this.byHand.sign(await this.byHand.produce(this.slot, this.chain.head.root));
    const json = sszTypesFor(this.fork).SignedBeaconBlock.toJson(signed as never) as Json;
    const isWrapped = isForkPostDeneb(this.fork) && !isForkPostGloas(this.fork);
    return isWrapped ? { signed_block: json, kzg_proofs: [], blobs: [] } : json;
  }

  async signedBlockRoot(): Promise<RootHex> {
    const { SignedBeaconBlock, BeaconBlock } = sszTypesFor(this.fork);
    const block = (await this.signedBlock()) as { signed_block?: Json };
    const { message } = SignedBeaconBlock.fromJson(block.signed_block ?? block);
    return toHex((BeaconBlock as Type<unknown>).hashTreeRoot(message));
  }

  readonly #payloads = new ExamplePayloads(this);

  signedEnvelope(): Promise<Json> {
    return this.#payloads.envelope();
  }

  payloadAttestations(): Promise<Json[]> {
    return this.#payloads.attestations();
  }

  proposerPreferences(): Promise<Json> {
    return this.#payloads.preferences();
  }

  signedBid(): Promise<Json> {
    return this.#payloads.bid();
  }

  async attestations(): Promise<Json[]> {
    const attestations = await this.byHand.attestationsFor(this.slot, this.chain.head.root);
    const type = isForkPostElectra(this.fork) ? ssz.electra.SingleAttestation : ssz.phase0.Attestation;
    return attestations.map(({ attestation }) => (type as Type<unknown>).toJson(attestation) as Json);
  }

  async attestationData(): Promise<Json> {
    const [attestation] = await this.attestations();
    return attestation!.data as Json;
  }

  async attestationDataRoot(): Promise<string> {
    const data = ssz.phase0.AttestationData.fromJson(await this.attestationData());
    return toHex(ssz.phase0.AttestationData.hashTreeRoot(data));
  }

  /** Signed aggregate of the pool's attestations of the slot. In such a small committee, every member is an aggregator. */
  async signedAggregate(): Promise<Json> {
    const [attestation] = await this.byHand.attestationsFor(this.slot, this.chain.head.root);
    const root = await this.attestationDataRoot();
    const aggregate = await this.caller.call("get_v2_validator_aggregate_attestation", [this.slot, root, 0]);
    const { signer } = this.byHand;
    const aggregatorIndex = attestation!.validator;
    const { AggregateAndProof } = sszTypesFor(this.fork);
    const type = AggregateAndProof as Type<AggregateAndProof>;
    const message = type.fromJson({
      aggregator_index: String(aggregatorIndex),
      aggregate,
      selection_proof: this.selectionProof(aggregatorIndex),
    });
    const signingRoot = signer.signingRoot(type, message, DOMAIN_AGGREGATE_AND_PROOF, this.slot);
    return { message: type.toJson(message), signature: toHex(signer.sign(aggregatorIndex, signingRoot)) };
  }

  voluntaryExit(validator: number): Json {
    return ssz.phase0.SignedVoluntaryExit.toJson(this.operations.exit(validator, { epoch: 4 })) as Json;
  }

  proposerSlashing(validator: number): Json {
    return ssz.phase0.ProposerSlashing.toJson(this.operations.doubleProposal(validator, 1)) as Json;
  }

  attesterSlashing(...validators: number[]): Json {
    const type = sszTypesFor(this.fork).AttesterSlashing as Type<AttesterSlashing>;
    return type.toJson(this.operations.doubleVote(validators, 1)) as Json;
  }

  credentialsChange(validator: number): Json {
    const change = this.operations.credentialsChange(validator, new Uint8Array(20).fill(7));
    return ssz.capella.SignedBLSToExecutionChange.toJson(change) as Json;
  }

  blindedBlock(): Promise<Json> {
    return this.caller.call("get_v1_beacon_blinded_blocks_blockId", [this.slot - 1]);
  }

  subscription(): Json {
    return {
      validator_index: "1",
      committee_index: "0",
      committees_at_slot: "1",
      slot: String(this.slot),
      is_aggregator: true,
    };
  }

  /** The domain of builders is the same in all forks. */
  registration(validator: number): Json {
    const { ValidatorRegistrationV1, SignedValidatorRegistrationV1 } = ssz.bellatrix;
    const message = ValidatorRegistrationV1.fromJson({
      fee_recipient: FEE_RECIPIENT,
      gas_limit: "60000000",
      timestamp: String(GENESIS_TIME),
      pubkey: this.pubkey(validator),
    });
    const { GENESIS_FORK_VERSION } = this.chain.config;
    const domain = computeDomain(DOMAIN_APPLICATION_BUILDER, GENESIS_FORK_VERSION, ZERO_HASH);
    const signature = this.byHand.signer.sign(validator, computeSigningRoot(ValidatorRegistrationV1, message, domain));
    return SignedValidatorRegistrationV1.toJson({ message, signature }) as Json;
  }

  selectionProof(validator: number): string {
    const { signer } = this.byHand;
    const root = signer.signingRoot(ssz.Slot, this.slot, DOMAIN_SELECTION_PROOF, this.slot);
    return toHex(signer.sign(validator, root));
  }

  /** Sync committee messages for the head. Phase0 has no sync committee, so any validator signs. */
  async syncCommitteeMessages(): Promise<Json[]> {
    const beaconBlockRoot = fromHex(this.chain.head.root);
    const { signer } = this.byHand;
    const signingRoot = signer.signingRoot(ssz.Root, beaconBlockRoot, DOMAIN_SYNC_COMMITTEE, this.slot);
    const duties = this.fork === ForkName.phase0 ? [{ validator_index: "0" }] : await this.#syncDuties();
    return duties.map(({ validator_index }) => {
      const validatorIndex = Number(validator_index);
      const signature = signer.sign(validatorIndex, signingRoot);
      const message = { slot: this.slot, beaconBlockRoot, validatorIndex, signature };
      return ssz.altair.SyncCommitteeMessage.toJson(message) as Json;
    });
  }

  /** Contribution of a subcommittee with messages, where every member is an aggregator. Phase0: only the shape. */
  async signedContribution(): Promise<Json> {
    const { signer } = this.byHand;
    const { SyncAggregatorSelectionData, ContributionAndProof, SignedContributionAndProof } = ssz.altair;
    if (this.fork === ForkName.phase0) {
      return SignedContributionAndProof.toJson(SignedContributionAndProof.defaultValue()) as Json;
    }
    const { aggregatorIndex, subcommitteeIndex } = await this.#syncCommitteeSeat();
    const selection = { slot: this.slot, subcommitteeIndex };
    const domain = DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF;
    const proofRoot = signer.signingRoot(SyncAggregatorSelectionData, selection, domain, this.slot);
    const params = [this.slot, subcommitteeIndex, this.chain.head.root];
    const message = ContributionAndProof.fromJson({
      aggregator_index: String(aggregatorIndex),
      contribution: await this.caller.call("get_v1_validator_sync_committee_contribution", params),
      selection_proof: toHex(signer.sign(aggregatorIndex, proofRoot)),
    });
    const signingRoot = signer.signingRoot(ContributionAndProof, message, DOMAIN_CONTRIBUTION_AND_PROOF, this.slot);
    const signature = signer.sign(aggregatorIndex, signingRoot);
    return SignedContributionAndProof.toJson({ message, signature }) as Json;
  }

  async syncSubcommitteeIndex(): Promise<number> {
    return this.fork === ForkName.phase0 ? 0 : (await this.#syncCommitteeSeat()).subcommitteeIndex;
  }

  async #syncCommitteeSeat(): Promise<{ aggregatorIndex: number; subcommitteeIndex: number }> {
    const [duty] = await this.#syncDuties();
    const [seat] = duty!.validator_sync_committee_indices;
    return {
      aggregatorIndex: Number(duty!.validator_index),
      subcommitteeIndex: Math.floor(Number(seat) / SYNC_COMMITTEE_SUBNET_SIZE),
    };
  }

  #syncDuties(): Promise<SyncDuty[]> {
    const everybody = Array.from({ length: VALIDATORS }, (_, index) => index);
    return this.caller.call("post_v1_validator_duties_sync_epoch", [this.epoch, everybody]);
  }
}

/**
 * From electra on, the last two validators have withdrawal addresses that can send requests, and the last one has
 * compounding credentials.
 */
function withdrawalsOn(fork: ExampleFork): GenesisParameters["withdrawals"] {
  if (!isForkPostElectra(fork)) return undefined;
  return (["0x01", "0x02"] as const).map((prefix, n) => {
    const index = VALIDATORS - 2 + n;
    return { range: { first: index, last: index }, value: { prefix, address: FEE_RECIPIENT } };
  });
}

/** Creates a finalized deposit chain block with the deposits of the genesis. */
async function readGenesisDeposits(
  { config, headState, eth1 }: BeaconChain,
  parameters: Pick<GenesisParameters, "withdrawals">,
): Promise<void> {
  const eth1Data = headState.eth1Data.toValue();
  const header = {
    number: 1,
    hash: toHex(eth1Data.blockHash),
    parentHash: `0x${"00".repeat(32)}`,
    timestamp: GENESIS_TIME - 600,
  };
  const made = genesisDeposits(config, new InteropKeys(VALIDATORS), parameters).map((data, index) => {
    return { index, data, blockNumber: header.number, blockHash: header.hash };
  });
  await eth1.deposits.extend(eth1.deposits.extension([header], made), 0);
  await eth1.deposits.finalize(eth1Data);
}
