import { type BlockRef, headerOf, type Inspection } from "./inspection.ts";
import type { Probe } from "./probe.ts";

/** A reachable upstream and its inspection. */
export interface InspectedUpstream {
  readonly probe: Probe;
  readonly inspection: Inspection;
}

/** What the upstreams agree on, and their contradictions. */
export interface Agreement {
  /** The newest block that is final on all upstreams, with the most common root. Undefined if none reports one. */
  readonly block?: BlockRef;
  /** As sentences. */
  readonly contradictions: readonly string[];
}

/** Checks that the upstreams have the same genesis and agree on finality. */
export async function checkAgreement(inspected: readonly InspectedUpstream[]): Promise<Agreement> {
  const foreign = contradiction(
    "The upstreams are on different chains, so their answers are not compared: the genesis validators root",
    inspected.map(({ inspection }) => ({ by: inspection.upstream, root: inspection.genesisValidatorsRoot })),
  );
  if (foreign !== undefined) return { contradictions: [foreign] };
  const checkpoints = checkpointContradictions(inspected);
  const slots = inspected.flatMap(({ inspection: { finalizedBlock } }) => finalizedBlock?.slot ?? []);
  if (slots.length === 0) return { contradictions: checkpoints };
  const slot = Math.min(...slots);
  const roots = await Promise.all(
    inspected.map(async ({ probe }) => ({ by: probe.upstream, root: (await headerOf(probe, String(slot)))?.root })),
  );
  const blocks = contradiction(`CONFLICTING FINALITY: at slot ${slot} the block`, roots);
  const [commonest] = groupByRoot(roots);
  return {
    block: commonest && { slot, root: commonest[0] },
    contradictions: blocks === undefined ? checkpoints : [...checkpoints, blocks],
  };
}

interface RootClaim {
  readonly by: string;
  readonly root: string | undefined;
}

/** Compares the checkpoints of each epoch that several upstreams report as finalized. */
function checkpointContradictions(inspected: readonly InspectedUpstream[]): string[] {
  const byEpoch = Map.groupBy(
    inspected.flatMap(({ inspection: { upstream, finalized } }) =>
      finalized === undefined ? [] : [{ by: upstream, root: finalized.root, epoch: finalized.epoch }],
    ),
    ({ epoch }) => epoch,
  );
  return Array.from(byEpoch, ([epoch, claims]) =>
    contradiction(`CONFLICTING FINALITY: the checkpoint of epoch ${epoch}`, claims),
  ).filter((sentence) => sentence !== undefined);
}

function contradiction(what: string, claims: readonly RootClaim[]): string | undefined {
  const groups = groupByRoot(claims);
  if (groups.length < 2) return undefined;
  return `${what} is ${groups.map(([root, upstreams]) => `${root} for ${upstreams.join(", ")}`).join(", but ")}.`;
}

/** Groups upstreams by root, the largest group first. */
function groupByRoot(claims: readonly RootClaim[]): [root: string, upstreams: string[]][] {
  const groups = new Map<string, string[]>();
  for (const { by, root } of claims) {
    if (root !== undefined) groups.set(root, [...(groups.get(root) ?? []), by]);
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length);
}
