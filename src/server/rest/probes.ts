import type { RouteTable } from "./route-table.ts";

/** The response to a health probe. */
export interface ProbeResponse {
  status: number;
  /** JSON, or undefined if the response has no body. */
  body?: Buffer | undefined;
}

/** Health probes by path. Each receives the full URL. */
export type HealthProbes = ReadonlyMap<string, (url: string) => Promise<ProbeResponse>>;

/** Returns the health probes among the routes, so that another server can use them. */
export function probesOf(routes: RouteTable): HealthProbes {
  const cancellation = { signal: new AbortController().signal };
  const probes = routes.filter(({ isProbe }) => isProbe);
  return new Map(
    probes.map((route) => [
      route.path,
      async (url) => {
        const format = route.responseFormats[0];
        const { status, content } = await route.handle({
          params: {},
          url,
          headers: {},
          body: undefined,
          cancellation,
          format,
        });
        return { status, body: content && Buffer.concat(content.parts as Buffer[]) };
      },
    ]),
  );
}
