/** A real terminal: tmux without its configuration, on a socket of its own, with one pane. */
import { execFile, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"

const exec = promisify(execFile)

export const hasTmux = (): boolean => spawnSync("tmux", ["-V"]).status === 0

/** Milliseconds within which a screen has to show what is waited for. */
const PATIENCE_MS = 15_000
const LOOK_EVERY_MS = 40

export interface TerminalOptions {
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly columns?: number
  readonly rows?: number
}

export interface Terminal {
  /** The rows that are and were shown, without what is blank at their ends. */
  readonly screen: () => Promise<string>
  /** With its colours. */
  readonly coloured: () => Promise<string>
  /** Waits for what the screen should show. */
  readonly shows: (what: RegExp) => Promise<string>
  /** Keys by tmux's names: `y`, `Enter`, `C-c`. */
  readonly keys: (...keys: ReadonlyArray<string>) => Promise<void>
  readonly resize: (columns: number, rows: number) => Promise<void>
  readonly cursorShown: () => Promise<boolean>
  /** Waits for the command's end; gives its exit code. */
  readonly ended: () => Promise<number>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Runs a command in a terminal of its own. */
export const openTerminal = async (
  command: ReadonlyArray<string>,
  { columns = 80, cwd, env, rows = 24 }: TerminalOptions
): Promise<Terminal> => {
  const socket = `magi-${randomUUID()}`
  const tmux = async (...args: ReadonlyArray<string>): Promise<string> => {
    // In a UTF-8 locale: else tmux shows what is not ASCII as underscores.
    const { stdout } = await exec("tmux", ["-L", socket, "-f", "/dev/null", "-u", ...args], {
      env: { PATH: process.env["PATH"], HOME: cwd, TERM: "xterm", LC_ALL: "C.UTF-8" }
    })
    return stdout
  }
  const until = async <A>(look: () => Promise<A | undefined>, what: () => Promise<string>): Promise<A> => {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (performance.now() > end) throw new Error(await what())
      await setTimeout(LOOK_EVERY_MS)
    }
  }
  const tell = async (format: string) => (await tmux("display-message", "-p", "-t", "magi:0", format)).trim()
  const capture = async (...options: ReadonlyArray<string>) =>
    (await tmux("capture-pane", "-p", "-S", "-", "-t", "magi:0", ...options))
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n+$/, "")
  const exitFile = join(cwd, "exit-code")
  const terminal: Terminal = {
    screen: () => capture(),
    coloured: () => capture("-e"),
    shows: (what) =>
      until(
        async () => {
          const screen = await capture()
          return what.test(screen) ? screen : undefined
        },
        async () => `the screen does not show ${what}:\n${await capture()}`
      ),
    keys: async (...keys) => {
      await tmux("send-keys", "-t", "magi:0", ...keys)
    },
    resize: async (wide, high) => {
      await tmux("resize-window", "-t", "magi:0", "-x", String(wide), "-y", String(high))
    },
    cursorShown: async () => (await tell("#{cursor_flag}")) === "1",
    ended: () =>
      until(
        async () => (existsSync(exitFile) ? Number(readFileSync(exitFile, "utf8")) : undefined),
        async () => `the command did not end:\n${await capture()}`
      ),
    [Symbol.asyncDispose]: async () => {
      await tmux("kill-server").catch(() => undefined)
    }
  }
  const settings = Object.entries({ TERM: "screen-256color", ...env }).flatMap(([name, value]) => [
    "-e",
    `${name}=${value}`
  ])
  // The terminal outlives its command, to be looked at. A shell with a trap waits for the command on Ctrl-C too.
  const shell =
    'exit_file=$1; shift; trap : INT QUIT; "$@"; echo $? > "$exit_file.new"; mv "$exit_file.new" "$exit_file"; exec sleep 600'
  const size = ["-x", String(columns), "-y", String(rows)]
  await tmux(
    "new-session",
    "-d",
    "-s",
    "magi",
    ...size,
    "-c",
    cwd,
    ...settings,
    "sh",
    "-c",
    shell,
    "sh",
    exitFile,
    ...command
  )
  return terminal
}
