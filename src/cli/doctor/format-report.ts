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
  "yes: conforms to the standard; +ssz: also in SSZ; no: not supported, or no such data (HTTP status 404, 405, 410 or " +
  "501), or retired by the standard; declined: rejects the empty list that was sent (HTTP status 400); not ready: HTTP " +
  "status 503 of a node that reports syncing, optimistic or no execution client; REFUSED: another 4xx status for a valid " +
  "request; ERROR: a 5xx status, no response, or missing data that every node has; +ERROR: the same for SSZ; WRONG: does " +
  "not match the schema of the standard; slow: more than two seconds; -: skipped.";

/** Formats the report as text. */
export function formatReport(report: Report): string {
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

/** Lists the upstreams with the numbers used in the rest of the report. */
function upstreamLines({ upstreams }: Report): string[] {
  const shown = (text: string | undefined) => (text === undefined ? "" : printable(text));
  const rows = upstreams.map(({ url, version, network }, index) => [
    String(index + 1),
    url,
    shown(network),
    shown(version),
  ]);
  return tableLines(["", "upstream", "network", "version"], rows);
}

function conditionLines({ upstreams }: Report): string[] {
  const head = ["", "head", "to clock", "to best", "justified", "finalized", "peers", "cheap ms", "heavier ms"];
  const rows = upstreams.map((upstream, index) => {
    const { failure, behindClock, behindBest, justifiedEpoch, finalized, connectedPeers, latency } = upstream;
    if (failure !== undefined) return [String(index + 1), "-"];
    return [
      String(index + 1),
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
  const isTested = ({ findings }: OperationReport) => findings.some(({ outcome }) => outcome !== "not-asked");
  const tested = operations.filter(isTested);
  if (tested.length === 0) return [];
  return [
    ...operationTables(tested, upstreams.length),
    wrapText(LEGEND, WIDTH),
    tested.flatMap(reasonLines),
    notAskedLines(operations.filter((operation) => !isTested(operation))),
  ];
}

/** Splits the columns across several tables if they exceed the width. */
function operationTables(operations: readonly OperationReport[], upstreamCount: number): string[][] {
  const pathWidth = Math.max(...operations.map((operation) => nameOf(operation).length));
  const perTable = Math.max(1, Math.floor((WIDTH - pathWidth) / (WIDEST_MARK + GAP.length)));
  const tables: string[][] = [];
  for (let first = 0; first < upstreamCount; first += perTable) {
    const rows = operations.map((operation) => {
      return [nameOf(operation), ...operation.findings.slice(first, first + perTable).map(markOf)];
    });
    const numbers = rows[0]!.slice(1).map((_, index) => String(first + index + 1));
    tables.push(tableLines(["operation", ...numbers], rows));
  }
  return tables;
}

const nameOf = ({ verb, path }: OperationReport) => `${verb} ${path}`;

function markOf({ outcome, ssz, isSlow }: Finding): string {
  const inSsz = ssz === "ok" ? "+ssz" : ssz === "error" || ssz === "refused" ? "+ERROR" : "";
  return `${MARKS[outcome]}${inSsz}${isSlow ? " slow" : ""}`;
}

/** Lists the reasons for failed and skipped requests, grouped by reason. */
function reasonLines(operation: OperationReport): string[] {
  const reasons = new Map<string, number[]>();
  for (const [index, { reason }] of operation.findings.entries()) {
    if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), index + 1]);
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
    `Skipped, because ${printable(reason)}:`,
    ...unasked.map((operation) => `${INDENT}${nameOf(operation)}`),
  ]);
}

function differenceLines({ differences, upstreams, comparedAt }: Report): string[] {
  const answering = upstreams.filter(({ failure }) => failure === undefined);
  if (comparedAt === undefined || answering.length < 2) return [];
  const where = `at the block of slot ${comparedAt.slot}, finalized on all of them (${comparedAt.root})`;
  if (differences.length === 0) return wrapText(`The upstreams do not differ ${where}.`, WIDTH);
  return [
    ...wrapText(`THE UPSTREAMS DIFFER ${where}:`, WIDTH),
    ...differences.flatMap(({ request, path, said: sides }) => [
      ...wrapText(request, WIDTH),
      `${GAP}${printable(path)}`,
      ...sides.map(({ upstreams: names, value }) => `${INDENT}${printable(value)}  ${names.join(", ")}`),
    ]),
  ];
}

function problemLines({ problems }: UpstreamReport, index: number): string[] {
  const [first = "No problems found.", ...rest] = problems;
  const prefix = `${index + 1}${GAP}`;
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
