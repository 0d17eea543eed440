import { type Candidates, COMMON_FLAGS, type CompletionCommand } from "./candidates.ts";

/** Generates the bash completion script. */
export function bashScript(commands: readonly CompletionCommand[]): string {
  const values = commands.flatMap(({ name, flags }) =>
    flags.flatMap(({ written, value }) => (value ? [{ place: `${name} ${written}`, offer: value }] : [])),
  );
  const operands = commands.flatMap(({ name, operands }) =>
    operands.map((offer, place) => ({ place: `${name} ${place}`, offer })),
  );
  const flags = commands.map(
    ({ name, flags }) => `      ${name}) words="${flags.map(({ written }) => written).join(" ")}" ;;`,
  );
  const first = [...commands.map(({ name }) => name), ...COMMON_FLAGS.map(({ written }) => written)];
  return `# Completion of fanal for bash. To load it: source <(fanal completion bash)

# What a flag of a command takes; fails for a flag that takes nothing.
_fanal_value() {
  case "$1 $2" in
${cases(values, "    ")}
    *) return 1 ;;
  esac
}

# What stands beside the flags of a command.
_fanal_operand() {
  case "$1 $2" in
${cases(operands, "    ")}
  esac
}

_fanal() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]}
  local words="" paths=none place=0 at word
  COMPREPLY=()
  # Bash takes the = in --flag=value for a word of its own.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    words="${first.join(" ")}"
  elif _fanal_value "$command" "$previous"; then
    :
  elif [[ $current == -* ]]; then
    case $command in
${flags.join("\n")}
    esac
  else
    for ((at = 2; at < COMP_CWORD; at++)); do
      if _fanal_value "$command" "\${COMP_WORDS[at]}"; then
        [[ \${COMP_WORDS[at + 1]-} == "=" ]] && ((at++))
        ((at++))
      elif [[ \${COMP_WORDS[at]} != -* ]]; then
        ((place++))
      fi
    done
    words=""
    paths=none
    _fanal_operand "$command" "$place"
  fi
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(
    compgen -W "$words" -- "$current"
    case $paths in
      files) compgen -f -- "$current" ;;
      directories) compgen -d -- "$current" ;;
    esac
  )
  # These fail outside of a completion, and do not exist in old versions of bash.
  [[ $paths != none ]] && compopt -o filenames 2>/dev/null
  [[ \${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}

complete -F _fanal fanal
`;
}

/** Generates case branches, one for all positions with the same candidates. */
function cases(offers: readonly { place: string; offer: Candidates }[], indent: string): string {
  const places = Map.groupBy(offers, ({ offer }) => settings(offer));
  return Array.from(
    places,
    ([set, same]) => `${indent}${same.map(({ place }) => `"${place}"`).join(" | ")}) ${set} ;;`,
  ).join("\n");
}

const settings = ({ words, paths }: Candidates) => `words="${words.join(" ")}" paths=${paths}`;
