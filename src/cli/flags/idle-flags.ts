import type { FlagSources } from "./resolve-flags.ts";

const SERVERS = ["rpc", "rest", "metrics"] as const;

/** Whether each of the servers is asked for. */
export type ServersAskedFor = Readonly<Record<(typeof SERVERS)[number], boolean>>;

/** What there is to say of flags on the command line that are about servers which are off: whoever gave them meant something by it. */
export function idleFlags({ given }: Pick<FlagSources, "given">, asked: ServersAskedFor): string[] {
  return SERVERS.filter((server) => !asked[server]).flatMap((server) => {
    const names = [...given.keys()].filter((name) => name.startsWith(`${server}-`)).map((name) => `--${name}`);
    if (names.length === 0) return [];
    return [
      `${names.join(", ")} ${names.length === 1 ? "does" : "do"} nothing without --${server}, which starts that server.`,
    ];
  });
}
