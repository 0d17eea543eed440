import type { Latency } from "../../gateway/doctor/latency.ts";
import type { Finding, OperationReport, Outcome, Report, UpstreamReport } from "../../gateway/doctor/report.ts";
import { printable } from "../call/printable.ts";
import { WIDTH, wrapText } from "../methods/text.ts";

const GAP = "  ";
const INDENT = "    ";

const MARKS: Readonly<Record<Outcome, string>> = {
  ok: "yes",
  absent: "no",
  declined: "declined",
  "not-ready": "not ready",
  refused: "REFUSED",
  error: "ERROR",
  "wrong-form": "WRONG",
  "not-asked": "-",
};
const WIDEST_MARK = 9;

const LEGEND =
  "yes: as the standard has it; +ssz: also in SSZ; no: it does not have it, or not what it was asked about (HTTP status 404, 405, 410 or 501), or the standard has retired it; declined: it does not take the empty list that it was sent (HTTP status 400); not ready: HTTP status 503 of a node that says that it is syncing, optimistic or without its execution client; REFUSED: another 4xx status to a valid request; ERROR: a 5xx status, no answer, or something missing that every node has; +ERROR: no SSZ for such a reason; WRONG: not of the form that the standard has; slow: after more than two seconds; -: not asked.";

/** What was found, for people. */
export function reportText(report: Report): string {
  const sections = [
    report.contradictions.flatMap((sentence) => wrapText(printable(sentence), WIDTH)),
    upstreamLines(report),
    conditionLines(report),
    ...operationSections(report),
    differenceLines(report),
    report.upstreams.flatMap(problemLines),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** From here on upstreams are named by their numbers. */
function upstreamLines({ upstreams }: Report): string[] {
  const said = (text: string | undefined) => (text === undefined ? "" : printable(text));
  const rows = upstreams.map(({ url, version, network }, place) => [
    String(place + 1),
    url,
    said(network),
    said(version),
  ]);
  return tableLines(["", "upstream", "network", "version"], rows);
}

function conditionLines({ upstreams }: Report): string[] {
  const head = ["", "head", "to clock", "to best", "justified", "finalized", "peers", "cheap ms", "heavier ms"];
  const rows = upstreams.map((upstream, place) => {
    const { failure, behindClock, behindBest, justifiedEpoch, finalized, connectedPeers, latency } = upstream;
    if (failure !== undefined) return [String(place + 1), "-"];
    return [
      String(place + 1),
      cell(upstream.head?.slot),
      cell(behindClock),
      cell(behindBest),
      cell(justifiedEpoch),
      cell(finalized?.epoch),
      cell(connectedPeers),
      latencyText(latency?.cheap),
      latencyText(latency?.heavier),
    ];
  });
  return [
    ...tableLines(head, rows, { rightAligned: head.keys() }),
    "Slots to the clock and to the newest head; epochs; the median and, in brackets, the 95th percentile.",
  ];
}

const cell = (value: number | undefined) => (value === undefined ? "?" : String(value));

function latencyText(latency: Latency | undefined): string {
  return latency === undefined ? "?" : `${latency.median.toFixed(1)} (${latency.p95.toFixed(1)})`;
}

function operationSections({ operations, upstreams }: Report): string[][] {
  const isAsked = ({ findings }: OperationReport) => findings.some(({ outcome }) => outcome !== "not-asked");
  const asked = operations.filter(isAsked);
  if (asked.length === 0) return [];
  return [
    ...operationTables(asked, upstreams.length),
    wrapText(LEGEND, WIDTH),
    asked.flatMap(reasonLines),
    notAskedLines(operations.filter((operation) => !isAsked(operation))),
  ];
}

/** With as many upstreams beside each other as there is room for. */
function operationTables(operations: readonly OperationReport[], upstreamCount: number): string[][] {
  const pathWidth = Math.max(...operations.map((operation) => nameOf(operation).length));
  const perTable = Math.max(1, Math.floor((WIDTH - pathWidth) / (WIDEST_MARK + GAP.length)));
  const tables: string[][] = [];
  for (let first = 0; first < upstreamCount; first += perTable) {
    const rows = operations.map((operation) => {
      return [nameOf(operation), ...operation.findings.slice(first, first + perTable).map(markOf)];
    });
    const numbers = rows[0]!.slice(1).map((_, place) => String(first + place + 1));
    tables.push(tableLines(["operation", ...numbers], rows));
  }
  return tables;
}

const nameOf = ({ verb, path }: OperationReport) => `${verb} ${path}`;

function markOf({ outcome, ssz, isSlow }: Finding): string {
  const inSsz = ssz === "ok" ? "+ssz" : ssz === "error" || ssz === "refused" ? "+ERROR" : "";
  return `${MARKS[outcome]}${inSsz}${isSlow ? " slow" : ""}`;
}

/** Why it was not answered well, or not asked of some; what several upstreams have in common is told once. */
function reasonLines(operation: OperationReport): string[] {
  const reasons = new Map<string, number[]>();
  for (const [place, { reason }] of operation.findings.entries()) {
    if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), place + 1]);
  }
  if (reasons.size === 0) return [];
  return [
    nameOf(operation),
    ...Array.from(reasons).flatMap(([reason, numbers]) =>
      wrapText(`${numbers.join(", ")}: ${printable(reason)}`, WIDTH, INDENT, INDENT + GAP),
    ),
  ];
}

function notAskedLines(operations: readonly OperationReport[]): string[] {
  const byReason = Map.groupBy(operations, ({ findings }) => findings.find(({ reason }) => reason)?.reason ?? "");
  return Array.from(byReason).flatMap(([reason, unasked]) => [
    `Not asked, because ${printable(reason)}:`,
    ...unasked.map((operation) => `${INDENT}${nameOf(operation)}`),
  ]);
}

function differenceLines({ differences, upstreams, comparedAt }: Report): string[] {
  const answering = upstreams.filter(({ failure }) => failure === undefined);
  if (comparedAt === undefined || answering.length < 2) return [];
  const where = `at the block of slot ${comparedAt.slot}, which is final for all of them (${comparedAt.root})`;
  if (differences.length === 0) return wrapText(`The upstreams do not differ ${where}.`, WIDTH);
  return [
    ...wrapText(`THE UPSTREAMS DIFFER ${where}:`, WIDTH),
    ...differences.flatMap(({ request, path, said }) => [
      ...wrapText(request, WIDTH),
      `${GAP}${printable(path)}`,
      ...said.map(({ upstreams: who, value }) => `${INDENT}${printable(value)}  ${who.join(", ")}`),
    ]),
  ];
}

function problemLines({ problems }: UpstreamReport, place: number): string[] {
  const [first = "Nothing is wrong.", ...rest] = problems;
  const prefix = `${place + 1}${GAP}`;
  return [first, ...rest].flatMap((sentence, position) =>
    wrapText(
      printable(sentence),
      WIDTH,
      position === 0 ? prefix : " ".repeat(prefix.length),
      " ".repeat(prefix.length),
    ),
  );
}

function tableLines(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { rightAligned = [] as Iterable<number> } = {},
): string[] {
  const right = new Set(rightAligned);
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    widths
      .map((width, column) => {
        const text = row[column] ?? "";
        return right.has(column) ? text.padStart(width) : text.padEnd(width);
      })
      .join(GAP)
      .trimEnd(),
  );
}
