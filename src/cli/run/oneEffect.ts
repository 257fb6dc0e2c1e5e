/**
 * One copy of `effect` for a tools file and for what runs it: services of two copies do not meet. The copy is the one that
 * the tools file itself resolves, where it finds one that fits; else the package's own. Nothing here may import `effect`.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { registerHooks } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** The oldest copy that this package runs on, as its `peerDependencies` say. */
const MAJOR = 4
const LEAST_MINOR = 1

export interface EffectCopy {
  readonly directory: string
  readonly version: string
  readonly fits: boolean
}

/** The copy that a module in `directory` would get; `undefined`: none. */
export const copyFor = (directory: string): EffectCopy | undefined => {
  for (let at = directory; ; at = dirname(at)) {
    const found = join(at, "node_modules", "effect")
    const version = versionOf(found)
    if (version !== undefined) {
      const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
      return { directory: realpathSync(found), version, fits: major === MAJOR && minor >= LEAST_MINOR }
    }
    if (at === dirname(at)) return undefined
  }
}

const versionOf = (packageDirectory: string): string | undefined => {
  const file = join(packageDirectory, "package.json")
  if (!existsSync(file)) return undefined
  try {
    const parsed: { readonly version?: unknown } = JSON.parse(readFileSync(file, "utf8"))
    return typeof parsed.version === "string" ? parsed.version : undefined
  } catch {
    return undefined
  }
}

/** The folder of this package: the one with its `package.json`, from source and from a bundle alike. */
const packageRoot = (): string => {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    if (existsSync(join(at, "package.json")) || at === dirname(at)) return at
  }
}

/**
 * From now on this package's own imports of `effect` are answered as the tools file's would be. To be called before the first
 * of them. Gives a copy that does not fit: a toolkit of it cannot be run.
 */
export const shareEffectOf = (toolsFile: string): EffectCopy | undefined => {
  const directory = existsSync(toolsFile) ? dirname(realpathSync(toolsFile)) : undefined
  const theirs = directory === undefined ? undefined : copyFor(directory)
  if (directory === undefined || theirs === undefined) return undefined
  if (!theirs.fits) return theirs
  const root = packageRoot()
  if (copyFor(root)?.directory === theirs.directory) return undefined
  const ours = `${pathToFileURL(root)}/`
  const inside = (url: string) => url.startsWith(ours) && !url.slice(ours.length).startsWith("node_modules/")
  const parentURL = pathToFileURL(join(directory, "noop.js")).href
  registerHooks({
    resolve: (specifier, context, next) =>
      /^effect(?:\/|$)/.test(specifier) && context.parentURL !== undefined && inside(context.parentURL)
        ? next(specifier, { ...context, parentURL })
        : next(specifier, context)
  })
  return undefined
}
