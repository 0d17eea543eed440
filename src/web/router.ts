import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
  document.querySelector("main")?.focus({ preventScroll: true });
  scrollTo(0, 0);
});

/** Current page and its subject: `#/block/12` is ["block", "12"]. */
export const route = computed<readonly [page: string, subject: string | undefined]>(() => {
  const [page = "", subject] = hash.value.replace(/^#\/?/, "").split("/", 2);
  return [page, subject === undefined || subject === "" ? undefined : decodeSubject(subject)];
});

/** Decodes a URI component. Returns a malformed component unchanged. */
function decodeSubject(subject: string): string {
  try {
    return decodeURIComponent(subject);
  } catch {
    return subject;
  }
}
