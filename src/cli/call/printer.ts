import { parseMessage } from "../../json/parse.ts";
import type { Terminal } from "../terminal.ts";
import { PrintableJson, printableJson } from "./printable.ts";
import { type ReadableOptions, readableLines } from "./readable.ts";

/** A result beyond this is printed as JSON as it arrives: laid out for people, it would have to be held as a whole. */
const LARGEST_READABLE_BYTES = 64 * 1024 * 1024;
/** Lines are written together until they are this many characters. */
const WRITE_CHARACTERS = 64 * 1024;

/** Prints the answer to a call while it arrives. */
export class CallPrinter {
  readonly #terminal: Terminal;
  readonly #withMeta: boolean;
  readonly #readable: ReadableOptions;
  readonly #largestReadableBytes: number;
  readonly #json = new PrintableJson();
  #asJson: boolean;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #hasResult = false;
  #isRead = true;

  constructor(
    { json, meta }: { json: boolean; meta: boolean },
    terminal: Terminal,
    largestReadableBytes = LARGEST_READABLE_BYTES,
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

  /** False once nobody reads what is printed. */
  get isRead(): boolean {
    return this.#isRead;
  }

  async takeResult(bytes: Buffer): Promise<void> {
    if (!this.#hasResult && this.#asJson && this.#withMeta) await this.#write('{"result":');
    this.#hasResult = true;
    if (this.#asJson) {
      await this.#write(this.#json.piece(bytes));
      return;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.#largestReadableBytes) await this.#turnToJson();
  }

  /** After the last of the result; `meta` is the JSON of the metadata, empty where there is none. */
  async finish(meta: Buffer): Promise<void> {
    if (this.#asJson) {
      await this.#write(
        this.#withMeta ? `,"meta":${meta.length === 0 ? "{}" : printableJson(meta.toString("utf8"))}}\n` : "\n",
      );
      return;
    }
    await this.#writeLines(readableLines(parseMessage(Buffer.concat(this.#held)), this.#readable));
    if (!this.#withMeta) return;
    await this.#writeLines(["", "meta"]);
    await this.#writeLines(readableLines(meta.length === 0 ? {} : parseMessage(meta), this.#readable, "  "));
  }

  printError({ code, message, data }: { code: unknown; message: unknown; data?: unknown }, json: Buffer): void {
    if (this.#asJson) {
      this.#terminal.complain(`${printableJson(json.toString("utf8").trim())}\n`);
      return;
    }
    const [sentence] = readableLines(String(message), this.#readable);
    const details = data === undefined || data === null ? { code } : { code, data };
    const lines = [`fanal: ${sentence}`, ...readableLines(details, this.#readable, "  ")];
    this.#terminal.complain(`${lines.join("\n")}\n`);
  }

  async #turnToJson(): Promise<void> {
    this.#terminal.complain(
      `fanal: The result is larger than ${this.#largestReadableBytes} bytes, so it is printed as the JSON it is.\n`,
    );
    this.#asJson = true;
    if (this.#withMeta) await this.#write('{"result":');
    for (const bytes of this.#held) await this.#write(this.#json.piece(bytes));
    this.#held = [];
  }

  async #writeLines(lines: Iterable<string>): Promise<void> {
    let text = "";
    for (const line of lines) {
      text += `${line}\n`;
      if (text.length < WRITE_CHARACTERS) continue;
      await this.#write(text);
      if (!this.#isRead) return;
      text = "";
    }
    if (text !== "") await this.#write(text);
  }

  async #write(chunk: string): Promise<void> {
    if (this.#isRead) this.#isRead = await this.#terminal.write(chunk);
  }
}
