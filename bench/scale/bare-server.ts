import { Child } from "../support/child.ts";

/** Path of the short answer. */
export const SHORT_PATH = "/short";

/** Bare `node:http` server in its own process that sends fixed bytes. */
export class BareServer {
  readonly #child: Child;
  readonly url: string;

  static async start(): Promise<BareServer> {
    const { child, report } = await Child.start<{ port: number }>("bare-process", import.meta.url);
    return new BareServer(child, report.port);
  }

  private constructor(child: Child, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  get shortUrl(): string {
    return this.url + SHORT_PATH;
  }

  async load(file: string): Promise<void> {
    await this.#child.ask({ file });
  }

  end(): Promise<void> {
    return this.#child.end();
  }
}
