/** Returns the anchor of a heading as GitHub makes it, so that links work in both places. */
export function githubAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}
