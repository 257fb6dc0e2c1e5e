/**
 * What a real path is to the file tools: in the workspace, protected, outside, or denied. product section 2.
 *
 * Names are compared without case: some file systems do not tell `.GIT` from `.git`, and asking once too often is the
 * safe side.
 */
import { isAbsolute, relative, sep } from "node:path"
import type { EffectiveSettings } from "../../settings/Settings.ts"

/** `denied`: no file tool ever touches it. `outside`: asks, and is denied in an inspection. */
export type Place =
  | { readonly _tag: "Inside"; readonly relative: string; readonly isProtected: boolean }
  | { readonly _tag: "Outside" }
  | { readonly _tag: "Denied"; readonly why: string }

const protectedFolders = new Set([".magi-code", ".git", ".vscode", ".idea", ".github"])
const protectedFiles = new Set(["agents.md"])

/** The protected names as they are written; where one of them is a link, what it leads to is protected as well. */
export const PROTECTED_NAMES: ReadonlyArray<string> = [...protectedFolders, "AGENTS.md"]

/** `path` seen from `folder`; `undefined` where it does not lie in it. The folder itself is `""`. */
export const within = (folder: string, path: string): string | undefined => {
  const seen = relative(folder, path)
  return seen === ".." || seen.startsWith(`..${sep}`) || isAbsolute(seen) ? undefined : seen
}

const isProtected = (settings: EffectiveSettings, path: string, seen: string) => {
  const names = seen.toLowerCase().split(sep)
  return (
    names.some((name) => protectedFolders.has(name)) ||
    protectedFiles.has(names.at(-1) ?? "") ||
    settings.guardedPaths.includes(path)
  )
}

/** `home`: the real path of `$MC_HOME`, which may be another than the one the settings name. */
export const placeOf = (settings: EffectiveSettings, home: string, path: string): Place => {
  if (within("/proc", path) !== undefined) return { _tag: "Denied", why: "nothing under /proc may be opened" }
  if (within(home, path) !== undefined || within(settings.home, path) !== undefined) {
    return { _tag: "Denied", why: "the agent's own folder may not be opened" }
  }
  const seen = within(settings.workspace, path)
  return seen === undefined
    ? { _tag: "Outside" }
    : { _tag: "Inside", relative: seen, isProtected: isProtected(settings, path, seen) }
}

/** How a path is shown: as seen from the workspace where it lies in it. */
export const shown = (settings: EffectiveSettings, path: string): string => {
  const seen = within(settings.workspace, path)
  return seen === undefined ? path : seen === "" ? "." : seen
}
