import type { Shell } from "./shells.ts";

/** Completion scripts. Each passes the words up to the cursor to the hidden command `__complete`. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completion of fanal for bash. To load it: source <(fanal completion bash)

_fanal() {
  local current=\${COMP_WORDS[COMP_CWORD]} paths=none word
  COMPREPLY=()
  # Bash takes the = in --flag=value for a word of its own.
  [[ $current == "=" ]] && current=""
  {
    IFS= read -r paths
    while IFS=$'\\t' read -r word _; do
      COMPREPLY+=("$word")
    done
  } < <(fanal __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(
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
`,
  zsh: `#compdef fanal
# Completion of fanal for zsh. To load it: source <(fanal completion zsh) after compinit, or save it as _fanal in a
# directory of $fpath.

_fanal() {
  local paths line
  local -a lines described open
  lines=("\${(@f)$(fanal __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  paths=$lines[1]
  for line in "\${(@)lines[2,-1]}"; do
    # A word that ends in = is continued without a blank.
    if [[ $line == *= ]]; then
      open+=("$line")
    else
      described+=("\${line/$'\\t'/:}")
    fi
  done
  (($#described)) && _describe -t values fanal described
  (($#open)) && compadd -S '' -a open
  [[ $paths == files ]] && _files
  [[ $paths == directories ]] && _files -/
}

if [[ $funcstack[1] == _fanal ]]; then
  _fanal "$@"
else
  compdef _fanal fanal
fi
`,
  fish: `# Completion of fanal for fish. To load it: fanal completion fish | source

function __fanal_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (fanal __complete $words[2..] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
    end
    printf '%s\\n' $lines[2..]
end

complete -c fanal -f -a '(__fanal_complete)'
`,
};
