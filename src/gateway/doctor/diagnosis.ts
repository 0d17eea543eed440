import type { ForkName } from "@lodestar/params";
import type { ExampleChain } from "../../api/example.ts";
import { methods } from "../../api/method-groups.ts";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { forkAt, slotAt } from "../network/chain-spec.ts";
import type { UpstreamRequest } from "../upstream/upstream-call.ts";
import { checkAgreement, type InspectedUpstream } from "./chain-agreement.ts";
import { comparableData, isMissingBlockData, SPEC_PATH } from "./comparable-data.ts";
import { compare, type UpstreamAnswer } from "./compare-answers.ts";
import { exampleChainAt, UntestableOperation } from "./example-chain.ts";
import { type BlockRef, type Inspection, readPubkeys } from "./inspection.ts";
import { measureLatencies } from "./latency.ts";
import { checkOperation, type OperationCheck } from "./operation-check.ts";
import { type Operation, operationsOf, requestOf } from "./operations.ts";
import { assessPosition, differenceProblems, operationProblems } from "./problems.ts";
import type { Difference, OperationReport, Report, UpstreamReport } from "./report.ts";

/** An inspected upstream and its URL. */
export interface DiagnosedUpstream extends InspectedUpstream {
  readonly url: string;
}

export interface DiagnosisOptions {
  /** True to request whole states, which are large. */
  readonly withStates: boolean;
}

const MAX_NETWORK_LENGTH = 50;

/** After this many operations in a row without a response, the upstream is not tested further. */
const MAX_CONSECUTIVE_FAILURES = 3;

/** Tests the operations, latency and agreement of upstreams, with one request at a time to each. */
export async function diagnose(upstreams: readonly DiagnosedUpstream[], options: DiagnosisOptions): Promise<Report> {
  const answering = upstreams.filter(({ inspection }) => inspection.failure === undefined);
  const { block, contradictions } = await checkAgreement(answering);
  const measured = answering.flatMap(({ probe, inspection }) => (inspection.head === undefined ? [] : probe));
  const latencies = await measureLatencies(measured);
  const testers = await Promise.all(upstreams.map((upstream) => OperationTester.of(upstream, block)));
  const operations: OperationReport[] = [];
  const differences: Difference[] = [];
  for (const operation of operationsOf(methods)) {
    const tested = await Promise.all(testers.map((tester) => tester.test(operation, options)));
    const { method, path } = operation;
    operations.push({
      method: method.name,
      verb: path.verb,
      path: path.path,
      findings: tested.map(({ check }) => check.finding),
    });
    if (operation.isCompared && block !== undefined) differences.push(...differencesOf(operation, tested));
  }
  return {
    contradictions,
    ...(block === undefined ? {} : { comparedAt: block }),
    upstreams: upstreams.map((upstream, position) => ({
      ...upstreamReport(upstream, upstreams, [
        ...operationProblems(operations.map(({ findings }) => findings[position]!)),
        ...differenceProblems(upstream.probe.upstream, differences),
      ]),
      latency: latencies[measured.indexOf(upstream.probe)],
    })),
    operations,
    differences,
  };
}

interface TestedOperation {
  readonly upstream: string;
  readonly check: OperationCheck;
  readonly request?: UpstreamRequest;
}

/** Tests all operations on one upstream. */
class OperationTester {
  readonly #upstream: DiagnosedUpstream;
  readonly #past: ExampleChain | undefined;
  readonly #present: () => ExampleChain | undefined;
  #consecutiveFailures = 0;

  private constructor(
    upstream: DiagnosedUpstream,
    past: ExampleChain | undefined = undefined,
    present: () => ExampleChain | undefined = () => undefined,
  ) {
    this.#upstream = upstream;
    this.#past = past;
    this.#present = present;
  }

