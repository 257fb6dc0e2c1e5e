/** What every command is called, takes and does: the one source of help texts, completions and suggestions. product section 1. */

export interface OptionHelp {
  /** With its dashes. */
  readonly name: string
  /** What follows it; absent: a switch. */
  readonly value?: string
  /** The values it may have, where they are few. */
  readonly choices?: ReadonlyArray<string>
  readonly text: string
}

export interface CommandHelp {
  readonly name: string
  /** Without `magi-code`. */
  readonly usage: ReadonlyArray<string>
  readonly summary: string
  /** Whole lines. */
  readonly details: ReadonlyArray<string>
  readonly options: ReadonlyArray<OptionHelp>
  readonly examples: ReadonlyArray<{ readonly line: string; readonly text: string }>
  /** Words that may stand first. */
  readonly words?: ReadonlyArray<string>
  /** Its other arguments are files. */
  readonly files?: boolean
}

export const logLevels = ["all", "trace", "debug", "info", "warn", "warning", "error", "fatal", "none", "off"]

const logLevel: OptionHelp = {
  name: "--log-level",
  value: "LEVEL",
  choices: logLevels,
  text: "what goes to stderr (default: warn); debug shows where an error comes from"
}

export const commands: ReadonlyArray<CommandHelp> = [
  {
    name: "run",
    usage: ["run [options] PROMPT"],
    summary: "ask an agent, with the tools of a file",
    details: [
      "Starts the agent, registers the tools that FILE exports, runs one turn and streams the answer to stdout.",
      "PROMPT - reads stdin. Ctrl-C cancels the turn, a second one closes at once."
    ],
    options: [
      {
        name: "--tools",
        value: "FILE",
        text: "module whose default export is { toolkit, layer } or an array of tools"
      },
      { name: "--session", value: "ID", text: "go on with a stored session" },
      { name: "--model", value: "PROVIDER/MODEL", text: "another model than the settings say" },
      { name: "--agent", value: "COMMAND", text: "another backend to start (default: this package's own)" },
      {
        name: "--approve",
        value: "ask|all|none",
        choices: ["ask", "all", "none"],
        text: "what to answer when the agent asks (default: ask)"
      },
      { name: "--json", text: "every event as a line of JSON on stdout" },
      logLevel
    ],
    examples: [
      { line: 'magi-code run --tools tools.ts "Look up the record \\"R-17\\""', text: "with tools of your own" },
      { line: "git diff | magi-code run -", text: "the prompt from stdin" },
      { line: 'magi-code run --json "hello" > run.jsonl', text: "keep the events, for magi-code trace" }
    ]
  },
  {
    name: "check",
    usage: ["check FILE"],
    summary: "validate a tools file without an agent",
    details: ["Shows each tool's name, the bytes it uses of each bound, refused schema keywords and its fingerprint."],
    options: [logLevel],
    examples: [{ line: "magi-code check tools.ts", text: "exit code 0: every tool can be registered" }],
    files: true
  },
  {
    name: "sessions",
    usage: [
      "sessions [list] [--json]",
      "sessions show ID [--json]",
      "sessions export ID",
      "sessions delete ID... [--yes]",
      "sessions prune --older-than DAYS [--yes]"
    ],
    summary: "what is stored for this workspace",
    details: [
      "Lists the sessions of the current directory, shows one, prints everything stored of one as JSON, or deletes:",
      "what is deleted is overwritten, with what was delegated from it. Deleting asks; without a terminal it needs --yes."
    ],
    options: [
      { name: "--older-than", value: "DAYS", text: "prune: sessions whose last record is older than this" },
      { name: "--yes", text: "delete and prune: do not ask" },
      { name: "--json", text: "list and show: as JSON" },
      logLevel
    ],
    examples: [
      { line: "magi-code sessions", text: "newest first" },
      { line: "magi-code sessions export ID > session.json", text: "arguments and results included" },
      { line: "magi-code sessions prune --older-than 30", text: "asks before it deletes" }
    ],
    words: ["list", "show", "export", "delete", "prune"]
  },
  {
    name: "trust",
    usage: ["trust [--revoke]"],
    summary: "trust this workspace's settings, or no longer",
    details: [
      "Shows what in .magi-code/settings.json needs trust and, on a terminal's yes, records this workspace's real path",
      "and the SHA-256 of the file in $MC_HOME/trust.json. Any change of the file needs trust again."
    ],
    options: [{ name: "--revoke", text: "take the trust away" }, logLevel],
    examples: [
      { line: "magi-code trust", text: "look, then answer" },
      { line: "magi-code trust --revoke", text: "the file may only tighten again" }
    ]
  },
  {
    name: "doctor",
    usage: ["doctor"],
    summary: "what is wrong with this installation, and what to do",
    details: [
      "Looks at Node, MC_HOME's owner and mode, the settings, the keys (never shown), the MCP servers (each is started and",
      "ended) and the stored sessions. Exit code 0: nothing is wrong."
    ],
    options: [logLevel],
    examples: [{ line: "magi-code doctor", text: "in the workspace that it is about" }]
  },
  {
    name: "trace",
    usage: ["trace SESSION|FILE [--html OUT]"],
    summary: "the timeline of a run",
    details: [
      "A row for each activity and call: when it began and ended, its deadline, outcome and who won a race. SESSION is",
      "the id of a stored session, FILE the output of magi-code run --json; a FILE that exists goes before a session."
    ],
    options: [{ name: "--html", value: "OUT", text: "write one self-contained HTML page instead" }, logLevel],
    examples: [
      { line: "magi-code trace run.jsonl", text: "as text" },
      { line: "magi-code trace run.jsonl --html run.html", text: "as a page that needs no network" }
    ],
    files: true
  },
  {
    name: "conformance",
    usage: ["conformance [options] -- COMMAND..."],
    summary: "run the protocol's cases against any backend",
    details: [
      "Each case starts COMMAND in a workspace and MC_HOME of its own. A case that fails is told with the sentence of the",
      "documentation that it checks, what happened, and the last frames both ways. Exit code 0: none failed."
    ],
    options: [
      { name: "--filter", value: "WORD", text: "only cases with this word in their id or page" },
      { name: "--jobs", value: "N", text: "cases at a time (default: three for each processor, at least 4)" },
      { name: "--json", text: "every result as a line of JSON on stdout" },
      { name: "--junit", value: "FILE", text: "write the results as JUnit XML too" },
      logLevel
    ],
    examples: [
      { line: "magi-code conformance -- magi-code serve --stdio", text: "this package's own agent" },
      { line: "magi-code conformance --filter cancel. -- ./my-agent", text: "one group, against another agent" }
    ]
  },
  {
    name: "serve",
    usage: ["serve --stdio"],
    summary: "the agent as a child process, on stdin and stdout",
    details: ["For programs that drive the agent. Its log level comes from MC_LOG."],
    options: [{ name: "--stdio", text: "speak the protocol on stdin and stdout" }],
    examples: [{ line: "magi-code serve --stdio", text: "what the library and magi-code run start" }]
  },
  {
    name: "completions",
    usage: ["completions bash|zsh|fish"],
    summary: "completions for a shell, on stdout",
    details: [],
    options: [],
    examples: [
      { line: "magi-code completions bash > ~/.local/share/bash-completion/completions/magi-code", text: "bash" },
      { line: "magi-code completions zsh > ~/.zfunc/_magi-code", text: "zsh, with ~/.zfunc in fpath" },
      { line: "magi-code completions fish > ~/.config/fish/completions/magi-code.fish", text: "fish" }
    ],
    words: ["bash", "zsh", "fish"]
  }
]

export const commandNamed = (name: string): CommandHelp | undefined => commands.find((one) => one.name === name)
