/** `magi-code completions bash|zsh|fish`: made from the table of commands. Only our own words are in it: nothing to quote. */
import { type CommandHelp, commands } from "./commands.ts"

export const shells = ["bash", "zsh", "fish"] as const
export type Shell = (typeof shells)[number]

export const isShell = (word: string): word is Shell => shells.some((one) => one === word)

const names = commands.map(({ name }) => name).join(" ")
const wordsOf = ({ options, words = [] }: CommandHelp): string =>
  [...words, ...options.map(({ name }) => name), "--help"].join(" ")
const fileOptions = ["--tools", "--html", "--junit"]
const choices = new Map(
  commands.flatMap(({ options }) => options).flatMap(({ choices, name }) => (choices ? [[name, choices] as const] : []))
)

const bash = (): string => `_magi_code() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} --help --version" -- "$cur")); return
  fi
  case $prev in
${[...choices].map(([name, of]) => `    ${name}) COMPREPLY=($(compgen -W "${of.join(" ")}" -- "$cur")); return ;;`).join("\n")}
    ${fileOptions.join("|")}) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case \${COMP_WORDS[1]} in
${commands
  .map((command) => {
    const files = command.files ? ' compopt -o filenames; COMPREPLY+=($(compgen -f -- "$cur"));' : ""
    return `    ${command.name}) COMPREPLY=($(compgen -W "${wordsOf(command)}" -- "$cur"));${files} ;;`
  })
  .join("\n")}
  esac
}
complete -F _magi_code magi-code
`

const zsh = (): string => `#compdef magi-code
_magi_code() {
  if (( CURRENT == 2 )); then
    compadd -- ${names} --help --version
    return
  fi
  case $words[CURRENT-1] in
${[...choices].map(([name, of]) => `    ${name}) compadd -- ${of.join(" ")}; return ;;`).join("\n")}
    ${fileOptions.join("|")}) _files; return ;;
  esac
  case $words[2] in
${commands
  .map((command) => `    ${command.name}) compadd -- ${wordsOf(command)}${command.files ? "; _files" : ""} ;;`)
  .join("\n")}
  esac
}
if [ "$funcstack[1]" = "_magi_code" ]; then _magi_code "$@"; else compdef _magi_code magi-code; fi
`

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`

const fish = (): string =>
  [
    "complete -c magi-code -f",
    "complete -c magi-code -n __fish_use_subcommand -l help -s h -d 'the commands'",
    "complete -c magi-code -n __fish_use_subcommand -l version -d 'the version'",
    ...commands.flatMap((command) => {
      const inside = `complete -c magi-code -n '__fish_seen_subcommand_from ${command.name}'`
      return [
        `complete -c magi-code -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.summary)}`,
        ...(command.files ? [`${inside} -F`] : []),
        ...(command.words ?? []).map((word) => `${inside} -a ${word}`),
        ...command.options.map(({ choices, name, text, value }) => {
          const argument = value === undefined ? "" : fileOptions.includes(name) ? " -r -F" : " -x"
          const of = choices === undefined ? "" : ` -a ${quoted(choices.join(" "))}`
          return `${inside} -l ${name.slice(2)}${argument}${of} -d ${quoted(text)}`
        }),
        `${inside} -l help -s h -d 'this command'`
      ]
    }),
    ""
  ].join("\n")

export const completions = (shell: Shell): string => ({ bash, zsh, fish })[shell]()
