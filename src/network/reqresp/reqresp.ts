import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import type { fulu, RootHex, SignedBeaconBlock } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import type { Host } from "../libp2p/host.ts";
import type { PeerJudge } from "../peers/peer-judge.ts";
import type { BeaconAnswers } from "./beacon-answers.ts";
import type { BeaconRequests, BlockRange } from "./beacon-requests.ts";
import { type BlockCollector, RangeCollector, RootCollector } from "./block-collectors.ts";
import { blockFormat, decodeBlock } from "./block-format.ts";
import { DEFAULT_LIMITS, type ReqRespLimits } from "./limits.ts";
import {
  type Codec,
  metadataCodec,
  plainFormat,
  rangeRequestCodec,
  rootsRequestCodec,
  statusCodec,
  uint64Codec,
} from "./peer-messages.ts";
import { penalizeFailure } from "./penalties.ts";
import type { ProtocolName } from "./protocols.ts";
import { type OutboundRequest, RequestClient } from "./request-client.ts";
import { RequestError } from "./request-error.ts";
import { RequestServer } from "./request-server.ts";
import { maxRequestBlocks } from "./request-sizes.ts";

export interface ReqRespParts {
  host: Host;
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch">;
  answers: BeaconAnswers;
  judge: PeerJudge;
  logger: Logger;
  /** Those that differ from the defaults. */
  limits?: Partial<ReqRespLimits>;
}

/** A request of which the response is a single message. */
interface Question<T> {
  name: ProtocolName;
  versions: readonly number[];
  body(version: number): Uint8Array | null;
  answer(version: number): Codec<T>;
}

/** The requests between this node and its peers, in both directions (phase0/p2p-interface.md, The Req/Resp domain). */
export class ReqResp implements BeaconRequests {
  readonly #parts: ReqRespParts;
  readonly #logger: Logger;
  readonly #limits: ReqRespLimits;
  readonly #client: RequestClient;
  readonly #server: RequestServer;

  constructor(parts: ReqRespParts) {
    const { host, config, clock, answers, judge, logger } = parts;
    const limits = { ...DEFAULT_LIMITS, ...parts.limits };
    this.#parts = parts;
    this.#logger = logger;
    this.#limits = limits;
    this.#client = new RequestClient({ host, limits, maxPayload: config.MAX_PAYLOAD_SIZE });
    this.#server = new RequestServer({ host, config, clock, answers, judge, logger, limits });
  }

  /** Serves peers from now on. */
  async start(): Promise<void> {
    await this.#server.start();
  }

  /** Requests under way fail, in both directions. */
  async close(): Promise<void> {
    this.#client.close();
    await this.#server.close();
  }

  status(peerId: string, signal?: AbortSignal): Promise<fulu.Status> {
    const question: Question<fulu.Status> = {
      name: "status",
      versions: this.#isInForce(ForkSeq.fulu) ? [2, 1] : [1],
      body: (version) => statusCodec(version).encode(this.#parts.answers.status()),
      answer: statusCodec,
    };
    return this.#ask(peerId, question, signal);
  }

  async goodbye(peerId: string, reason: bigint): Promise<void> {
    const question: Question<bigint> = {
      name: "goodbye",
      versions: [1],
      body: () => uint64Codec().encode(reason),
      answer: uint64Codec,
    };
    try {
      // Many do not answer but leave at once.
      await this.#request(peerId, single(question), AbortSignal.timeout(this.#limits.lingerMs));
    } catch (error) {
      this.#logger.trace("A goodbye was not answered.", { peer: peerId, error });
    }
  }

  ping(peerId: string, signal?: AbortSignal): Promise<bigint> {
    const question: Question<bigint> = {
      name: "ping",
      versions: [1],
      body: () => uint64Codec().encode(this.#parts.answers.metadata().seqNumber),
      answer: uint64Codec,
    };
    return this.#ask(peerId, question, signal);
  }

  metadata(peerId: string, signal?: AbortSignal): Promise<fulu.Metadata> {
    const question: Question<fulu.Metadata> = {
      name: "metadata",
      versions: this.#isInForce(ForkSeq.fulu) ? [3, 2, 1] : [2, 1],
      body: () => null,
      answer: metadataCodec,
    };
    return this.#ask(peerId, question, signal);
  }

  blocksByRange(peerId: string, range: BlockRange, signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const { startSlot, count } = range;
    const body = rangeRequestCodec().encode({ startSlot, count, step: 1 });
    const collector = new RangeCollector(this.#parts.config, range);
    return this.#askForBlocks(peerId, { name: "beacon_blocks_by_range", body, count }, collector, signal);
  }

  blocksByRoot(peerId: string, roots: readonly RootHex[], signal?: AbortSignal): Promise<SignedBeaconBlock[]> {
    const wanted = new Set(roots);
    const body = rootsRequestCodec(wanted.size).encode([...wanted].map((root) => fromHex(root)));
    const collector = new RootCollector(this.#parts.config, wanted);
    return this.#askForBlocks(peerId, { name: "beacon_blocks_by_root", body, count: wanted.size }, collector, signal);
  }

  async #ask<T>(peerId: string, question: Question<T>, signal: AbortSignal | undefined): Promise<T> {
    const request = single(question);
    await this.#judged(peerId, question.name, async () => {
      await this.#request(peerId, request, signal);
      if (request.answers.length === 0)
        throw new RequestError("refused", "The peer ended the stream without an answer.");
    });
    return request.answers[0] as T;
  }

  async #askForBlocks(
    peerId: string,
    { name, body, count }: { name: ProtocolName; body: Uint8Array; count: number },
    collector: BlockCollector,
    signal: AbortSignal | undefined,
  ): Promise<SignedBeaconBlock[]> {
    const { config, clock } = this.#parts;
    if (count === 0) return [];
    const most = maxRequestBlocks(config, clock.currentEpoch);
    if (count > most) throw new RangeError(`No more than ${most} blocks may be asked for at a time.`);
    const request: OutboundRequest = {
      name,
      // altair/p2p-interface.md, Transitioning from v1 to v2.
      versions: this.#isInForce(ForkSeq.altair) ? [2] : [2, 1],
      body: () => body,
      cost: count,
      maxChunks: count,
      format: (version) => blockFormat(config, version),
      onChunk: (chunk) => collector.add(decodeBlock(config, chunk)),
    };
    await this.#judged(peerId, name, () => this.#request(peerId, request, signal));
    return collector.blocks;
  }

  async #request(peerId: string, request: OutboundRequest, signal: AbortSignal | undefined): Promise<void> {
    await this.#client.request(peerId, request, signal);
  }

  async #judged(peerId: string, name: ProtocolName, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof RequestError) {
        this.#logger.debug("A request to a peer failed.", {
          peer: peerId,
          protocol: name,
          failure: error.failure,
          reason: error.message,
        });
        penalizeFailure(this.#parts.judge, peerId, name, error);
      }
      throw error;
    }
  }

  #isInForce(fork: ForkSeq): boolean {
    return this.#parts.config.getForkSeqAtEpoch(this.#parts.clock.currentEpoch) >= fork;
  }
}

function single<T>({ name, versions, body, answer }: Question<T>): OutboundRequest & { answers: T[] } {
  const answers: T[] = [];
  return {
    name,
    versions,
    body,
    cost: 1,
    maxChunks: 1,
    format: (version) => plainFormat(answer(version)),
    onChunk: ({ bytes }, version) => answers.push(answer(version).decode(bytes)),
    answers,
  };
}
