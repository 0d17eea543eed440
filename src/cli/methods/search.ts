import type { MethodDefinition } from "../../api/definition.ts";
import { methodGroups, methods } from "../../api/method-groups.ts";
import type { MethodGroup } from "../../api/openrpc.ts";
import { nearestName } from "../../errors/nearest-name.ts";

const MAX_SUGGESTIONS = 3;

/** Returns the methods whose names, summary or REST paths contain every word. */
export function methodsWith(words: readonly string[]): MethodGroup[] {
  return methodGroups
    .map((group) => ({ ...group, methods: group.methods.filter((method) => hasAll(method, words)) }))
    .filter((group) => group.methods.length > 0);
}

function hasAll({ name, aliases, summary, rest }: MethodDefinition, words: readonly string[]): boolean {
  const text = [name, ...aliases, summary, ...rest.map(({ path }) => path)].join("\n").toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}

/** Finds a method by exact name or alias. */
export function methodNamed(name: string): MethodDefinition | undefined {
  return methods.find((method) => method.name === name || method.aliases.includes(name));
}

/** Returns similar method names, best match first. */
export function nearestMethods(query: string): string[] {
  const candidates = new Set(methods.flatMap(({ name, aliases }) => [name, ...aliases]));
  const nearest: string[] = [];
  while (nearest.length < MAX_SUGGESTIONS) {
    const name = nearestName(query, candidates);
    if (name === undefined) break;
    nearest.push(name);
    candidates.delete(name);
  }
  return nearest;
}
