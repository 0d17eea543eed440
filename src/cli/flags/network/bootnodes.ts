import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { StartupError } from "../../exit.ts";
import { isRecordText } from "./peer-values.ts";

/** Names of bootnode list files in network directories. */
const NETWORK_FILES = ["boot_enr.yaml", "bootstrap_nodes.yaml", "bootstrap_nodes.txt"] as const;

/** Collects distinct records, specified either directly or in files. */
export function givenBootnodes(texts: readonly string[], workingDirectory: string): string[] {
  const records = texts.flatMap((text) => (isRecordText(text) ? text : readRecords(resolve(workingDirectory, text))));
  return [...new Set(records)];
}

/** Reads the distinct bootnodes from a network directory. */
export function networkBootnodes(directory: string): string[] {
  const files = NETWORK_FILES.map((name) => join(directory, name)).filter((file) => existsSync(file));
  return [...new Set(files.flatMap(readRecords))];
}

/** Parses one record per line, or a YAML list. `#` starts a comment. */
function readRecords(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError("unreadableInput", `The bootnodes in ${file} cannot be read: ${reason}.`, error);
  }
  const records: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const entry = line.replace(/(?:^|\s)#.*$/, "").trim();
    if (entry === "" || entry === "---" || entry === "[]") continue;
    const record = entry.replace(/^-\s+/, "").replace(/^(["'])(.*)\1$/, "$2");
    if (!isRecordText(record)) {
      throw new StartupError(
        "unreadableInput",
        `Invalid bootnodes in ${file}: line ${index + 1} is not a record such as enr:-….`,
      );
    }
    records.push(record);
  }
  return records;
}
