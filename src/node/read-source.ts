import { readFile } from "node:fs/promises";

export const isUrl = (source: string): boolean => /^https?:\/\//i.test(source);

/** The SSZ bytes of a file, or of what an http(s) server answers. */
export async function readSource(source: string, timeoutMs: number): Promise<Uint8Array> {
  // Not a Buffer, whose slices are no copies: what is decoded from it must not depend on it.
  if (!isUrl(source)) return new Uint8Array(await readFile(source));
  const response = await fetch(source, {
    headers: { accept: "application/octet-stream" },
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the server answered ${response.status} ${response.statusText}${hintFor(response.status)}`);
  }
  const type = response.headers.get("content-type")?.split(";")[0]?.trim();
  if (type === "application/json" || type === "text/html") {
    await response.body?.cancel();
    throw new Error(`the server answered with ${type} where SSZ (application/octet-stream) was asked for`);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** What a beacon node, or something that is none, may mean by the refusals that are met most. */
function hintFor(status: number): string {
  if (status === 401 || status === 403) return "; it does not give states to everybody";
  if (status === 404) return "; there may be no beacon node at this address, or it does not serve states";
  if (status === 406 || status === 415) return "; it does not answer in SSZ";
  if (status === 410) return "; it no longer has what was asked for";
  return "";
}
