/** A project of somebody else, with the packed tarball in it. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The checkout that is packed. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** What of package.json the tests of the tarball read. */
export interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}
export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** What an Effect project in TypeScript has beside the library. */
const besides = ["typescript", "@types/node", "@effect/platform-node"]

const link = (folder: string, name: string) => {
  const path = join(folder, "node_modules", name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(root, "node_modules", name), path)
}

/**
 * Lays an empty project with the tarball and its peer. `npm`: a true installation, which needs a registry. `links`: without
 * one; the tarball is unpacked, and beside it there is what package.json names as its dependencies and nothing else.
 */
export const layScratch = (by: "npm" | "links"): { readonly folder: string; readonly remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "packed-"))
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: root })
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""
  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}')
  if (by === "npm") {
    const peers = Object.entries(manifest.peerDependencies).map(([name, range]) => `${name}@${range}`)
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]
    execFileSync("npm", ["install", ...quiet, `./${tarball}`, ...peers], { cwd: folder, stdio: "pipe" })
  } else {
    const own = join(folder, "node_modules", "magi-code")
    mkdirSync(own, { recursive: true })
    execFileSync("tar", ["-xzf", join(folder, tarball), "--strip-components=1", "-C", own])
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) link(folder, name)
    mkdirSync(join(folder, "node_modules", ".bin"))
    symlinkSync("../magi-code/dist/cli.js", join(folder, "node_modules", ".bin", "magi-code"))
  }
  for (const name of besides) link(folder, name)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const entries: Readonly<Record<string, string>> = {
  "../src/index.ts": "magi-code",
  "../src/client/promise.ts": "magi-code/promise",
  "../src/protocol/index.ts": "magi-code/protocol",
  "../src/server/index.ts": "magi-code/server",
  "../src/testing/index.ts": "magi-code/testing"
}

/** Copies examples/ into the project, its imports as another project has them. */
export const copyExamples = (folder: string) => {
  const to = join(folder, "examples")
  cpSync(join(root, "examples"), to, { recursive: true })
  for (const name of readdirSync(to)) {
    const path = join(to, name)
    const source = readFileSync(path, "utf8")
    writeFileSync(
      path,
      source.replaceAll(/from "(\.\.\/src\/[^"]+)"/g, (_, from: string) => `from "${entries[from] ?? from}"`)
    )
  }
}
