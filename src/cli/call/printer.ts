import { parseMessage } from "../../json/parse.ts";
import type { Terminal } from "../terminal.ts";
import { type FormatOptions, formatLines } from "./format-result.ts";
import { PrintableJson, printableJson } from "./printable.ts";

/** Larger results are streamed as JSON, since formatting requires the whole result in memory. */
const MAX_FORMATTED_BYTES = 64 * 1024 * 1024;
/** Write buffer size in characters. */
const WRITE_CHARACTERS = 64 * 1024;

/** Prints the response to a call as it arrives. */
export class CallPrinter {
  readonly #terminal: Terminal;
  readonly #withMeta: boolean;
  readonly #readable: FormatOptions;
  readonly #largestReadableBytes: number;
  readonly #json = new PrintableJson();
  #asJson: boolean;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #hasResult = false;
  #hasReader = true;

  constructor(
    { json, meta }: { json: boolean; meta: boolean },
    terminal: Terminal,
    largestReadableBytes = MAX_FORMATTED_BYTES,
  ) {
    this.#terminal = terminal;
    this.#asJson = json;
    this.#withMeta = meta;
    this.#readable = { shortenHex: terminal.isInteractive };
    this.#largestReadableBytes = largestReadableBytes;
  }

  get hasResult(): boolean {
    return this.#hasResult;
  }

  /** False once the reader has closed the pipe. */
  get hasReader(): boolean {
    return this.#hasReader;
  }

  async takeResult(bytes: Buffer): Promise<void> {
    if (!this.#hasResult && this.#asJson && this.#withMeta) await this.#write('{"result":');
    this.#hasResult = true;
    if (this.#asJson) {
      await this.#write(this.#json.piece(bytes));
      return;
    }
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    if (this.#bufferedBytes > this.#largestReadableBytes) await this.#turnToJson();
  }

  /** Prints everything after the last part of the result. `meta` is the metadata in JSON, or empty. */
  async finish(meta: Buffer): Promise<void> {
    if (this.#asJson) {
      await this.#write(
        this.#withMeta ? `,"meta":${meta.length === 0 ? "{}" : printableJson(meta.toString("utf8"))}}\n` : "\n",
      );
      return;
    }
    await this.#writeLines(formatLines(parseMessage(Buffer.concat(this.#buffered)), this.#readable));
    if (!this.#withMeta) return;
    await this.#writeLines(["", "meta"]);
    await this.#writeLines(formatLines(meta.length === 0 ? {} : parseMessage(meta), this.#readable, "  "));
  }

  printError({ code, message, data }: { code: unknown; message: unknown; data?: unknown }, json: Buffer): void {
    if (this.#asJson) {
      this.#terminal.writeError(`${printableJson(json.toString("utf8").trim())}\n`);
      return;
    }
    const [sentence] = formatLines(String(message), this.#readable);
    const details = data === undefined || data === null ? { code } : { code, data };
    const lines = [`fanal: ${sentence}`, ...formatLines(details, this.#readable, "  ")];
    this.#terminal.writeError(`${lines.join("\n")}\n`);
  }

  async #turnToJson(): Promise<void> {
    this.#terminal.writeError(
      `fanal: The result exceeds ${this.#largestReadableBytes} bytes and is printed as JSON.\n`,
    );
    this.#asJson = true;
    if (this.#withMeta) await this.#write('{"result":');
    for (const bytes of this.#buffered) await this.#write(this.#json.piece(bytes));
    this.#buffered = [];
  }

  async #writeLines(lines: Iterable<string>): Promise<void> {
    let text = "";
    for (const line of lines) {
      text += `${line}\n`;
      if (text.length < WRITE_CHARACTERS) continue;
      await this.#write(text);
      if (!this.#hasReader) return;
      text = "";
    }
    if (text !== "") await this.#write(text);
  }

  async #write(chunk: string): Promise<void> {
    if (this.#hasReader) this.#hasReader = await this.#terminal.write(chunk);
  }
}