  /**
   * Historical operations use the same block on all upstreams: the newest one final on all, or else the upstream's own
   * head.
   */
  static async of(upstream: DiagnosedUpstream, common: BlockRef | undefined): Promise<OperationTester> {
    const { probe, inspection } = upstream;
    const { head, peerId, chainSpec } = inspection;
    if (head === undefined || chainSpec === undefined) return new OperationTester(upstream);
    const pubkeys = await readPubkeys(probe);
    const epochAt = (slot: number) => Math.floor(slot / chainSpec.slotsPerEpoch);
    const placeAt = (slot: number, headRoot: string, epoch = epochAt(slot)) =>
      exampleChainAt({ slot, epoch, fork: forkAt(chainSpec, slot) as ForkName, headRoot, peerId, pubkeys });
    const final = common ?? head;
    const present = () => {
      // The current slot of a syncing node is its head plus the sync distance.
      const slot = head.slot + (inspection.syncDistance ?? 0);
      const clockSlot = slotAt(chainSpec, SYSTEM_TIMERS.unixNow());
      // A new epoch may have begun since. Upstreams need not serve duties of the previous epoch.
      const epoch = Math.max(epochAt(slot), epochAt(clockSlot));
      return clockSlot - slot > chainSpec.slotsPerEpoch ? undefined : placeAt(slot, head.root, epoch);
    };
    return new OperationTester(upstream, placeAt(final.slot + 1, final.root), present);
  }

  async test(operation: Operation, options: DiagnosisOptions): Promise<TestedOperation> {
    const { probe, inspection } = this.#upstream;
    const { upstream } = probe;
    const notTested = (reason?: string) => ({
      upstream,
      check: { finding: { outcome: "not-asked", reason } as const },
    });
    if (inspection.failure !== undefined) return notTested();
    const chain = operation.isHistorical ? this.#past : this.#present();
    if (this.#past === undefined) return notTested("it does not report its head or its chain");
    if (chain === undefined) return notTested("its head is more than an epoch behind the clock");
    if (this.#consecutiveFailures >= MAX_CONSECUTIVE_FAILURES) return notTested("it stopped answering");
    let request: UpstreamRequest;
    try {
      request = await requestOf(operation, chain, options);
    } catch (error) {
      if (!(error instanceof UntestableOperation)) throw error;
      return notTested(error.message);
    }
    const check = await checkOperation(probe, operation, request);
    const isUnresponsive = check.finding.outcome === "error" && check.finding.millis === undefined;
    this.#consecutiveFailures = isUnresponsive ? this.#consecutiveFailures + 1 : 0;
    return { upstream, check, request };
  }
}

function differencesOf(operation: Operation, tested: readonly TestedOperation[]): Difference[] {
  const { path } = operation;
  const [alike = []] = Array.from(
    Map.groupBy(
      tested.filter(({ request }) => request !== undefined),
      ({ request }) => JSON.stringify(request),
    ).values(),
  ).toSorted((a, b) => b.length - a.length);
  const request = `${path.verb} ${alike[0]?.request?.url}`;
  const holding = alike.filter(({ check }) => !isMissingBlockData(operation, check.data));
  const data = answersIn(holding, "data").map((answer) => ({ ...answer, value: comparableData(path, answer.value) }));
  const inJson = [
    ...compare(request, data, { onlyShared: path.path === SPEC_PATH }),
    ...compare(request, answersIn(holding, "metadata"), { path: "answer", onlyShared: true }),
  ];
  if (inJson.length > 0) return inJson;
  // Equal JSON implies equal SSZ. For answers too large to parse, only the digest is compared.
  return compare(`${request} (SSZ)`, answersIn(holding, "sszDigest"), { path: "SHA-256" });
}

function answersIn(tested: readonly TestedOperation[], format: "data" | "metadata" | "sszDigest"): UpstreamAnswer[] {
  return tested.flatMap(({ upstream, check }) =>
    check[format] === undefined ? [] : { upstream, value: check[format] },
  );
}

function upstreamReport(
  { url, inspection }: DiagnosedUpstream,
  upstreams: readonly DiagnosedUpstream[],
  furtherProblems: readonly string[],
): UpstreamReport {
  const { spec, chainSpec: _chainSpec, peerId: _peerId, observedAt: _observedAt, ...inspected } = inspection;
  const network =
    typeof spec?.CONFIG_NAME === "string" ? { network: spec.CONFIG_NAME.slice(0, MAX_NETWORK_LENGTH) } : {};
  const all = upstreams.map((upstream): Inspection => upstream.inspection);
  const { problems, ...distances } = assessPosition(inspection, all);
  return { url, ...network, ...inspected, ...distances, problems: [...problems, ...furtherProblems] };
}
