import { methodGroups } from "../../api/method-groups.ts";
import type { MethodGroup } from "../../api/openrpc.ts";
import { usageError } from "../exit.ts";
import { methodsJson, methodsText } from "./list.ts";
import { methodText } from "./method-details.ts";
import { methodNamed, methodsWith, nearestMethods } from "./search.ts";

/** Runs `fanal methods`: prints details for a method name, otherwise lists the methods that match all words. */
export async function describeMethods(words: readonly string[], { json }: { json: boolean }): Promise<string> {
  const match = words.length === 1 ? methodNamed(words[0]!) : undefined;
  if (match && !json) return methodText(match);
  const groups = match
    ? methodGroups.map((group) => ({ ...group, methods: group.methods.filter((method) => method === match) }))
    : matchingGroups(words);
  return json ? methodsJson(groups) : methodsText(groups);
}

function matchingGroups(words: readonly string[]): readonly MethodGroup[] {
  const groups = methodsWith(words);
  if (groups.length > 0) return groups;
  const query = words.join(" ");
  const nearest = nearestMethods(query);
  const hint = nearest.length === 0 ? ' "fanal methods" lists them all.' : ` Did you mean ${nearest.join(", ")}?`;
  throw usageError(`No method matches "${query}" by name, summary or REST path.${hint}`);
}
