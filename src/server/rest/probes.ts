import { RequestToRoute } from "./request.ts";
import type { RouteTable } from "./route-table.ts";

/** The answer to a health probe. */
export interface ProbeAnswer {
  status: number;
  /** JSON; undefined for an answer by its status alone. */
  body?: Buffer | undefined;
}

/** Health probes by their paths; they get the path with the query. */
export type Probes = ReadonlyMap<string, (url: string) => Promise<ProbeAnswer>>;

/** Returns the health probes among the routes, for another server to answer. */
export function probesOf(routes: RouteTable): Probes {
  const waiting = { signal: new AbortController().signal };
  const probes = routes.filter(({ isProbe }) => isProbe);
  return new Map(
    probes.map((route) => [
      route.path,
      async (url) => {
        const request = { params: {}, url, headers: {}, body: undefined, waiting, format: route.answers[0] };
        const { status, content } = await route.handle(new RequestToRoute(route, request));
        return { status, body: content && Buffer.concat(content.parts as Buffer[]) };
      },
    ]),
  );
}
