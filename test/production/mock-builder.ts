import { EventEmitter, once } from "node:events";
import { SecretKey } from "@chainsafe/blst";
import type { Type } from "@chainsafe/ssz";
import { registerRoutes } from "@lodestar/api/builder/server";
import { createChainForkConfig, defaultChainConfig } from "@lodestar/config";
import { DOMAIN_APPLICATION_BUILDER, type ForkPostBellatrix, ForkSeq } from "@lodestar/params";
import {
  computeDomain,
  computeSigningRoot,
  executionPayloadToPayloadHeader,
  ZERO_HASH,
} from "@lodestar/state-transition";
import {
  type BlobsBundle,
  type BuilderBid,
  type bellatrix,
  type deneb,
  type ExecutionPayload,
  type SignedBlindedBeaconBlock,
  type SignedBuilderBid,
  ssz,
  sszTypesFor,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import fastify, { type FastifyInstance } from "fastify";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { latestPayload, payloadRequest } from "../../src/chain/production/payload-request.ts";
import type { BidRequest } from "../../src/execution/builder/builder.ts";
import { createDevPayload } from "../../src/execution/dev-payload.ts";
import { versionedHashesOf } from "../../src/execution/engine.ts";

const secretKey = SecretKey.fromKeygen(Buffer.alloc(32, 3));
/** Fee recipient of the builder's payloads, which distinguishes them from local ones. */
export const BUILDER_FEE_RECIPIENT = new Uint8Array(20).fill(0xbb);

/** Configurable behaviour of the builder; honest by default. */
interface Behaviour {
  value: bigint;
  /** Changes the bid before it is signed. */
  changeBid(bid: BuilderBid): void;
  /** Changes the bid after it was signed. */
  changeSigned(signed: SignedBuilderBid): void;
  /** Reported fork of the bid. */
  fork?: ForkPostBellatrix;
  /** JSON body instead of a bid. */
  bidBody?: string;
  /** Awaited before a bid is returned. */
  beforeBid(): Promise<void> | void;
  /** Awaited before a payload is returned. */
  beforeReveal(): Promise<void> | void;
  changePayload(payload: ExecutionPayload): ExecutionPayload;
  /** Blobs of the offered payloads. */
  blobs: BlobsBundle;
  changeBlobs(blobs: BlobsBundle): BlobsBundle;
  beforeRegistration(): void;
}

const HONEST: Behaviour = {
  value: 10n ** 18n,
  changeBid() {},
  changeSigned() {},
  beforeBid() {},
  beforeReveal() {},
  changePayload: (payload) => payload,
  blobs: { commitments: [], proofs: [], blobs: [] },
  changeBlobs: (blobs) => blobs,
  beforeRegistration() {},
};

/** Error with the HTTP status of the response. */
export function builderFault(statusCode: number, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}

/** Builder server that builds payloads for the dev execution chain. */
export class MockBuilder {
  /** Chain to build for. Undefined until the node is open. */
  chain: BeaconChain | undefined;
  behaviour: Behaviour = { ...HONEST };
  readonly bidRequests: BidRequest[] = [];
  readonly registrations: bellatrix.SignedValidatorRegistrationV1[] = [];
  readonly blindedBlocks: SignedBlindedBeaconBlock[] = [];
  readonly #events = new EventEmitter();
  readonly #offered = new Map<string, ExecutionPayload>();
  readonly #server: FastifyInstance;
  #url = "";

  static async start(): Promise<MockBuilder> {
    const builder = new MockBuilder();
    builder.#url = await builder.#server.listen({ host: "127.0.0.1", port: 0 });
    return builder;
  }

  private constructor() {
    this.#server = fastify({ forceCloseConnections: true });
    this.#server.addHook("onSend", async ({ url }, reply, body) => {
      const { bidBody } = this.behaviour;
      if (bidBody === undefined || !url.includes("/header/")) return body;
      reply.type("application/json");
      return bidBody;
    });
    // Forks are irrelevant for parsing requests.
    registerRoutes(this.#server, createChainForkConfig(defaultChainConfig), {
      status: async () => ({ status: 200 }),
      registerValidator: async ({ registrations }) => {
        this.behaviour.beforeRegistration();
        this.registrations.push(...registrations);
        this.#events.emit("change");
        return { status: 200 };
      },
      getHeader: async (request) => {
        this.bidRequests.push(request);
        this.#events.emit("change");
        await this.behaviour.beforeBid();
        return this.#bid(request);
      },
      submitBlindedBlock: async ({ signedBlindedBlock: { data } }) => {
        this.blindedBlocks.push(data);
        await this.behaviour.beforeReveal();
        const version = this.#forkAt(data.message.slot);
        const executionPayload = this.behaviour.changePayload(this.payloadOf(data)) as deneb.ExecutionPayload;
        const blobsBundle = this.behaviour.changeBlobs(this.behaviour.blobs);
        const hasBlobs = ForkSeq[version] >= ForkSeq.deneb;
        return { data: hasBlobs ? { executionPayload, blobsBundle } : executionPayload, meta: { version } };
      },
      submitBlindedBlockV2: async ({ signedBlindedBlock: { data } }) => {
        this.blindedBlocks.push(data);
        await this.behaviour.beforeReveal();
        return { status: 202 };
      },
    });
  }

  get url(): string {
    return this.#url;
  }

  /** Restores honest behaviour and clears the recorded requests. */
  reset(): void {
    this.behaviour = { ...HONEST };
    for (const noted of [this.bidRequests, this.registrations, this.blindedBlocks]) noted.length = 0;
  }

  /** Resolves when the recorded requests meet the condition. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await once(this.#events, "change");
  }

  /** Returns the payload that was offered for the block. */
  payloadOf({ message }: SignedBlindedBeaconBlock): ExecutionPayload {
    const payload = this.#offered.get(toRootHex(message.body.executionPayloadHeader.blockHash));
    if (!payload) throw builderFault(400, "This payload was not offered.");
    return payload;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #forkAt(slot: number): ForkPostBellatrix {
    return this.chain!.config.getForkName(slot) as ForkPostBellatrix;
  }

  async #bid({ slot }: BidRequest) {
    const fork = this.#forkAt(slot);
    const payload = await this.#build(slot, fork);
    this.#offered.set(toRootHex(payload.blockHash), payload);
    const { changeBid, changeSigned, value, fork: version = fork } = this.behaviour;
    const type = sszTypesFor(fork).BuilderBid as Type<BuilderBid>;
    const message = {
      ...type.defaultValue(),
      header: executionPayloadToPayloadHeader(ForkSeq[fork], payload),
      ...(ForkSeq[fork] >= ForkSeq.deneb && { blobKzgCommitments: [...this.behaviour.blobs.commitments] }),
      value,
      pubkey: secretKey.toPublicKey().toBytes(),
    };
    changeBid(message);
    const signed: SignedBuilderBid = { message, signature: sign(this.chain!, secretKey, type, message) };
    changeSigned(signed);
    return { data: signed, meta: { version } };
  }

  async #build(slot: number, fork: ForkPostBellatrix): Promise<ExecutionPayload> {
    const { config, head, states } = this.chain!;
    const preState = await states.afterBlock(head.root, slot);
    const parent = latestPayload(preState)!;
    const block = { slot, parentRoot: head.root, feeRecipient: BUILDER_FEE_RECIPIENT, parent };
    return createDevPayload(payloadRequest(config, fork, preState, block), parent.blockHash, parent.blockNumber! + 1, {
      versionedHashes: versionedHashesOf(this.behaviour.blobs.commitments),
    });
  }
}

/** Returns a registration signed by the validator. */
export function signedRegistration(
  chain: BeaconChain,
  validatorKey: SecretKey,
  gasLimit: number,
): bellatrix.SignedValidatorRegistrationV1 {
  const message = {
    feeRecipient: new Uint8Array(20).fill(0xfe),
    gasLimit,
    timestamp: chain.genesis.time,
    pubkey: validatorKey.toPublicKey().toBytes(),
  };
  const signature = sign(chain, validatorKey, ssz.bellatrix.ValidatorRegistrationV1, message);
  return { message, signature };
}

/** Signs in the builder domain, which is the same in all forks. */
function sign<T>({ config }: BeaconChain, key: SecretKey, type: Type<T>, message: T): Uint8Array {
  const domain = computeDomain(DOMAIN_APPLICATION_BUILDER, config.GENESIS_FORK_VERSION, ZERO_HASH);
  return key.sign(computeSigningRoot(type, message, domain)).toBytes();
}
