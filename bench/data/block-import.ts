import type { Type } from "@chainsafe/ssz";
import { DOMAIN_BEACON_PROPOSER, ForkName } from "@lodestar/params";
import type { BeaconBlock, SignedBlockContents } from "@lodestar/types";
import type { DataSidecar } from "../../src/data/sidecar.ts";
import { ValidatorSigner } from "../../src/dev/validators/signer.ts";
import { type BenchedChain, withDevChain } from "../support/dev-chain.ts";
import { median } from "../support/statistics.ts";
import type { MainThread } from "./main-thread.ts";

const BLOBS = 21;

/** How long something took, in milliseconds, and for how long it held up the main thread at the most. */
export interface ImportFigures {
  name: string;
  milliseconds: number;
  longestHoldUpMs: number;
}

/**
 * Blocks of fulu with many blobs: published by a client where the node has made them, and as gossip brings them to a node that
 * keeps all columns. The first round, in which threads start, does not count.
 */
export function benchImport(rounds: number, mainThread: MainThread): Promise<ImportFigures[]> {
  const options = {
    validators: 64,
    activeValidators: [],
    forks: [{ fork: ForkName.fulu, epoch: 0 } as const],
    epochs: 0,
    // Both chains begin with the same block.
    genesisTime: Math.floor(Date.now() / 1000) - 3600,
    configOverrides: { BLOB_SCHEDULE: `0:${BLOBS}` },
    devBlobs: { least: BLOBS, most: BLOBS },
  };
  return withDevChain(options, (maker) =>
    withDevChain(options, async (follower) => {
      const published = new Figures(mainThread);
      const received = new Figures(mainThread);
      for (let slot = 1; slot <= rounds + 1; slot++) {
        for (const { devChain } of [maker, follower]) await devChain.clock.advanceTo(slot);
        const contents = await signedContents(maker, slot);
        const columns: DataSidecar[] = [];
        const stop = maker.devChain.chain.events.on("columnSidecar", ({ sidecar }) => columns.push(sidecar));
        await published.time(() => maker.devChain.api.beacon.publishBlockV2({ signedBlockContents: contents }));
        stop();
        await received.time(() => takeFromGossip(follower, contents, columns));
        requireSameHead(maker, follower);
      }
      return [
        published.summary(`a block with ${BLOBS} blobs, from its publication to the head`),
        received.summary(`the same and its 128 columns by gossip`),
      ];
    }),
  );
}

async function signedContents({ devChain }: BenchedChain, slot: number): Promise<SignedBlockContents> {
  const { api, config, keys, chain } = devChain;
  const signer = new ValidatorSigner(config, keys);
  const proposer = chain.headState.epochCtx.getBeaconProposer(slot);
  const { data } = await api.validator.produceBlockV3({ slot, randaoReveal: signer.randaoReveal(proposer, slot) });
  if (!("block" in data)) throw new Error("The node has made a block without its blobs.");
  const { block, ...blobs } = data;
  const type = config.getForkTypes(slot).BeaconBlock as Type<BeaconBlock>;
  const signature = signer.sign(proposer, signer.signingRoot(type, block, DOMAIN_BEACON_PROPOSER, slot));
  return { signedBlock: { message: block, signature }, ...blobs } as SignedBlockContents;
}

async function takeFromGossip(
  { devChain: { chain } }: BenchedChain,
  { signedBlock }: SignedBlockContents,
  columns: readonly DataSidecar[],
): Promise<void> {
  await Promise.all([
    chain.importBlock(signedBlock),
    ...columns.map((sidecar) => chain.sidecars.process(sidecar, sidecar.index)),
  ]);
}

function requireSameHead(...chains: BenchedChain[]): void {
  const heads = new Set(chains.map(({ devChain }) => devChain.chain.head.root));
  if (heads.size > 1) throw new Error("The block did not become the head of both.");
}

class Figures {
  readonly #mainThread: MainThread;
  readonly #rounds: { milliseconds: number; holdUpMs: number }[] = [];

  constructor(mainThread: MainThread) {
    this.#mainThread = mainThread;
  }

  async time(work: () => Promise<unknown>): Promise<void> {
    this.#mainThread.takeLongestMs();
    const start = performance.now();
    await work();
    const milliseconds = performance.now() - start;
    this.#rounds.push({ milliseconds, holdUpMs: this.#mainThread.takeLongestMs() });
  }

  summary(name: string): ImportFigures {
    const counted = this.#rounds.slice(1);
    return {
      name,
      milliseconds: median(counted.map(({ milliseconds }) => milliseconds)),
      longestHoldUpMs: Math.max(...counted.map(({ holdUpMs }) => holdUpMs)),
    };
  }
}
