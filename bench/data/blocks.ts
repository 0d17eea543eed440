import type { Type } from "@chainsafe/ssz";
import { DOMAIN_BEACON_PROPOSER, ForkName } from "@lodestar/params";
import type { BeaconBlock, SignedBlockContents } from "@lodestar/types";
import type { KzgBackendName } from "../../src/data/kzg/backend.ts";
import type { DataSidecar } from "../../src/data/sidecar.ts";
import { ValidatorSigner } from "../../src/dev/validators/signer.ts";
import { type BenchedChain, withDevChain } from "../support/dev-chain.ts";
import { median } from "../support/statistics.ts";
import type { MainThread } from "./main-thread.ts";
import type { Figure } from "./run.ts";

interface BlocksOptions {
  rounds: number;
  blobs: number;
  backend: KzgBackendName;
  mainThread: MainThread;
}

/**
 * Times fulu blocks with blobs: publication on the producing node, and import with all 128 columns from gossip on
 * another node. The first round starts the worker threads and is not counted.
 */
export function benchBlocks({ rounds, blobs, backend, mainThread }: BlocksOptions): Promise<Figure[]> {
  const options = {
    kzgBackend: backend,
    validators: 64,
    activeValidators: [],
    forks: [{ fork: ForkName.fulu, epoch: 0 } as const],
    epochs: 0,
    // Both chains have the same genesis.
    genesisTime: Math.floor(Date.now() / 1000) - 3600,
    devBlobs: { least: blobs, most: blobs },
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
        published.summary(`publish a block with ${blobs} ${blobs === 1 ? "blob" : "blobs"}`),
        received.summary(`import it with its 128 columns from gossip`),
      ];
    }),
  );
}

async function signedContents({ devChain }: BenchedChain, slot: number): Promise<SignedBlockContents> {
  const { api, config, keys, chain } = devChain;
  const signer = new ValidatorSigner(config, keys);
  const proposer = chain.headState.epochCtx.getBeaconProposer(slot);
  const { data } = await api.validator.produceBlockV3({ slot, randaoReveal: signer.randaoReveal(proposer, slot) });
  if (!("block" in data)) throw new Error("The node returned a block without its blobs.");
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
  if (heads.size > 1) throw new Error("The block did not become the head of both nodes.");
}

class Figures {
  readonly #mainThread: MainThread;
  readonly #rounds: { milliseconds: number; blockedMs: number }[] = [];

  constructor(mainThread: MainThread) {
    this.#mainThread = mainThread;
  }

  async time(work: () => Promise<unknown>): Promise<void> {
    this.#mainThread.takeLongestMs();
    const start = performance.now();
    await work();
    const milliseconds = performance.now() - start;
    this.#rounds.push({ milliseconds, blockedMs: this.#mainThread.takeLongestMs() });
  }

  summary(name: string): Figure {
    const counted = this.#rounds.slice(1);
    return {
      name,
      milliseconds: median(counted.map(({ milliseconds }) => milliseconds)),
      blockedMs: Math.max(...counted.map(({ blockedMs }) => blockedMs)),
    };
  }
}
