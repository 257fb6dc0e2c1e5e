/** `magi-code completions bash|zsh|fish`: made from the table of commands. Only our own words are in it: nothing to quote. */
import { type CommandHelp, commands } from "./commands.ts"

export const shells = ["bash", "zsh", "fish"] as const
export type Shell = (typeof shells)[number]

export const isShell = (word: string): word is Shell => shells.some((one) => one === word)

const names = commands.map(({ name }) => name)
const fileOptions = ["--tools", "--html", "--junit"]
const takesCommand = (command: CommandHelp): boolean => command.usage.some((line) => line.includes("-- COMMAND"))
const flagsOf = ({ options }: CommandHelp): ReadonlyArray<string> => [...options.map(({ name }) => name), "--help"]

const withChoices = new Map(
  commands.flatMap(({ options }) => options).flatMap(({ choices, name }) => (choices ? [[name, choices] as const] : []))
)
const otherValues = [
  ...new Set(
    commands
      .flatMap(({ options }) => options)
      .filter(({ choices, name, value }) => value !== undefined && choices === undefined && !fileOptions.includes(name))
      .map(({ name }) => name)
  )
]

const bashOf = (command: CommandHelp): string => {
  const words =
    command.words === undefined ? [] : [`[ "$COMP_CWORD" -eq 2 ] && _magi_words "${command.words.join(" ")}"`]
  const files = command.files ? ["_magi_files"] : []
  const program = takesCommand(command) ? ["_magi_programs"] : []
  const flags = `_magi_words "${flagsOf(command).join(" ")}"`
  const other = [...words, ...files, ...program].join("; ")
  // Options are offered where nothing else is, and where one is begun.
  const line = other === "" ? flags : `case $cur in -*) ${flags} ;; *) ${other} ;; esac`
  return `    ${command.name}) ${line} ;;`
}

const bash = (): string => `_magi_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_magi_files() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); }
_magi_programs() { case " \${COMP_WORDS[*]:0:COMP_CWORD} " in *" -- "*) COMPREPLY=($(compgen -c -- "$cur")) ;; esac; }
_magi_code() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # The equals sign of --name=value is a word of its own.
  if [ "$cur" = "=" ]; then cur=; elif [ "$prev" = "=" ]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [ "$COMP_CWORD" -eq 1 ]; then _magi_words "${names.join(" ")} --help --version"; return; fi
  case $prev in
${[...withChoices].map(([name, of]) => `    ${name}) _magi_words "${of.join(" ")}"; return ;;`).join("\n")}
    ${fileOptions.join("|")}) _magi_files; return ;;
    ${otherValues.join("|")}) return ;;
  esac
  case \${COMP_WORDS[1]} in
${commands.map(bashOf).join("\n")}
  esac
}
complete -F _magi_code magi-code
`

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
/** Inside of a specification of `_arguments` these mean something. */
const plain = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&")

const zshOf = (command: CommandHelp): string => {
  const options = command.options.map(({ choices, name, text, value }) => {
    const of = choices === undefined ? (fileOptions.includes(name) ? "_files" : "") : `(${choices.join(" ")})`
    return quoted(
      `${name}${value === undefined ? "" : "="}[${plain(text)}]${value === undefined ? "" : `:${plain(value)}:${of}`}`
    )
  })
  const words = command.words === undefined ? [] : [quoted(`1:word:(${command.words.join(" ")})`)]
  const rest = command.files ? ["'*:file:_files'"] : takesCommand(command) ? ["'*:command:_command_names -e'"] : []
  return `    ${command.name}) _arguments ${["'(-h --help)'{-h,--help}'[this command]'", ...options, ...words, ...rest].join(" ")} ;;`
}

const zsh = (): string => `#compdef magi-code
_magi_code() {
  local curcontext=$curcontext state line
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
  )
  _arguments -C '(-h --help)'{-h,--help}'[the commands]' '--version[the version]' '1:command:->command' '*::argument:->argument'
  case $state in
  command) _describe command commands ;;
  argument) case $words[1] in
${commands.map(zshOf).join("\n")}
    esac ;;
  esac
}
if [ "$funcstack[1]" = "_magi_code" ]; then _magi_code "$@"; else compdef _magi_code magi-code; fi
`

const fishQuoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`

const fishOf = (command: CommandHelp): ReadonlyArray<string> => {
  const seen = `__fish_seen_subcommand_from ${command.name}`
  const inside = `complete -c magi-code -n '${seen}'`
  const words = command.words ?? []
  const first = `complete -c magi-code -n '${seen}; and not __fish_seen_subcommand_from ${words.join(" ")}'`
  return [
    `complete -c magi-code -n __fish_use_subcommand -a ${command.name} -d ${fishQuoted(command.summary)}`,
    ...(command.files || takesCommand(command) ? [`${inside} -F`] : []),
    ...words.map((word) => `${first} -a ${word}`),
    ...command.options.map(({ choices, name, text, value }) => {
      const argument = value === undefined ? "" : fileOptions.includes(name) ? " -r -F" : " -x"
      const of = choices === undefined ? "" : ` -a ${fishQuoted(choices.join(" "))}`
      return `${inside} -l ${name.slice(2)}${argument}${of} -d ${fishQuoted(text)}`
    }),
    `${inside} -l help -s h -d 'this command'`
  ]
}

const fish = (): string =>
  [
    "complete -c magi-code -f",
    "complete -c magi-code -n __fish_use_subcommand -l help -s h -d 'the commands'",
    "complete -c magi-code -n __fish_use_subcommand -l version -d 'the version'",
    ...commands.flatMap(fishOf),
    ""
  ].join("\n")

export const completions = (shell: Shell): string => ({ bash, zsh, fish })[shell]()
