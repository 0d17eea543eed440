import type { ForkName } from "@lodestar/params";
import type { ExampleChain } from "../../api/example.ts";
import { methods } from "../../api/method-groups.ts";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import { forkAt, slotAt } from "../chain-facts.ts";
import type { UpstreamRequest } from "../exchange.ts";
import { comparableData, isNotHeld, SPEC_PATH } from "./comparable-data.ts";
import { compare, type Said } from "./comparison.ts";
import { type BlockPlace, type Examination, readPubkeys } from "./examination.ts";
import { type Examined, findAgreement } from "./finality.ts";
import { type Found, find } from "./finding.ts";
import { measureLatencies } from "./latency.ts";
import { type Operation, operationsOf, requestOf } from "./operations.ts";
import { placeOnChain, Unaskable } from "./place-on-chain.ts";
import { differingAnswers, failingOperations, standingOf } from "./problems.ts";
import type { Difference, OperationReport, Report, UpstreamReport } from "./report.ts";

/** An upstream that was examined, and where it is. */
export interface Patient extends Examined {
  readonly url: string;
}

export interface DiagnosisOptions {
  /** Whether whole states are asked for, which are large. */
  readonly withStates: boolean;
}

const SHOWN_OF_NETWORK = 50;

/** Who does not answer so many operations in a row is not asked for more. */
const MOST_FAILURES_IN_A_ROW = 3;

/** Finds out what upstreams can do, how fast they are and where they differ, with one request to each at a time. */
export async function diagnose(patients: readonly Patient[], options: DiagnosisOptions): Promise<Report> {
  const answering = patients.filter(({ examination }) => examination.failure === undefined);
  const { block, contradictions } = await findAgreement(answering);
  const measured = answering.flatMap(({ probe, examination }) => (examination.head === undefined ? [] : probe));
  const latencies = await measureLatencies(measured);
  const subjects = await Promise.all(patients.map((patient) => Subject.of(patient, block)));
  const operations: OperationReport[] = [];
  const differences: Difference[] = [];
  for (const operation of operationsOf(methods)) {
    const asked = await Promise.all(subjects.map((subject) => subject.ask(operation, options)));
    const { method, path } = operation;
    operations.push({
      method: method.name,
      verb: path.verb,
      path: path.path,
      findings: asked.map(({ found }) => found.finding),
    });
    if (operation.isCompared && block !== undefined) differences.push(...differencesOf(operation, asked));
  }
  return {
    contradictions,
    ...(block === undefined ? {} : { comparedAt: block }),
    upstreams: patients.map((patient, position) => ({
      ...upstreamReport(patient, patients, [
        ...failingOperations(operations.map(({ findings }) => findings[position]!)),
        ...differingAnswers(patient.probe.upstream, differences),
      ]),
      latency: latencies[measured.indexOf(patient.probe)],
    })),
    operations,
    differences,
  };
}

interface AskedSubject {
  readonly upstream: string;
  readonly found: Found;
  readonly request?: UpstreamRequest;
}

/** One upstream while it is asked for all operations. */
class Subject {
  readonly #patient: Patient;
  readonly #past: ExampleChain | undefined;
  readonly #present: () => ExampleChain | undefined;
  #failuresInARow = 0;

  private constructor(
    patient: Patient,
    past: ExampleChain | undefined = undefined,
    present: () => ExampleChain | undefined = () => undefined,
  ) {
    this.#patient = patient;
    this.#past = past;
    this.#present = present;
  }

