import { type BlockPlace, type Examination, headerOf } from "./examination.ts";
import type { Probe } from "./probe.ts";

/** An upstream that answers, and what it says of itself. */
export interface Examined {
  readonly probe: Probe;
  readonly examination: Examination;
}

/** What the upstreams agree on, and where they do not. */
export interface Agreement {
  /** The newest block that is final for all, with the root that most of them know; undefined when nobody tells of one. */
  readonly block?: BlockPlace;
  /** In sentences. */
  readonly contradictions: readonly string[];
}

/** Says whether the upstreams are of one chain: its genesis, and what is final. */
export async function findAgreement(examined: readonly Examined[]): Promise<Agreement> {
  const strangers = contradiction(
    "The upstreams are of different chains, so their answers are not compared: the genesis validators root",
    examined.map(({ examination }) => ({ by: examination.upstream, root: examination.genesisValidatorsRoot })),
  );
  if (strangers !== undefined) return { contradictions: [strangers] };
  const checkpoints = checkpointContradictions(examined);
  const slots = examined.flatMap(({ examination: { finalizedBlock } }) => finalizedBlock?.slot ?? []);
  if (slots.length === 0) return { contradictions: checkpoints };
  const slot = Math.min(...slots);
  const roots = await Promise.all(
    examined.map(async ({ probe }) => ({ by: probe.upstream, root: (await headerOf(probe, String(slot)))?.root })),
  );
  const blocks = contradiction(
    `THE UPSTREAMS CONTRADICT EACH OTHER ON WHAT IS FINAL: at slot ${slot} the block`,
    roots,
  );
  const [commonest] = campsOf(roots);
  return {
    block: commonest && { slot, root: commonest[0] },
    contradictions: blocks === undefined ? checkpoints : [...checkpoints, blocks],
  };
}

interface Claim {
  readonly by: string;
  readonly root: string | undefined;
}

/** Of every epoch that is final for more than one of them. */
function checkpointContradictions(examined: readonly Examined[]): string[] {
  const byEpoch = Map.groupBy(
    examined.flatMap(({ examination: { upstream, finalized } }) =>
      finalized === undefined ? [] : [{ by: upstream, root: finalized.root, epoch: finalized.epoch }],
    ),
    ({ epoch }) => epoch,
  );
  return Array.from(byEpoch, ([epoch, claims]) =>
    contradiction(`THE UPSTREAMS CONTRADICT EACH OTHER ON WHAT IS FINAL: the checkpoint of epoch ${epoch}`, claims),
  ).filter((sentence) => sentence !== undefined);
}

function contradiction(what: string, claims: readonly Claim[]): string | undefined {
  const camps = campsOf(claims);
  if (camps.length < 2) return undefined;
  return `${what} is ${camps.map(([root, upstreams]) => `${root} for ${upstreams.join(", ")}`).join(", but ")}.`;
}

/** Who says the same, those with the most first. */
function campsOf(claims: readonly Claim[]): [root: string, upstreams: string[]][] {
  const camps = new Map<string, string[]>();
  for (const { by, root } of claims) {
    if (root !== undefined) camps.set(root, [...(camps.get(root) ?? []), by]);
  }
  return [...camps].sort(([, a], [, b]) => b.length - a.length);
}
