/** What the package imports is what an installation brings: `dependencies`, the peer, and Node itself. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { manifest, root } from "./scratch.ts"

const dist = join(root, "dist")
const files = (ending: string) =>
  readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(dist, path))

/** `effect/ai/Tool` is of `effect`, `@scope/name/path` of `@scope/name`. */
const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

const foreign = (specifier: string): boolean => !/^(?:\.|node:|magi-code\/)/.test(specifier)

describe("dist/", { timeout: 60_000 }, () => {
  const imported = new Set<string>()

  beforeAll(async () => {
    const { metafile } = await build({
      ...{ entryPoints: files(".js"), outdir: dist, write: false, metafile: true, logLevel: "error" },
      ...{ bundle: true, packages: "external", platform: "node", format: "esm", target: "node22" }
    })
    for (const { imports } of Object.values(metafile.inputs)) {
      for (const { external, path } of imports) if (external === true && foreign(path)) imported.add(packageOf(path))
    }
  }, 60_000)

  it("imports nothing else", () => {
    const known = { ...manifest.dependencies, ...manifest.peerDependencies }
    assert.deepStrictEqual(
      [...imported].filter((name) => !(name in known)),
      []
    )
  })

  it("imports every dependency", () =>
    assert.deepStrictEqual(
      Object.keys(manifest.dependencies).filter((name) => !imported.has(name)),
      []
    ))

  it("has declarations that name nothing else", () => {
    const known = { ...manifest.dependencies, ...manifest.peerDependencies }
    for (const path of files(".d.ts")) {
      const source = readFileSync(path, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "")
      for (const [, specifier = ""] of source.matchAll(/(?:\bfrom|\bimport\()\s*"([^"]+)"/g)) {
        if (foreign(specifier)) assert.property(known, packageOf(specifier), path)
      }
    }
  })
})
