/** What these tests run: backends with a death or a hanging disk in them, bundled as the product is; a model, a home. */
import { cpSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, type Scope } from "effect"
import { type BuildOptions, build } from "esbuild"
import { temporary } from "../../store/support.ts"
import type { Stage } from "./life.ts"
import { makeModel } from "./model.ts"

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const options: BuildOptions = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  logLevel: "silent",
  define: { MAGI_CODE_VERSION: '"test"' },
  external: ["@vscode/ripgrep"],
  // Packages in CommonJS ask for `require` of Node's own modules.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' }
}

/** A folder with `dyingBackend.mjs` and its workers; the other workers are those that `npm test` built. */
const bundled: Effect.Effect<string, never, Scope.Scope> = Effect.tap(temporary, (folder) =>
  Effect.promise(async () => {
    symlinkSync(source("../../../dist/workers"), join(folder, "workers"))
    await build({
      ...options,
      splitting: true,
      entryPoints: [source("../children/dyingBackend.ts"), source("../children/dyingWorker.ts")],
      outdir: folder,
      outExtension: { ".js": ".mjs" }
    })
  })
)

/** The built backend as it is, but for the worker of its store: the path of the binary. */
export const withHangingDisk: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* temporary
  yield* Effect.promise(async () => {
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
    for (const part of ["cli.js", "serve.js", "serve", "workers"]) {
      cpSync(source(`../../../dist/${part}`), join(folder, part), { recursive: true })
    }
    const outfile = join(folder, "workers", "storeWorker.js")
    await build({ ...options, entryPoints: [source("../children/hangingWorker.ts")], outfile })
  })
  return join(folder, "cli.js")
})

/** Model, home and dying backend, gone when the scope closes. */
export const setting: Effect.Effect<Stage, never, Scope.Scope> = Effect.all({
  folder: bundled,
  model: makeModel,
  root: temporary
})
