import { type Candidates, COMMON_FLAGS, type CompletionCommand, type CompletionFlag } from "./candidates.ts";

/** Generates the zsh completion script. */
export function zshScript(commands: readonly CompletionCommand[]): string {
  const described = commands.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`);
  const branches = commands.map(({ name, flags, operands }) => {
    const specs = [...flags.map(flagSpec), ...operands.map(operandSpec)];
    return `    ${name})\n      _arguments -S \\\n${specs.map((spec) => `        ${quoted(spec)}`).join(" \\\n")}\n      ;;`;
  });
  return `#compdef fanal
# Completion of fanal for zsh. To load it: source <(fanal completion zsh) after compinit, or save it as _fanal in a
# directory of $fpath.

_fanal() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe -t commands command commands
    compadd -- ${COMMON_FLAGS.map(({ written }) => written).join(" ")}
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${branches.join("\n")}
  esac
}

if [[ $funcstack[1] == _fanal ]]; then
  _fanal "$@"
else
  compdef _fanal fanal
fi
`;
}

function flagSpec({ written, description, isRepeatable, value }: CompletionFlag): string {
  const flag = `${isRepeatable ? "*" : ""}${written}`;
  const explained = `[${escaped(description)}]`;
  return value === undefined ? flag + explained : `${flag}=${explained}:${escaped(value.placeholder)}:${action(value)}`;
}

function operandSpec(offer: Candidates, place: number): string {
  return `${place + 1}:argument:${action(offer)}`;
}

function action({ words, paths }: Candidates): string {
  const files = { none: "", files: "_files", directories: "_files -/" }[paths];
  if (words.length === 0) return files || " ";
  // A word ending in = takes a value, so no space follows it.
  const suffix = words.some((word) => word.endsWith("=")) ? `-S '' ` : "";
  if (suffix === "" && files === "") return `(${words.join(" ")})`;
  return `{compadd ${suffix}-- ${words.join(" ")}; ${files || ":"}}`;
}

const escaped = (text: string) => text.replace(/[[\]:\\]/g, "\\$&");
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
