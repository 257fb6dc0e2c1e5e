/**
 * The files that hooks and MCP servers run: whoever may write them decides what runs without being asked, so writing to
 * them always asks.
 *
 * product section 2: "an executable that a hook or MCP server names (its command, and any argument that is a file of the
 * workspace)".
 */
import { realpath, stat } from "node:fs/promises"
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path"
import { Effect } from "effect"
import type { Environment } from "./Merge.ts"
import type { EffectiveSettings } from "./Settings.ts"

/** As each is written and as its real path; sorted, without repeats. Files that are not there yet are in it, too. */
export const guardedPaths = (
  settings: Pick<EffectiveSettings, "hooks" | "mcp" | "workspace">,
  env: Environment
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const commands = [
      ...[...settings.hooks.before_tool, ...settings.hooks.after_tool].map(({ command, cwd }) => ({
        words: command,
        cwd
      })),
      ...settings.mcp.map(({ args, command, cwd }) => ({ words: [command, ...args], cwd }))
    ]
    const found = await Promise.all(commands.map(({ cwd, words }) => pathsOf(words, cwd, settings.workspace, env)))
    return [...new Set(found.flat())].sort()
  })

const pathsOf = async (
  [command = "", ...args]: ReadonlyArray<string>,
  cwd: string,
  workspace: string,
  env: Environment
): Promise<ReadonlyArray<string>> => {
  const executable = isAbsolute(command) ? command : await inPath(command, cwd, env)
  const named = executable === undefined ? [] : await bothPaths(executable)
  const files = await Promise.all(
    args.map(async (arg) => {
      const path = resolve(cwd, arg)
      // A file that is not there yet could be put there: what looks like a path is taken for one.
      if (arg.startsWith("-") || (await isFolder(path)) || !(/[./\\]/.test(arg) || (await isFile(path)))) return []
      return (await bothPaths(path)).filter((found) => isInside(found, workspace))
    })
  )
  return [...named, ...files.flat()]
}

/** As the system looks for it: an empty entry of PATH, and a relative one, is meant from the working directory. */
const inPath = async (command: string, cwd: string, env: Environment): Promise<string | undefined> => {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const path = resolve(cwd, folder, command)
    if (await isFile(path)) return path
  }
  return undefined
}

const isFile = async (path: string): Promise<boolean> =>
  stat(path)
    .then((stats) => stats.isFile())
    .catch(() => false)

const isFolder = async (path: string): Promise<boolean> =>
  stat(path)
    .then((stats) => stats.isDirectory())
    .catch(() => false)

/** The path and where it really lies; of a file that is not there, where its folder really lies. */
const bothPaths = async (path: string): Promise<ReadonlyArray<string>> => {
  try {
    return [path, await realpath(path)]
  } catch {
    return realpath(dirname(path))
      .then((folder) => [path, join(folder, basename(path))])
      .catch(() => [path])
  }
}

const isInside = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
