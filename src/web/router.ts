import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
  document.querySelector("main")?.focus({ preventScroll: true });
  scrollTo(0, 0);
});

/** The name of the page that is shown, and what it is about: `#/block/12` is ["block", "12"]. */
export const route = computed<readonly [page: string, subject: string | undefined]>(() => {
  const [page = "", subject] = hash.value.replace(/^#\/?/, "").split("/", 2);
  return [page, subject === undefined || subject === "" ? undefined : decoded(subject)];
});

/** What is no encoded text stands for itself. */
function decoded(subject: string): string {
  try {
    return decodeURIComponent(subject);
  } catch {
    return subject;
  }
}