  /** What is asked about the past is asked of all alike, about the block that is final for all, or else about its own head. */
  static async of(patient: Patient, common: BlockPlace | undefined): Promise<Subject> {
    const { probe, examination } = patient;
    const { head, peerId, facts } = examination;
    if (head === undefined || facts === undefined) return new Subject(patient);
    const pubkeys = await readPubkeys(probe);
    const epochAt = (slot: number) => Math.floor(slot / facts.slotsPerEpoch);
    const placeAt = (slot: number, headRoot: string, epoch = epochAt(slot)) =>
      placeOnChain({ slot, epoch, fork: forkAt(facts, slot) as ForkName, headRoot, peerId, pubkeys });
    const final = common ?? head;
    const present = () => {
      // A syncing node is asked about its current slot, which it names by the distance.
      const slot = head.slot + (examination.syncDistance ?? 0);
      const clockSlot = slotAt(facts, SYSTEM_TIMERS.unixNow());
      // An epoch may begin while the node is asked, and duties of the epoch before need not be served then.
      const epoch = Math.max(epochAt(slot), epochAt(clockSlot));
      return clockSlot - slot > facts.slotsPerEpoch ? undefined : placeAt(slot, head.root, epoch);
    };
    return new Subject(patient, placeAt(final.slot + 1, final.root), present);
  }

  async ask(operation: Operation, options: DiagnosisOptions): Promise<AskedSubject> {
    const { probe, examination } = this.#patient;
    const { upstream } = probe;
    const notAsked = (reason?: string) => ({ upstream, found: { finding: { outcome: "not-asked", reason } as const } });
    if (examination.failure !== undefined) return notAsked();
    const place = operation.isOfPast ? this.#past : this.#present();
    if (this.#past === undefined) return notAsked("it does not tell its head or its chain");
    if (place === undefined) return notAsked("its head is more than an epoch behind the clock");
    if (this.#failuresInARow >= MOST_FAILURES_IN_A_ROW) return notAsked("it has stopped answering");
    let request: UpstreamRequest;
    try {
      request = await requestOf(operation, place, options);
    } catch (error) {
      if (!(error instanceof Unaskable)) throw error;
      return notAsked(error.message);
    }
    const found = await find(probe, operation, request);
    const isSilent = found.finding.outcome === "error" && found.finding.millis === undefined;
    this.#failuresInARow = isSilent ? this.#failuresInARow + 1 : 0;
    return { upstream, found, request };
  }
}

function differencesOf(operation: Operation, asked: readonly AskedSubject[]): Difference[] {
  const { path } = operation;
  const [alike = []] = Array.from(
    Map.groupBy(
      asked.filter(({ request }) => request !== undefined),
      ({ request }) => JSON.stringify(request),
    ).values(),
  ).toSorted((a, b) => b.length - a.length);
  const request = `${path.verb} ${alike[0]?.request?.url}`;
  const holding = alike.filter(({ found }) => !isNotHeld(operation, found.data));
  const data = answersIn(holding, "data").map((said) => ({ ...said, value: comparableData(path, said.value) }));
  const inJson = [
    ...compare(request, data, { onlyShared: path.path === SPEC_PATH }),
    ...compare(request, answersIn(holding, "beside"), { path: "answer", onlyShared: true }),
  ];
  if (inJson.length > 0) return inJson;
  // Where the JSON is the same the SSZ has to be, too; and of what is too large to be read there is only that.
  return compare(`${request} (SSZ)`, answersIn(holding, "sszDigest"), { path: "SHA-256" });
}

function answersIn(asked: readonly AskedSubject[], form: "data" | "beside" | "sszDigest"): Said[] {
  return asked.flatMap(({ upstream, found }) => (found[form] === undefined ? [] : { upstream, value: found[form] }));
}

function upstreamReport(
  { url, examination }: Patient,
  patients: readonly Patient[],
  furtherProblems: readonly string[],
): UpstreamReport {
  const { spec, facts: _facts, peerId: _peerId, observedAt: _observedAt, ...told } = examination;
  const network = typeof spec?.CONFIG_NAME === "string" ? { network: spec.CONFIG_NAME.slice(0, SHOWN_OF_NETWORK) } : {};
  const all = patients.map((patient): Examination => patient.examination);
  const { problems, ...distances } = standingOf(examination, all);
  return { url, ...network, ...told, ...distances, problems: [...problems, ...furtherProblems] };
}
