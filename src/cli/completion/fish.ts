import { type Candidates, COMMON_FLAGS, type CompletionCommand, type CompletionFlag } from "./candidates.ts";

/** Generates the fish completion script. */
export function fishScript(commands: readonly CompletionCommand[]): string {
  const valued = new Set(
    commands.flatMap(({ flags }) => flags.filter(({ value }) => value).map(({ written }) => written)),
  );
  const lines = commands.flatMap(({ name, description, flags, operands }) => [
    `complete -c fanal -n __fanal_first -a ${name} -d ${quoted(description)}`,
    ...flags.map((flag) => `complete -c fanal -n '__fanal_at ${name}' ${flagOptions(flag)}`),
    ...operands.map((offer, place) => `complete -c fanal -n '__fanal_at ${name} ${place}' ${offerOptions(offer)}`),
  ]);
  const common = COMMON_FLAGS.map((flag) => `complete -c fanal -n __fanal_first ${flagOptions(flag)}`);
  return `# Completion of fanal for fish. To load it: fanal completion fish | source

set -g __fanal_valued ${[...valued].join(" ")}

function __fanal_first
    test (count (commandline -opc)) -eq 1
end

# Tests for a command and, with a number, for that many positional arguments before the cursor.
function __fanal_at
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]; or return 1
    test (count $argv) -eq 2; or return 0
    set -e words[1]
    set -e words[1]
    set -l place 0
    set -l is_value 0
    for word in $words
        if test $is_value -eq 1
            set is_value 0
        else if contains -- $word $__fanal_valued
            set is_value 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    test $is_value -eq 0; and test $place -eq $argv[2]
end

complete -c fanal -f
${[...common, ...lines].join("\n")}
`;
}

function flagOptions({ written, description, value }: CompletionFlag): string {
  const name = written.startsWith("--") ? `-l ${written.slice(2)}` : `-s ${written.slice(1)}`;
  const explained = `${name} -d ${quoted(description)}`;
  return value === undefined ? explained : `${explained} -r ${offerOptions(value)}`;
}

function offerOptions({ words, paths }: Candidates): string {
  const offered = paths === "directories" ? [...words, "(__fish_complete_directories)"] : words;
  return [paths === "files" ? "-F" : "-f", ...(offered.length === 0 ? [] : [`-a ${quoted(offered.join(" "))}`])].join(
    " ",
  );
}

const quoted = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`;
